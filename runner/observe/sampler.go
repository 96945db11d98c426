package observe

import (
	"errors"
	"io/fs"
	"sync"
	"time"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"
)

// A Config says what to sample.
type Config struct {
	Interval  time.Duration // between readings; 0 is 1 s
	Processes func() []Tree // asked before each reading, must not call the Sampler; nil: perfplan alone
	Proc      string        // mount point of procfs; "" is /proc
	Sys       string        // mount point of sysfs; "" is /sys
}

// A Tree is a process to be observed with its descendants. Several may have one name.
type Tree struct {
	Name string
	PID  int
}

// A Sampler reads until it is stopped. Its methods may be called from several goroutines.
type Sampler struct {
	cfg   Config
	stop  func()
	ended chan struct{}

	mu       sync.Mutex // guards what follows
	proc     procfs.FS
	disk     blockdevice.FS
	broken   error // there is no procfs to read
	readings []reading
	trees    []*tree
	table    map[int]entry
	problems []string // distinct texts of what could not be read
}

// Start begins to sample, with a first reading at once. Trouble with reading is in the warnings of Between.
func Start(cfg Config) *Sampler {
	if cfg.Interval <= 0 {
		cfg.Interval = time.Second
	}
	if cfg.Proc == "" {
		cfg.Proc = "/proc"
	}
	if cfg.Sys == "" {
		cfg.Sys = "/sys"
	}
	quit := make(chan struct{})
	s := &Sampler{cfg: cfg, stop: sync.OnceFunc(func() { close(quit) }), ended: make(chan struct{})}
	if s.proc, s.broken = procfs.NewFS(cfg.Proc); s.broken == nil {
		s.disk, s.broken = blockdevice.NewFS(cfg.Proc, cfg.Proc) // of sysfs it needs nothing
	}
	s.Read()
	go s.loop(quit)
	return s
}

func (s *Sampler) loop(quit <-chan struct{}) {
	defer close(s.ended)
	t := time.NewTicker(s.cfg.Interval)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			s.Read()
		case <-quit:
			return
		}
	}
}

// Stop ends the sampling. What was read stays available to Between.
func (s *Sampler) Stop() {
	s.stop()
	<-s.ended
}

// slack is how far a reading may be outside of a stage and still be taken for its begin or end.
func (s *Sampler) slack() time.Duration { return s.cfg.Interval / 10 }

// Read takes a reading now, unless the last one is less than a tenth of an interval old. Called when a stage begins
// it lets the stage's first interval begin with it.
func (s *Sampler) Read() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.broken != nil || len(s.readings) > 0 && now.Sub(s.readings[len(s.readings)-1].at) < s.slack() {
		return
	}
	s.read(now)
}

func (s *Sampler) read(at time.Time) {
	s.readings = append(s.readings, s.readHost(at))
	s.readTrees(at)
}

// problem notes something that cannot be read, once. A file that is not there is what an older or another kernel looks
// like, and is told by the figures that are absent.
func (s *Sampler) problem(err error) {
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, p := range s.problems {
		if p == err.Error() {
			return
		}
	}
	const most = 20
	if len(s.problems) < most {
		s.problems = append(s.problems, err.Error())
	}
}
