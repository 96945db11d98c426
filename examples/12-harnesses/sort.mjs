// Sorts numbers: a subject in JavaScript.
import { serve } from './perfplan_subject.mjs'

serve(size => {
  const numbers = new Array(size)
  for (let i = 0, x = 1; i < size; i++) numbers[i] = x = (Math.imul(1664525, x) + 1013904223) >>> 0
  let result
  return {
    work() { result = numbers.slice().sort((a, b) => a - b) },
    checksum: () => result.reduce((h, v) => (Math.imul(31, h) + v) >>> 0, 0),
  }
})
