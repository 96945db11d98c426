package process

import (
	"os/exec"
	"runtime"
	"testing"
	"time"
)

// A busy child uses the processor, a sleeping one does not, and both use memory.
func TestMeter(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("read from /proc")
	}
	for _, tt := range []struct {
		script string
		busy   bool
	}{{"while :; do :; done", true}, {"sleep 60", false}} {
		p, err := Start(t.Context(), Spec{Args: []string{"sh", "-c", tt.script}})
		if err != nil {
			t.Fatal(err)
		}
		m := p.NewMeter()
		before := m.Read()
		for begin := time.Now(); m.Read().Sub(before).CPU < 20*time.Millisecond && time.Since(begin) < 30*time.Second && (tt.busy || time.Since(begin) < 200*time.Millisecond); {
			time.Sleep(10 * time.Millisecond)
		}
		used := m.Read().Sub(before)
		if (used.CPU >= 20*time.Millisecond) != tt.busy || used.Counted && used.Instructions <= 0 && tt.busy {
			t.Errorf("%q used %+v", tt.script, used)
		}
		if rss := p.PeakRSS(); rss < 64<<10 || rss > 1<<30 {
			t.Errorf("%q has %d bytes", tt.script, rss)
		}
		if _, _, ok := p.Used(); ok || !p.Ended().IsZero() {
			t.Errorf("%q has ended", tt.script)
		}
		m.Close()
		p.Stop(0)
		if _, rss, ok := p.Used(); !ok || rss < 64<<10 || p.Ended().Before(p.Started()) {
			t.Errorf("%q used %d bytes in all, %v; ended at %v", tt.script, rss, ok, p.Ended())
		}
	}
}

// What is thrown away does not hold a process up, and is in no log.
func TestDiscard(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("head"); err != nil {
		t.Skip("no head")
	}
	p, err := Start(t.Context(), Spec{Args: []string{"sh", "-c", "head -c 1000000 /dev/zero; echo said >&2"}, Discard: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop(0)
	<-p.Done()
	if p.ExitCode() != 0 || p.LogTail(5) != "said" {
		t.Errorf("exit %s, log %q", p.Exit(), p.LogTail(5))
	}
}
