//go:build !linux

package load

func readUsage() usage { return usage{} }

func threadCPU() int64 { return 0 }
