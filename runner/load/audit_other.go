//go:build !linux

package load

func readUsage() usage { return usage{} }
