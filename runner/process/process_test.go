package process

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// start starts a shell script or this test binary and stops it when the test ends.
func start(t *testing.T, spec Spec) *Process {
	t.Helper()
	p, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatalf("Start(%q): %v", spec.Args, err)
	}
	t.Cleanup(func() { p.Stop(0) })
	return p
}

func sh(script string) Spec { return Spec{Args: []string{"/bin/sh", "-c", script}} }

func waitDone(t *testing.T, p *Process) {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(20 * time.Second):
		t.Fatalf("process %d did not end; output:\n%s", p.PID(), p.LogTail(10))
	}
}

// eventually waits until ok holds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 20s: %s", what)
		}
	}
}

func TestExit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		script, want string
		code         int
	}{
		{"exit 0", "exit status 0", 0},
		{"exit 3", "exit status 3", 3},
		{"kill -KILL $$", "killed by SIGKILL", -1},
		{"kill -SEGV $$", "killed by SIGSEGV", -1},
	} {
		p := start(t, sh(tt.script))
		waitDone(t, p)
		if p.Exit() != tt.want || p.ExitCode() != tt.code {
			t.Errorf("%q: Exit, ExitCode = %q, %d, want %q, %d", tt.script, p.Exit(), p.ExitCode(), tt.want, tt.code)
		}
		if err := p.Stop(time.Second); err != nil {
			t.Errorf("%q: Stop after the end: %v", tt.script, err)
		}
	}
}

func TestRunning(t *testing.T) {
	t.Parallel()
	p := start(t, sh("exec sleep 600"))
	if p.Exit() != "" || p.ExitCode() != -1 {
		t.Errorf("while running: Exit, ExitCode = %q, %d, want \"\", -1", p.Exit(), p.ExitCode())
	}
	if got := fmt.Sprint(p.PIDs()); got != fmt.Sprint([]int{p.PID()}) {
		t.Errorf("PIDs = %s, want the child %d alone", got, p.PID())
	}
	if err := p.Stop(10 * time.Second); err != nil {
		t.Error(err)
	}
	if p.Exit() != "killed by SIGTERM" {
		t.Errorf("Exit after Stop = %q, want killed by SIGTERM", p.Exit())
	}
}

func TestStartErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("plain", "#!/bin/sh\n", 0o644)
	write("noshebang", "echo hi\n", 0o755)
	write("badshebang", "#!/no/such/interpreter\n", 0o755)
	for _, tt := range []struct {
		spec Spec
		want string
	}{
		{Spec{}, "no command given"},
		{Spec{Args: []string{"no-such-command-here"}}, `command "no-such-command-here": not found in PATH (write ./no-such-command-here for a file in the working folder)`},
		{Spec{Args: []string{"./missing"}, Dir: dir}, `command "./missing": not found (looked at ` + dir + `/missing)`},
		{Spec{Args: []string{"./plain"}, Dir: dir}, `command "./plain": not executable (looked at ` + dir + `/plain)`},
		{Spec{Args: []string{dir}}, `command "` + dir + `": is a directory (looked at ` + dir + `)`},
		{Spec{Args: []string{"./noshebang"}, Dir: dir}, `command "./noshebang": the system cannot run this file (a script needs a first line like #!/bin/sh)`},
		{Spec{Args: []string{"./badshebang"}, Dir: dir}, `command "./badshebang": the interpreter that its first line names was not found`},
		{Spec{Args: []string{"/bin/sh"}, Dir: dir + "/gone"}, `working folder "` + dir + `/gone": not found`},
		{Spec{Args: []string{"/bin/sh"}, Dir: dir + "/plain"}, `working folder "` + dir + `/plain": not a folder`},
		{Spec{Args: []string{"/bin/sh"}, LogFile: dir + "/gone/log"}, `log file: open ` + dir + `/gone/log: no such file or directory`},
	} {
		p, err := Start(t.Context(), tt.spec)
		if err == nil {
			p.Stop(0)
		}
		if err == nil || err.Error() != tt.want {
			t.Errorf("Start(%q, dir %q) = %v, want %s", tt.spec.Args, tt.spec.Dir, err, tt.want)
		}
	}
}

func TestStartCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, sh("exit 0")); err != context.Canceled {
		t.Errorf("Start with an ended context = %v, want %v", err, context.Canceled)
	}
}

func TestRelativeCommandIsInDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "prog"), []byte("#!/bin/sh\npwd\necho \"$WORD\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := start(t, Spec{Args: []string{"./prog"}, Dir: dir, Env: []string{"WORD=hi there"}})
	waitDone(t, p)
	real, _ := filepath.EvalSymlinks(dir)
	if got, want := p.LogTail(9), real+"\nhi there"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
}

func TestTalk(t *testing.T) {
	t.Parallel()
	spec := sh("echo log >&2; while read x; do echo \"got $x\"; done; exit 7")
	spec.Talk = true
	p := start(t, spec)
	r := bufio.NewReader(p.Stdout)
	for _, word := range []string{"a", "b"} {
		fmt.Fprintln(p.Stdin, word)
		if line, err := r.ReadString('\n'); line != "got "+word+"\n" {
			t.Errorf("answer to %q = %q, %v", word, line, err)
		}
	}
	p.Stdin.Close()
	waitDone(t, p)
	if p.ExitCode() != 7 || p.LogTail(5) != "log" {
		t.Errorf("exit %d, log %q, want 7, \"log\"", p.ExitCode(), p.LogTail(5))
	}
}

// What a target prints must not reach a terminal as anything but text.
func TestPrintable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"plain\ttext\nof two lines", "plain\ttext\nof two lines"},
		{"größer ≥ 3\u00a0ms", "größer ≥ 3\u00a0ms"},
		{"\x1b[1;31merror\x1b[0m: no", "error: no"},
		{"\x1b[2J\x1b[H\x1b[?25l", ""},
		{"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab"},
		{"\x1b]52;c;never ended", "\uFFFD]52;c;never ended"},
		{"\x1bc\x07\x08\x00\x7f", "\uFFFDc\uFFFD\uFFFD\uFFFD\uFFFD"},
		{"\u009b31m", "\uFFFD31m"}, // CSI in one character
		{"a\u202eb", "a\uFFFDb"},   // turns the direction of text
		{"dos\r\n50%\r100%", "dos\n50%\uFFFD100%"},
	} {
		if got := printable(tt.text); got != tt.want {
			t.Errorf("printable(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
	p := start(t, sh(`printf '\033[31mred\033[0m \033c\n' >&2`))
	waitDone(t, p)
	if got, want := p.LogTail(5), "red \uFFFDc"; got != want {
		t.Errorf("LogTail = %q, want %q", got, want)
	}
}

func TestLogTail(t *testing.T) {
	t.Parallel()
	for _, inFile := range []bool{false, true} {
		for _, tt := range []struct {
			script string
			lines  int
			want   string
		}{
			{"", 3, ""},
			{"printf 'a\\nb\\nc\\n'", 2, "b\nc"},
			{"printf 'a\\nb\\nc'", 3, "a\nb\nc"},
			{"printf 'a\\nb\\n'", 9, "a\nb"},
			{"printf 'a\\377b'", 1, "a\uFFFDb"},
			{"echo out; echo err >&2", 2, "out\nerr"},
			// 1.2 MB, far more than a pipe or the memory holds: the last line is still there, and whole.
			{"i=0; while [ $i -lt 20000 ]; do echo line $i xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; i=$((i+1)); done; echo last", 1, "last"},
		} {
			spec := sh(tt.script)
			if inFile {
				spec.LogFile = filepath.Join(t.TempDir(), "log")
				os.WriteFile(spec.LogFile, []byte("of an earlier process\n"), 0o644)
			}
			p := start(t, spec)
			waitDone(t, p)
			if got := p.LogTail(tt.lines); got != tt.want {
				t.Errorf("%q in a file %v: LogTail(%d) = %q, want %q", tt.script, inFile, tt.lines, got, tt.want)
			}
			if all := p.LogTail(1 << 20); len(all) > tailBytes || strings.HasPrefix(tt.script, "i=0") && !strings.HasPrefix(all, "line ") {
				t.Errorf("%q in a file %v: a tail of %d bytes that begins %.20q", tt.script, inFile, len(all), all)
			}
		}
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	if err := Run(t.Context(), sh("exit 0"), 0); err != nil {
		t.Errorf("Run(exit 0) = %v", err)
	}
	want := "\"/bin/sh\" ended with exit status 2, its last output:\nno such thing"
	if err := Run(t.Context(), sh("echo no such thing; exit 2"), 0); err == nil || err.Error() != want {
		t.Errorf("Run = %v, want %s", err, want)
	}
	if err := Run(t.Context(), sh("exit 2"), 0); err == nil || err.Error() != `"/bin/sh" ended with exit status 2 and no output` {
		t.Errorf("Run(exit 2) = %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := Run(ctx, sh("exec sleep 600"), time.Second); err == nil || !strings.Contains(err.Error(), "deadline") {
		t.Errorf("Run past its deadline = %v, want the context's error", err)
	}
}

func TestStopIsIdempotent(t *testing.T) {
	t.Parallel()
	p := start(t, sh("exec sleep 600"))
	errs := make(chan error)
	for range 4 {
		go func() { errs <- p.Stop(time.Second) }()
	}
	for range 4 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if p.PIDs() != nil {
		t.Errorf("PIDs after Stop = %v, want none", p.PIDs())
	}
}

// A thread that ends must not take the child with it, although the parent death signal belongs to a thread.
func TestChildOutlivesTheStartingThread(t *testing.T) {
	t.Parallel()
	var p *Process
	ended := make(chan struct{})
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		defer close(ended)
		p = start(t, sh("exec sleep 600"))
	}()
	<-ended
	time.Sleep(100 * time.Millisecond)
	if p.Exit() != "" {
		t.Errorf("the child ended with its starter's thread: %s", p.Exit())
	}
}
