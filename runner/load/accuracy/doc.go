// Command accuracy checks the load engine against servers whose truth is known.
//
// Each test starts runner/load/kts in a process of its own, offers load to it
// from another one through runner/load, and compares what the engine reports
// with a formula. It prints a table of truth, measured, error and bar. With
// --peers other load generators found on PATH run beside it. docs/accuracy.md
// describes the tests.
//
// Times are only judged on a quiet machine; counts always are. Exit codes: 0 all
// within their bars, 1 a check failed, 2 usage, 4 it could not be carried out,
// 5 the machine was too noisy to judge. It needs Linux.
package main
