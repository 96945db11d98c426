package report

import (
	"fmt"
	"strings"

	"github.com/perfplan/perfplan/runner/result"
)

func environment(r *result.Result) []pair {
	e := r.Environment
	commit := orText(e.Commit, na)
	if e.Dirty {
		commit += ", with changes"
	}
	cores, memory, fds := na, na, na
	if e.Cores > 0 {
		cores = fmt.Sprint(e.Cores)
	}
	if e.MemoryBytes > 0 {
		memory = size(float64(e.MemoryBytes))
	}
	if e.FDLimit > 0 {
		fds = count(e.FDLimit)
	}
	return []pair{
		{"Host", orText(e.Hostname, na)},
		{"System", orText(strings.TrimSpace(e.OS+" "+e.Kernel), na)},
		{"Architecture", orText(e.Arch, na)},
		{"CPU", orText(e.CPUModel, na)},
		{"Cores usable", cores},
		{"Memory", memory},
		{"Descriptors", fds},
		{"Go", orText(e.GoVersion, na)},
		{"CI", orText(e.CI, "none")},
		{"Commit", commit},
		{"Fingerprint", orText(e.Fingerprint, na)},
	}
}

func targetsTable(ts []result.Target) table {
	t := table{Caption: "Targets", Cols: []column{{"Target", false}, {"URLs", false}, {"Command", false}, {"Ready after", true}, {"Log", false}, {"Ended", false}}}
	for _, target := range ts {
		name := target.Name
		if target.Instance > 0 {
			name = fmt.Sprintf("%s #%d", name, target.Instance+1)
		}
		ready := na
		if target.ReadyNS > 0 {
			ready = span(target.ReadyNS)
		}
		t.Rows = append(t.Rows, []cell{
			{Text: name}, {Text: strings.Join(target.URLs, ", ")}, {Text: orText(target.Command, "not started by perfplan")}, {Text: ready},
			{Text: orText(target.LogFile, na)}, {Text: orText(target.Exit, "stopped after the run")},
		})
	}
	return t
}

func command(r *result.Result) string {
	return "perfplan run " + shellWord(orText(r.Plan.Path, "plan.yaml"))
}

// shellWord quotes s for a POSIX shell where it needs it.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || strings.ContainsRune("-_./+=:@%,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func exitCode(r *result.Result) string {
	if r.ExitCode == nil {
		return na
	}
	return fmt.Sprint(*r.ExitCode)
}

func reproduce(r *result.Result) []pair {
	out := []pair{{"Plan", orText(r.Plan.Path, na)}, {"Plan hash", orText(r.Plan.Hash, na)}, {"Tool", r.Tool.Name + " " + r.Tool.Version}, {"Run", orText(r.RunID, na)},
		{"Started", started(r)}, {"Exit code", exitCode(r)}}
	for _, st := range r.Stages {
		switch {
		case st.Load != nil:
			out = append(out, pair{"Seed of " + st.Name, fmt.Sprint(st.Load.Seed)})
		case st.Microbenchmark != nil:
			out = append(out, pair{"Seed of " + st.Name, fmt.Sprint(st.Microbenchmark.Seed)})
		}
	}
	return out
}

func glossary() []pair {
	return []pair{
		{"offered", "arrivals of the schedule that came due; the rate is fixed ahead and does not depend on the target"},
		{"sent, dropped", "offered = sent + dropped; a dropped one was never sent"},
		{"completed, failed, unfinished", "sent = completed + failed + unfinished; completed ones were answered as the plan expects, unfinished ones were still in flight when the stage's drain ended"},
		{"intended time", "when the schedule says that a request is due"},
		{"response time", "last byte − intended time; SLOs on percentiles use this one"},
		{"service time", "last byte − sent"},
		{"schedule lag", "sent − intended time; response time = schedule lag + service time. It is the waiting at the bound on requests in flight, which the target or the bound causes, and the dispatch lag, which the load generator causes"},
		{"throughput", "completed requests per second"},
		{"in flight", "sent and not yet ended"},
		{"≥", "the request had no answer when its wait ended: its true time is at least this"},
		{"pass, fail, inconclusive", "an SLO passes only when its interval is wholly inside the limit and fails only when it is wholly outside; with no data, too few samples or a load generator that disturbed the measurement it is inconclusive"},
		{"interval", "confidence interval, each end at 95%"},
		{"high, saturated", "utilisation above its bound; work had to queue for the resource"},
	}
}
