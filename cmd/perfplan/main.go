// Command perfplan runs declarative performance-test plans and says by its exit code whether their SLOs hold.
package main

import "os"

func main() {
	os.Exit(execute(newConsole(), os.Args[1:]))
}
