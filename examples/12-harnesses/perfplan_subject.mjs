// Harness for subjects of perfplan microbenchmarks in Node.js 18 or later. It depends on nothing: copy it.
//
//     import { serve } from './perfplan_subject.mjs'
//
//     serve((size, parameters) => {        // outside of the clock; parameters is an object of text
//       const data = load(size)
//       let result
//       return {
//         work() { result = sort(data) },      // one iteration
//         checksum: () => hashOf(result),      // of its result, a number or a BigInt; may be left out
//       }
//     })
//
// What the subject prints belongs on standard error (console.error): standard output is the conversation, and
// docs/subject-protocol.md says of what. Work is synchronous.

import { readSync, writeSync } from 'node:fs'
import { PerformanceObserver } from 'node:perf_hooks'

/** Answers messages until "exit" or the end of the input. */
export async function serve(setup) {
  const pauses = watchPauses()
  let cell = null
  say('perfplan-subject 1')
  for (const line of lines()) {
    if (line === 'exit') return
    try {
      const [word, ...fields] = line.split(' ')
      if (word === 'setup') {
        cell = null
        const { size, ...parameters } = values(fields, line)
        const made = setup(whole(size, 0, line), parameters)
        if (typeof made?.work !== 'function') throw new Error('the setup returned no work')
        globalThis.gc?.()
        cell = made
        say('ready')
      } else if (word === 'run') {
        const n = whole(values(fields, line).iterations, 1, line)
        if (!cell) throw new Error('run before setup')
        say(await run(cell, n, pauses))
      } else {
        throw new Error(`unknown message ${JSON.stringify(line)}, want setup, run or exit`)
      }
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'Error') console.error(error)
      say('error ' + String(error?.message ?? error).split(/\s+/).join(' '))
    }
  }
}

async function run(cell, n, pauses) {
  await pauses.settle() // what was collected before is not this run's
  const before = pauses.read()
  const work = cell.work
  const begin = process.hrtime.bigint()
  for (let i = 0; i < n; i++) work()
  const ns = process.hrtime.bigint() - begin
  await pauses.settle()
  const after = pauses.read()
  let text = `done iterations=${n} ns=${ns} gc=${after.count - before.count} gc_ns=${Math.round(1e6 * (after.ms - before.ms))}`
  if (cell.checksum) text += ` checksum=${cell.checksum().toString(16)}`
  return text
}

/** Counts garbage collections and their time. */
function watchPauses() {
  let count = 0
  let ms = 0
  const take = entries => {
    for (const e of entries) {
      count++
      ms += e.duration
    }
  }
  const observer = new PerformanceObserver(list => take(list.getEntries()))
  observer.observe({ entryTypes: ['gc'] })
  return {
    read: () => ({ count, ms }),
    settle: () => new Promise(done => setImmediate(() => { take(observer.takeRecords()); done() })),
  }
}

/** The lines of standard input, read when they are asked for. */
function* lines() {
  const chunk = Buffer.alloc(65536)
  let rest = ''
  for (;;) {
    let n
    try {
      n = readSync(0, chunk)
    } catch (error) {
      if (error.code === 'EAGAIN') { // nothing there yet, where the input does not block
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
        continue
      }
      if (error.code === 'EOF') n = 0
      else throw error
    }
    if (n === 0) {
      if (rest) yield rest.replace(/\r$/, '')
      return
    }
    const parts = (rest + chunk.toString('utf8', 0, n)).split('\n')
    rest = parts.pop()
    for (const line of parts) yield line.replace(/\r$/, '')
  }
}

function say(line) {
  const bytes = Buffer.from(line + '\n')
  for (let at = 0; at < bytes.length;) at += writeSync(1, bytes, at)
}

function values(fields, line) {
  const all = Object.create(null)
  for (const field of fields) {
    const at = field.indexOf('=')
    const key = field.slice(0, at)
    if (at < 1 || at === field.length - 1 || key in all) {
      throw new Error(`got ${JSON.stringify(line)}, want fields key=value, each once and apart by one space`)
    }
    all[key] = field.slice(at + 1)
  }
  return all
}

function whole(text, least, line) {
  const n = Number(text)
  if (!/^[0-9]+$/.test(text ?? '') || n < least || !Number.isSafeInteger(n)) {
    throw new Error(`got ${JSON.stringify(line)}, want a whole number of ${least} or more`)
  }
  return n
}
