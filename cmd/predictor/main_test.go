package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// command is the predictor, built once.
var command string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "predictor")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	command = filepath.Join(dir, "predictor")
	code := 1
	if out, err := exec.Command("go", "build", "-o", command, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// process is a running predictor.
type process struct {
	cmd *exec.Cmd
	url string
	log *bufio.Scanner
}

// startServer starts the command with flags and waits for its address.
func startServer(t *testing.T, args ...string) *process {
	t.Helper()
	cmd := exec.Command(command, append(args, "--listen", "127.0.0.1:0")...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	p := &process{cmd: cmd, log: bufio.NewScanner(stderr)}
	line := p.next(t, "listening")
	p.url = "http://" + line["address"].(string)
	return p
}

// next reads the log up to a message.
func (p *process) next(t *testing.T, message string) map[string]any {
	t.Helper()
	for p.log.Scan() {
		var line map[string]any
		if err := json.Unmarshal(p.log.Bytes(), &line); err != nil {
			t.Fatalf("log line is not JSON: %s", p.log.Bytes())
		}
		if line["msg"] == message {
			return line
		}
	}
	t.Fatalf("the log ended without %q", message)
	return nil
}

func (p *process) rank(body string) (int, string, error) {
	resp, err := http.Post(p.url+"/predictor/v1/get-ranking", "application/json", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

func (p *process) metrics(t *testing.T) string {
	t.Helper()
	resp, err := http.Get(p.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (p *process) waitInFlight(t *testing.T, n int) {
	t.Helper()
	want := fmt.Sprintf("predictor_in_flight_requests %d\n", n)
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if strings.Contains(p.metrics(t), want) {
			return
		}
	}
	t.Fatalf("metrics never held %q", want)
}

const ranking = `{"user_id":7,"candidate_count":1000,"limit":50}`

func TestServeFinishesWhatIsInFlight(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		p := startServer(t, "--fault-delay", "700ms")
		type result struct {
			status int
			body   string
			err    error
		}
		done := make(chan result, 1)
		go func() {
			status, body, err := p.rank(ranking)
			done <- result{status, body, err}
		}()
		p.waitInFlight(t, 1)
		if err := p.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		p.next(t, "stopping")
		r := <-done
		if r.err != nil || r.status != 200 || !strings.Contains(r.body, `"items":[{"movie_id":`) {
			t.Errorf("%v: request in flight got %d %.80q %v, want 200", signal, r.status, r.body, r.err)
		}
		p.next(t, "stopped")
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("%v: exit %v, want 0", signal, err)
		}
		if _, _, err := p.rank(ranking); err == nil {
			t.Errorf("%v: the port still answers", signal)
		}
	}
}

func TestServeGivesUpAfterTheShutdownTimeout(t *testing.T) {
	t.Parallel()
	p := startServer(t, "--fault-delay", "1m", "--shutdown-timeout", "100ms")
	done := make(chan error, 1)
	go func() {
		_, _, err := p.rank(ranking)
		done <- err
	}()
	p.waitInFlight(t, 1)
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("the request was answered")
	}
	p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); got != 1 {
		t.Errorf("exit code = %d, want 1", got)
	}
}

func TestServeSlowPathAndFaultsByFlag(t *testing.T) {
	t.Parallel()
	fast := startServer(t)
	slow := startServer(t, "serve", "--slow-path")
	_, want, err := fast.rank(ranking)
	if err != nil {
		t.Fatal(err)
	}
	if _, got, err := slow.rank(ranking); err != nil || got != want {
		t.Errorf("slow path answers %.120q %v, want %.120q", got, err, want)
	}
	broken := startServer(t, "--fault-error-ratio", "1")
	if status, body, err := broken.rank(ranking); err != nil || status != 500 {
		t.Errorf("error ratio 1: got %d %q %v, want 500", status, body, err)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	damaged := filepath.Join(t.TempDir(), "damaged.bin")
	if err := os.WriteFile(damaged, []byte("PPRANK\x01\x00 and nothing that fits"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args           string
		code           int
		stdout, stderr string
	}{
		{"--help", 0, "-fault-error-ratio", ""},
		{"help", 0, "usage: predictor", ""},
		{"bench --help", 0, "-slow-path", ""},
		{"nothing", 2, "", `unknown command "nothing"`},
		{"--nothing", 2, "", "flag provided but not defined: -nothing"},
		{"serve extra", 2, "", `unexpected argument "extra"`},
		{"--max-in-flight 0", 2, "", "--max-in-flight: got 0, want 1 or more"},
		{"--shutdown-timeout 0s", 2, "", "--shutdown-timeout: got 0s"},
		{"--fault-error-ratio 1.5", 2, "", "--fault-error-ratio: got 1.5, want 0 to 1"},
		{"--fault-error-ratio NaN", 2, "", "--fault-error-ratio: got NaN, want 0 to 1"},
		{"--fault-delay 5", 2, "", `invalid value "5" for flag -fault-delay`},
		{"--fault-stall-length 1s", 2, "", "want both or neither"},
		{"--fault-workers -1", 2, "", "--fault-workers: got -1"},
		{"--listen 127.0.0.1:99999", 1, "", "invalid port"},
		{"--listen 127.0.0.1:0 --model " + damaged, 1, "", "damaged.bin: model file: got"},
		{"evaluate --model /nonexistent", 1, "", "no such file"},
	}
	for _, tt := range tests {
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(command, strings.Fields(tt.args)...)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != tt.code {
			t.Errorf("%s: exit code = %d, want %d", tt.args, got, tt.code)
		}
		if !strings.Contains(stdout.String(), tt.stdout) || !strings.Contains(stderr.String(), tt.stderr) {
			t.Errorf("%s: got stdout %q and stderr %q, want %q and %q", tt.args, &stdout, &stderr, tt.stdout, tt.stderr)
		}
	}
}

func TestEvaluatePrintsTheTable(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(command, "evaluate").Output()
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../predictor/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if text := strings.TrimSpace(line); strings.Contains(text, "  ") && !strings.Contains(string(readme), " "+text+"\n") {
			t.Errorf("predictor/README.md lacks the line %q", text)
		}
	}
	for _, want := range []string{
		`(?m)^ *method +RMSE +NDCG@10 +Recall@10$`,
		`(?m)^ *model +0\.8\d{3} +0\.1\d{3} +0\.1\d{3}$`,
		`(?m)^ *popularity +- +0\.0\d{3} +0\.0\d{3}$`,
		`(?m)^ *global mean +1\.\d{4} +- +-$`,
		`(?m)^ *user \+ movie means +0\.9\d{3} +0\.\d{4} +0\.\d{4}$`,
	} {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("evaluate printed\n%s\nwant a line like %s", out, want)
		}
	}
}
