package observe

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/perfplan/perfplan/runner/result"
)

func TestEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := Environment(t.Context(), dir, nil)
	if e.Commit != "" || e.Dirty || e.CI != "" {
		t.Errorf("outside of a repository: commit %q, dirty %v, CI %q", e.Commit, e.Dirty, e.CI)
	}
	if e.OS != runtime.GOOS || e.Arch != runtime.GOARCH || e.Cores < 1 || e.GoVersion == "" || e.Fingerprint == "" {
		t.Errorf("environment %+v", e)
	}
	if runtime.GOOS == "linux" && (e.Kernel == "" || e.MemoryBytes < 1<<20 || e.FDLimit < 3) {
		t.Errorf("environment %+v lacks kernel, memory or descriptors", e)
	}
	if again := Environment(t.Context(), dir, nil); again != e {
		t.Errorf("asked twice: %+v and %+v", e, again)
	}
}

func TestCommit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run("init", "-q")
	if hash, dirty := commit(t.Context(), dir); hash != "" || dirty {
		t.Errorf("without a commit: %q, %v", hash, dirty)
	}
	write("a", "1")
	run("add", "a")
	run("commit", "-q", "-m", "first")
	write("untracked", "x")
	hash, dirty := commit(t.Context(), dir)
	if len(hash) != 40 || dirty {
		t.Errorf("commit = %q, %v, want 40 digits, clean", hash, dirty)
	}
	write("a", "2")
	if again, dirty := commit(t.Context(), dir); again != hash || !dirty {
		t.Errorf("after a change: %q, %v, want %q, true", again, dirty, hash)
	}
}

func TestCI(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		want string
	}{
		{nil, ""},
		{map[string]string{"CI": "true", "GITHUB_ACTIONS": "true"}, "GitHub Actions"},
		{map[string]string{"CI": "true"}, "CI"},
		{map[string]string{"CI": "false"}, ""},
		{map[string]string{"JENKINS_URL": "http://ci/"}, "Jenkins"},
	} {
		if got := ci(func(k string) (string, bool) { v, ok := tt.env[k]; return v, ok }); got != tt.want {
			t.Errorf("ci(%v) = %q, want %q", tt.env, got, tt.want)
		}
	}
}

func TestFingerprint(t *testing.T) {
	e := result.Environment{Hostname: "a", OS: "linux", Kernel: "6.18.44-x", Arch: "amd64", CPUModel: "X", Cores: 2, MemoryBytes: 8 << 30, GoVersion: "go1.26", Commit: "1"}
	same := e
	same.Hostname, same.Commit, same.Kernel, same.MemoryBytes = "b", "2", "6.18.45-y", 8<<30-1<<20
	if fingerprint(e, 0) != fingerprint(same, 0) {
		t.Error("name, commit, patch level and a MiB of memory changed the fingerprint")
	}
	for what, change := range map[string]func(*result.Environment){
		"cores":  func(e *result.Environment) { e.Cores = 4 },
		"memory": func(e *result.Environment) { e.MemoryBytes = 4 << 30 },
		"model":  func(e *result.Environment) { e.CPUModel = "Y" },
		"kernel": func(e *result.Environment) { e.Kernel = "6.19.1" },
	} {
		other := e
		change(&other)
		if fingerprint(e, 0) == fingerprint(other, 0) {
			t.Errorf("another %s has the same fingerprint", what)
		}
	}
	if fingerprint(e, 0) == fingerprint(e, 1.5) {
		t.Error("a quota did not change the fingerprint")
	}
}

func TestCPUQuota(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  float64
	}{
		{"none", nil, 0},
		{"version 2", map[string]string{"proc/self/cgroup": "0::/a/b\n", "cg/a/b/cpu.max": "150000 100000\n"}, 1.5},
		{"the parent is tighter", map[string]string{"proc/self/cgroup": "0::/a/b\n", "cg/a/b/cpu.max": "max 100000\n", "cg/a/cpu.max": "50000 100000\n"}, 0.5},
		{"no bound", map[string]string{"proc/self/cgroup": "0::/\n", "cg/cpu.max": "max 100000\n"}, 0},
		{"version 1", map[string]string{"proc/self/cgroup": "4:cpu,cpuacct:/x\n", "cg/cpu/x/cpu.cfs_quota_us": "200000\n", "cg/cpu/x/cpu.cfs_period_us": "100000\n"}, 2},
		{"version 1, no bound", map[string]string{"proc/self/cgroup": "4:cpu:/x\n", "cg/cpu/x/cpu.cfs_quota_us": "-1\n", "cg/cpu/x/cpu.cfs_period_us": "100000\n"}, 0},
		{"garbage", map[string]string{"proc/self/cgroup": "what\n0::\n", "cg/cpu.max": "1 2 3\n"}, 0},
	} {
		dir := t.TempDir()
		for name, text := range tt.files {
			path := filepath.Join(dir, name)
			os.MkdirAll(filepath.Dir(path), 0o755)
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := cpuQuota(filepath.Join(dir, "proc"), filepath.Join(dir, "cg")); got != tt.want {
			t.Errorf("%s: cpuQuota = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestCPUModel(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cpuinfo"), []byte("processor\t: 0\nmodel\t\t: 106\nmodel name\t: Some CPU @ 2 GHz\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := cpuModel(dir); got != "Some CPU @ 2 GHz" {
		t.Errorf("cpuModel = %q", got)
	}
}
