package observe

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/perfplan/perfplan/runner/result"
)

// C-34: 4 busy threads are about 4 cores.
func TestFourBusyThreads(t *testing.T) {
	m := newMachine(t)
	m.process(100, "target", 1, 5, ticks{user: 1000, system: 10})
	c := m.sample(Tree{"target", 100})
	m.process(100, "target", 1, 5, ticks{user: 1360, system: 50})
	c.tick()
	m.process(100, "target", 1, 5, ticks{user: 1460, system: 50})
	c.tick()
	p := find(c.Between(c.begin, c.now), "target")
	want(t, "mean", p.CPUShare, 2.5)
	want(t, "greatest", p.CPUMaxShare, 4)
	want(t, "first second", p.Series[0].CPUShare, 4)
	want(t, "resident memory", p.RSSMaxBytes, int64(100*os.Getpagesize()))
	want(t, "threads", p.Series[0].Threads, 2)
	want(t, "descriptors", p.Series[0].FDs, 3)
	if p.Note != "" || p.PID != 100 {
		t.Errorf("pid %d, note %q", p.PID, p.Note)
	}
}

// C-34: blanks and brackets in a name do not shift the fields.
func TestOddName(t *testing.T) {
	m := newMachine(t)
	for i, name := range []string{"a b) R 1 (c", "))", "(", "", "x\ny 3 4"} {
		m.process(100+i, name, 1, 5, ticks{})
	}
	c := m.sample(Tree{"0", 100}, Tree{"1", 101}, Tree{"2", 102}, Tree{"3", 103}, Tree{"4", 104})
	for i, name := range []string{"a b) R 1 (c", "))", "(", "", "x\ny 3 4"} {
		m.process(100+i, name, 1, 5, ticks{user: 50})
	}
	c.tick()
	o := c.Between(c.begin, c.now)
	for _, name := range []string{"0", "1", "2", "3", "4"} {
		want(t, name, find(o, name).CPUShare, 0.5)
	}
}

func TestDescendants(t *testing.T) {
	m := newMachine(t)
	m.process(100, "target", 1, 5, ticks{user: 10})
	m.process(101, "worker", 100, 6, ticks{user: 10})
	m.process(200, "other", 1, 6, ticks{user: 10})
	c := m.sample(Tree{"target", 100})
	m.process(100, "target", 1, 5, ticks{user: 20})
	m.process(101, "worker", 100, 6, ticks{user: 40})
	m.process(102, "below", 101, 9, ticks{user: 30}) // new: all of its time is this second's
	m.process(200, "other", 1, 6, ticks{user: 90})
	c.tick()
	p := find(c.Between(c.begin, c.now), "target")
	want(t, "cpu of three processes", p.CPUShare, 0.7)
	want(t, "memory of three processes", p.RSSMaxBytes, int64(300*os.Getpagesize()))
	want(t, "descriptors of three processes", p.Series[0].FDs, 9)

	m.process(102, "below", 1, 9, ticks{user: 80}) // an orphan is still of the tree
	m.remove("101")
	c.tick()
	p = find(c.Between(c.begin, c.now), "target")
	want(t, "cpu with an orphan", p.Series[1].CPUShare, 0.5)
}

// The time of a child that ended is counted once, whoever was handed it and when.
func TestEndedChildren(t *testing.T) {
	for _, tt := range []struct {
		name    string
		seconds [2]func(m machine)
		want    [2]float64
	}{
		{"waited for at once", [2]func(m machine){
			func(m machine) {
				m.remove("101")
				m.process(100, "target", 1, 5, ticks{user: 10, childUser: 130}) // 100 were seen
			},
			func(m machine) {},
		}, [2]float64{0.3, 0}},
		{"a zombie first", [2]func(m machine){
			func(m machine) { m.state(101, "worker", "Z", 100, 6, ticks{user: 120}) },
			func(m machine) {
				m.remove("101")
				m.process(100, "target", 1, 5, ticks{user: 10, childUser: 120})
			},
		}, [2]float64{0.2, 0}},
		{"the parent was read too early", [2]func(m machine){
			func(m machine) { m.remove("101") },
			func(m machine) { m.process(100, "target", 1, 5, ticks{user: 10, childUser: 130}) },
		}, [2]float64{0, 0.3}},
		{"never waited for", [2]func(m machine){
			func(m machine) { m.remove("101") },
			func(m machine) { m.process(100, "target", 1, 5, ticks{user: 20}) },
		}, [2]float64{0, 0.1}},
		{"born and ended in between", [2]func(m machine){
			func(m machine) { m.process(100, "target", 1, 5, ticks{user: 10, childUser: 40}) },
			func(m machine) {},
		}, [2]float64{0.4, 0}},
	} {
		m := newMachine(t)
		m.process(100, "target", 1, 5, ticks{user: 10})
		m.process(101, "worker", 100, 6, ticks{user: 100})
		c := m.sample(Tree{"target", 100})
		for _, f := range tt.seconds {
			f(m)
			c.tick()
		}
		p := find(c.Between(c.begin, c.now), "target")
		for i, w := range tt.want {
			if got := *p.Series[i].CPUShare; got < w-1e-9 || got > w+1e-9 {
				t.Errorf("%s: second %d has %v, want %v", tt.name, i+1, got, w)
			}
		}
	}
}

// C-34: a process that ended, or whose pid another has, ends the series with a note.
func TestEnded(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(m machine)
		note string
	}{
		{"gone", func(m machine) { m.remove("100") }, "process 100 ended, seen 2s after the stage began"},
		{"zombie", func(m machine) { m.state(100, "target", "Z", 1, 5, ticks{user: 40}) }, "process 100 ended, seen 2s after the stage began"},
		{"replaced", func(m machine) { m.process(100, "target", 1, 500, ticks{user: 9000}) }, "process 100 ended and its pid was given to another, seen 2s after the stage began"},
	} {
		m := newMachine(t)
		m.process(100, "target", 1, 5, ticks{user: 10})
		c := m.sample(Tree{"target", 100})
		m.process(100, "target", 1, 5, ticks{user: 30})
		c.tick()
		tt.end(m)
		c.tick()
		m.process(100, "target", 1, 900, ticks{user: 9999})
		c.tick()
		p := find(c.Between(c.begin, c.now), "target")
		if p.Note != tt.note || len(p.Series) != 1 {
			t.Errorf("%s: note %q, %d samples, want %q, 1", tt.name, p.Note, len(p.Series), tt.note)
		}
		want(t, tt.name, p.CPUShare, 0.2)
		if p := find(c.Between(c.begin.Add(2500*time.Millisecond), c.now), "target"); !strings.HasSuffix(p.Note, "before this stage") || p.CPUShare != nil {
			t.Errorf("%s: in the next stage %+v", tt.name, p)
		}
		if p := find(c.Between(c.begin, c.begin.Add(time.Second)), "target"); p.Note != "" {
			t.Errorf("%s: in the stage before, note %q", tt.name, p.Note)
		}
	}
}

// A descendant whose pid another process has now is left out of the tree, and so is that other one.
func TestReplacedDescendant(t *testing.T) {
	m := newMachine(t)
	m.process(100, "target", 1, 5, ticks{})
	m.process(101, "worker", 100, 6, ticks{user: 10})
	c := m.sample(Tree{"target", 100})
	for range 2 {
		m.process(101, "stranger", 1, 700, ticks{user: 5000})
		c.tick()
	}
	p := find(c.Between(c.begin, c.now), "target")
	want(t, "cpu", p.CPUMaxShare, 0)
	want(t, "memory", p.RSSMaxBytes, int64(100*os.Getpagesize()))
}

// C-34: a process that cannot be read is a warning, and nothing else is lost.
func TestUnreadable(t *testing.T) {
	m := newMachine(t)
	m.write("100/stat/no-file", "reading this fails for everybody")
	m.stat(200, "fine", "R", 1, 5, ticks{})
	m.write("200/fd", "no folder")
	c := m.sample(Tree{"target", 100}, Tree{"fine", 200}, Tree{"missing", 300})
	m.stat(200, "fine", "R", 1, 5, ticks{user: 100})
	c.tick()
	o := c.Between(c.begin, c.now)
	if len(o.Warnings) != 2 || o.Warnings[0].Severity != result.Note {
		t.Errorf("warnings %+v, want two notes", o.Warnings)
	}
	if p := find(o, "target"); p.CPUShare != nil || p.Note != "process 100 cannot be read" {
		t.Errorf("target: %+v", p)
	}
	if p := find(o, "missing"); p.CPUShare != nil || !strings.HasPrefix(p.Note, "process 300 was not there when sampling began") {
		t.Errorf("missing: %+v", p)
	}
	p := find(o, "fine")
	want(t, "cpu", p.CPUShare, 1)
	if p.Series[0].FDs != nil {
		t.Errorf("descriptors %d of a process whose folder is not readable", *p.Series[0].FDs)
	}
}

// Two processes of one target have a series each.
func TestInstances(t *testing.T) {
	m := newMachine(t)
	m.process(100, "target", 1, 5, ticks{})
	m.process(101, "target", 1, 5, ticks{})
	c := m.sample(Tree{"target", 100}, Tree{"target", 101})
	c.tick()
	o := c.Between(c.begin, c.now)
	if len(o.Processes) != 3 || o.Processes[0].PID != 100 || o.Processes[1].PID != 101 || o.Processes[2].Name != selfName {
		t.Errorf("processes %+v, want 100, 101 and perfplan", o.Processes)
	}
}
