package observe

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A real tree: a shell of an odd name whose children are busy, one after the other, and waited for. What is seen
// agrees with what the system says in the end.
func TestRealTree(t *testing.T) {
	t.Parallel()
	sh, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "a b) R 1 (c")
	if err := os.WriteFile(name, sh, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, "-c", `read go
for i in 1 2 3 4; do ( j=0; while [ $j -lt 60000 ]; do j=$((j+1)); done ); done
echo done; read go`)
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	s := Start(Config{Interval: 50 * time.Millisecond, Processes: func() []Tree { return []Tree{{"sh", cmd.Process.Pid}} }})
	defer s.Stop()
	begin := time.Now()
	io.WriteString(in, "go\n")
	if _, err := io.ReadAtLeast(out, make([]byte, 5), 5); err != nil {
		t.Fatal(err)
	}
	time.Sleep(60 * time.Millisecond)
	o := s.Between(begin, time.Now())
	in.Close()
	cmd.Wait()
	var seen float64
	p := find(o, "sh")
	last := int64(0)
	for i, q := range p.Series {
		if i > 0 { // the first interval began before the stage, when nothing ran
			seen += *q.CPUShare * float64(q.TNS-last) / 1e9
		}
		last = q.TNS
	}
	if len(p.Series) > 0 {
		seen += *p.Series[0].CPUShare * 0.05
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	used := time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
	if seen < 0.7*used-0.05 || seen > 1.3*used+0.05 {
		t.Errorf("seen %.3f s of CPU time, the system says %.3f s; %+v", seen, used, p)
	}
	if p.Note != "" {
		t.Errorf("note %q while it ran", p.Note)
	}
}
