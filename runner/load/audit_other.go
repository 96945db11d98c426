//go:build !linux

package load

// A procfs has nothing to read on this system.
type procfs struct{}

func (*procfs) runDelay() *float64 { return nil }

func (*procfs) openDescriptors() (int64, bool) { return 0, false }

func (*procfs) timeWaitSockets() (int64, bool) { return 0, false }

func (*procfs) throttled() (ns, periods *float64, moved bool) { return nil, nil, false }

func readUsage() usage { return usage{} }

func descriptorLimit() *int64 { return nil }

func localPorts() *int64 { return nil }
