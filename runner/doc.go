// Package runner carries out a plan: it builds and starts the targets, runs the stages in order while it observes
// the machine, has each stage judged, and keeps the record on disk after each of them.
package runner
