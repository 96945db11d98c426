//go:build !linux

package load

func readUsage() usage { return usage{} }

func openDescriptors() (int64, bool) { return 0, false }

func timeWaitSockets() (int64, bool) { return 0, false }

func descriptorLimit() *int64 { return nil }

func localPorts() *int64 { return nil }

func runDelay() *float64 { return nil }

func throttled() (group string, ns, periods *float64) { return "", nil, nil }
