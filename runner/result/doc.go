// Package result is the stored record of a run: what result.json holds and every report is made from.
//
// A number that was not measured is absent or null, never 0. Times are nanoseconds since the stage's
// start unless a key says otherwise; every key ends in its unit.
package result
