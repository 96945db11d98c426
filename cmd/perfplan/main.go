// Command perfplan runs declarative performance-test plans and says by its exit code whether their SLOs hold.
package main

import (
	"os"
	"runtime"
)

// processors is how many Go processors perfplan has at least: while connections keep a few busy, the thread that
// sends on time must not wait for one. The machine's cores are what they are; this only lets the kernel choose.
const processors = 4

func main() {
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), processors))
	os.Exit(execute(newConsole(), os.Args[1:]))
}
