//go:build !unix

package observe

func kernel() string { return "" }

func fdLimit() int64 { return 0 }
