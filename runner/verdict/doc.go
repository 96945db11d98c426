// Package verdict decides every SLO of a stage from what was measured: pass, fail or inconclusive, with the reason.
//
// The rules, in the order they apply:
//
//   - No data is inconclusive, never a pass.
//   - A percentile is decided by the share of requests over its limit, not by the estimated percentile: pass when
//     the upper confidence bound of the share is within what the percentile allows, fail when the lower bound is
//     beyond it, inconclusive in between. Failed, dropped and unfinished requests count as over the limit.
//   - A breach counts against the target only if the time from the send (service time) breaches too. One that
//     comes from waiting at the in-flight bound or from the generator being late is inconclusive and names it.
//   - Counts and shares of counts are compared exactly: they are facts about this run. What the client itself dropped,
//     could not send, cut short or was too frozen to see is not held against the target.
//   - A pass on response time is only given when the generator's lateness, at the same percentile, is below a tenth of
//     the limit: beyond that the load was not the declared one.
//   - A stage that ended early can fail, but not pass.
package verdict

// Confidence of each one-sided bound used here.
const Confidence = 0.95
