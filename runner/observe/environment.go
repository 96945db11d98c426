package observe

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/perfplan/perfplan/runner/result"
	"github.com/prometheus/procfs"
)

// gitWait bounds what git may take for the commit and the state of a large work tree.
const gitWait = 3 * time.Second

// Environment describes this machine, and the git commit of dir when it is in a repository. env looks an environment
// variable up, as os.LookupEnv does; nil knows none. What cannot be found out is empty.
func Environment(ctx context.Context, dir string, env func(string) (string, bool)) result.Environment {
	e := result.Environment{
		OS: runtime.GOOS, Arch: runtime.GOARCH, GoVersion: runtime.Version(),
		Kernel: kernel(), FDLimit: fdLimit(), CI: ci(env),
	}
	e.Hostname, _ = os.Hostname()
	quota := cpuQuota("/proc", "/sys/fs/cgroup")
	e.Cores = runtime.NumCPU() // those that the affinity mask leaves
	if quota > 0 && quota < float64(e.Cores) {
		e.Cores = max(1, int(quota))
	}
	e.CPUModel = cpuModel("/proc")
	if proc, err := procfs.NewFS("/proc"); err == nil {
		if mem, err := proc.Meminfo(); err == nil && mem.MemTotalBytes != nil {
			e.MemoryBytes = int64(*mem.MemTotalBytes)
		}
	}
	e.Commit, e.Dirty = commit(ctx, dir)
	e.Fingerprint = fingerprint(e, quota)
	return e
}

// cpuModel is the name that the first processor gives itself; what it is called depends on the architecture.
func cpuModel(proc string) string {
	for line := range strings.Lines(text(proc, "cpuinfo")) {
		key, value, ok := strings.Cut(line, ":")
		switch strings.TrimSpace(key) {
		case "model name", "cpu model", "cpu", "Model", "Hardware":
			if ok {
				return strings.TrimSpace(value)
			}
		}
	}
	return ""
}

// fingerprint is the same for machines whose figures may be compared: same system, kernel series, processor, usable
// cores with their quota, and memory to the GiB. Names and places do not count.
func fingerprint(e result.Environment, quota float64) string {
	series := strings.SplitN(e.Kernel, ".", 3)
	series = series[:min(2, len(series))]
	h := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%s\n%d\n%g\n%d", e.OS, strings.Join(series, "."), e.Arch, e.CPUModel,
		e.Cores, quota, (e.MemoryBytes+1<<29)>>30))
	return fmt.Sprintf("%x", h[:8])
}

// ci names the service that runs us by the variables that they set.
func ci(env func(string) (string, bool)) string {
	if env == nil {
		return ""
	}
	for _, s := range []struct{ key, name string }{
		{"GITHUB_ACTIONS", "GitHub Actions"}, {"GITLAB_CI", "GitLab CI"}, {"JENKINS_URL", "Jenkins"},
		{"CIRCLECI", "CircleCI"}, {"BUILDKITE", "Buildkite"}, {"TF_BUILD", "Azure Pipelines"}, {"TRAVIS", "Travis CI"},
		{"TEAMCITY_VERSION", "TeamCity"}, {"BITBUCKET_BUILD_NUMBER", "Bitbucket Pipelines"}, {"DRONE", "Drone"}, {"CI", "CI"},
	} {
		if v, ok := env(s.key); ok && v != "" && v != "false" {
			return s.name
		}
	}
	return ""
}

// commit asks git; "" without git or a repository.
func commit(ctx context.Context, dir string) (hash string, dirty bool) {
	ctx, cancel := context.WithTimeout(ctx, gitWait)
	defer cancel()
	hash, ok := git(ctx, dir, "rev-parse", "--verify", "HEAD")
	if !ok {
		return "", false
	}
	changes, ok := git(ctx, dir, "status", "--porcelain", "--untracked-files=no")
	return hash, ok && changes != ""
}

func git(ctx context.Context, dir string, args ...string) (string, bool) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-optional-locks", "-C", dir}, args...)...)
	cmd.WaitDelay = 100 * time.Millisecond
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err == nil
}
