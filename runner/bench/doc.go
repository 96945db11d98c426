// Package bench runs microbenchmark stages: it times a subject, a command in any language that speaks the subject
// protocol (docs/subject-protocol.md), over a list of sizes.
//
// Every size is measured in several forks, which are fresh processes, because two runs of one program differ by more
// than two samples within a run. The forks of all sizes are interleaved at random: each round runs every size once,
// in an order drawn from the plan's seed, so that a machine that slows down does not look like growth.
//
// A fork warms up until its series of batches is steady, then the number of iterations is chosen so that a sample
// lasts the plan's least time, then the samples are taken. Nothing is removed: what was thrown away as warm-up is in
// the record.
package bench
