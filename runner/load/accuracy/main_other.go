//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "accuracy: needs Linux")
	os.Exit(4)
}
