package result

// An Observation is what the machine and the processes did during a stage.
type Observation struct {
	IntervalNS int64        `json:"interval_ns"`
	Samples    int          `json:"samples"` // differences between two readings; fewer than 1: no figures
	Host       []HostSample `json:"host"`
	Processes  []Process    `json:"processes"`
	USE        []USE        `json:"use"`
	Warnings   []Warning    `json:"warnings,omitempty"`
	Backwards  int64        `json:"backwards,omitempty"` // counter differences below zero, left out
}

// A HostSample is one interval of the machine: the columns of vmstat and pressure. Null: not available.
type HostSample struct {
	TNS                 int64    `json:"t_ns"` // end of the interval, since the stage's start
	RunQueue            *float64 `json:"run_queue"`
	Blocked             *float64 `json:"blocked"`
	UserShare           *float64 `json:"user_share"` // of all cores, 0 to 1
	SystemShare         *float64 `json:"system_share"`
	IdleShare           *float64 `json:"idle_share"`
	IOWaitShare         *float64 `json:"iowait_share"`
	StealShare          *float64 `json:"steal_share"`
	FreeBytes           *float64 `json:"free_bytes"`
	AvailableBytes      *float64 `json:"available_bytes"`
	BufferBytes         *float64 `json:"buffer_bytes"`
	CacheBytes          *float64 `json:"cache_bytes"`
	SwapUsedBytes       *float64 `json:"swap_used_bytes"`
	SwapInPerS          *float64 `json:"swap_in_pages_per_s"`
	SwapOutPerS         *float64 `json:"swap_out_pages_per_s"`
	BlockInPerS         *float64 `json:"block_in_bytes_per_s"`
	BlockOutPerS        *float64 `json:"block_out_bytes_per_s"`
	InterruptsPerS      *float64 `json:"interrupts_per_s"`
	ContextSwitchesPerS *float64 `json:"context_switches_per_s"`
	CPUPressure         *float64 `json:"cpu_pressure_share"` // PSI "some"
	MemoryPressure      *float64 `json:"memory_pressure_share"`
	IOPressure          *float64 `json:"io_pressure_share"`
	NetInPerS           *float64 `json:"net_in_bytes_per_s"`
	NetOutPerS          *float64 `json:"net_out_bytes_per_s"`
	DiskBusyShare       *float64 `json:"disk_busy_share"` // of the busiest disk
}

// A Process is one observed process tree: a target's, or perfplan's own.
type Process struct {
	Name        string          `json:"name"` // the target's name, or "perfplan"
	PID         int             `json:"pid"`
	CPUShare    *float64        `json:"cpu_share"` // mean; 1 = one core
	CPUMaxShare *float64        `json:"cpu_max_share"`
	RSSMaxBytes *int64          `json:"rss_max_bytes"`
	Note        string          `json:"note,omitempty"` // e.g. that it ended
	Series      []ProcessSample `json:"series"`
}

// A ProcessSample is one interval of a process tree.
type ProcessSample struct {
	TNS      int64    `json:"t_ns"`
	CPUShare *float64 `json:"cpu_share"` // 1 = one core
	RSSBytes *int64   `json:"rss_bytes"`
	Threads  *int64   `json:"threads"`
	FDs      *int64   `json:"fds"`
}

// Levels of a USE cell.
const (
	LevelOK        = "ok"
	LevelHigh      = "high"
	LevelSaturated = "saturated"
	LevelNA        = "n/a"
)

// A USE is utilisation, saturation and errors of one resource over a stage.
type USE struct {
	Resource    string  `json:"resource"` // cpu, memory, disk, network
	Utilisation USECell `json:"utilisation"`
	Saturation  USECell `json:"saturation"`
	Errors      USECell `json:"errors"`
}

// A USECell is one judged figure. Value is null where Level is n/a.
type USECell struct {
	Level string   `json:"level"` // ok, high, saturated or n/a
	Value *float64 `json:"value"`
	Unit  string   `json:"unit,omitempty"` // share, count, per_s
	Text  string   `json:"text"`           // what the figure is, in words, or why there is none
}
