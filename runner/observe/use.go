package observe

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/perfplan/perfplan/runner/result"
)

// A limit is from where on a figure is high and saturated.
type limit struct{ high, saturated float64 }

var (
	cpuBusy      = limit{0.80, 0.95}
	cpuPressure  = limit{0.10, 0.30}
	runPerCore   = limit{1, 2}
	memoryUsed   = limit{0.90, 0.97}
	memPressure  = limit{0.01, 0.10}
	swapPages    = limit{1, 100}
	diskBusy     = limit{0.70, 0.95}
	ioPressure   = limit{0.10, 0.40}
	diskQueue    = limit{2, 16}
	networkBusy  = limit{0.70, 0.95}
	networkLoss  = limit{0.0001, 0.01}
	lossPerS     = limit{1, 10}
	queueOverrun = limit{1, 1}
	anyError     = limit{1, inf}
)

// inf is for figures that are never saturated.
const inf = 1e308

func (l limit) level(v float64) string {
	switch {
	case v >= l.saturated:
		return result.LevelSaturated
	case v >= l.high:
		return result.LevelHigh
	}
	return result.LevelOK
}

func (l limit) cell(v float64, unit, format string, args ...any) result.USECell {
	return result.USECell{Level: l.level(v), Value: &v, Unit: unit, Text: fmt.Sprintf(format, args...)}
}

func absent(text string) result.USECell { return result.USECell{Level: result.LevelNA, Text: text} }

// use makes the table of a stage.
func use(diffs []diff) []result.USE {
	if len(diffs) == 0 {
		na := absent("fewer than two readings in the stage")
		var table []result.USE
		for _, r := range []string{"cpu", "memory", "disk", "network"} {
			table = append(table, result.USE{Resource: r, Utilisation: na, Saturation: na, Errors: na})
		}
		return table
	}
	return []result.USE{
		{Resource: "cpu", Utilisation: cpuUtilisation(diffs), Saturation: cpuSaturation(diffs), Errors: absent("/proc counts no errors of cores")},
		{Resource: "memory", Utilisation: memoryUtilisation(diffs), Saturation: memorySaturation(diffs), Errors: memoryErrors(diffs)},
		{Resource: "disk", Utilisation: diskUtilisation(diffs), Saturation: diskSaturation(diffs), Errors: absent("/proc counts no errors of disks")},
		{Resource: "network", Utilisation: networkUtilisation(diffs), Saturation: networkSaturation(diffs), Errors: networkErrors(diffs)},
	}
}

// total adds a counter up over the intervals that have it, with their length.
func total(diffs []diff, key string) (sum, seconds float64) {
	for _, d := range diffs {
		if v, ok := d.counters[key]; ok {
			sum, seconds = sum+v, seconds+d.seconds
		}
	}
	return sum, seconds
}

// mean is a gauge's mean over the intervals that have it.
func mean(diffs []diff, key string) (v float64, ok bool) {
	var n float64
	for _, d := range diffs {
		if g, has := d.gauges[key]; has {
			v, n = v+g, n+1
		}
	}
	return v / max(n, 1), n > 0
}

// busiest returns the device with the greatest sum of a counter over the intervals.
func busiest(diffs []diff, prefix string) (device string, sum float64, ok bool) {
	sums := map[string]float64{}
	for _, d := range diffs {
		for key, v := range d.counters {
			if name, is := strings.CutPrefix(key, prefix); is {
				sums[name] += v
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		if v := sums[name]; !ok || v > sum {
			device, sum, ok = name, v, true
		}
	}
	return device, sum, ok
}

func seconds(diffs []diff) (sum float64) {
	for _, d := range diffs {
		sum += d.seconds
	}
	return sum
}

func pct(share float64) string { return fmt.Sprintf("%.3g%%", 100*share) }

func cpuUtilisation(diffs []diff) result.USECell {
	var sums [5]float64
	for i, kind := range []string{"user", "system", "idle", "iowait", "steal"} {
		sums[i], _ = total(diffs, "cpu/"+kind)
	}
	all := sums[0] + sums[1] + sums[2] + sums[3] + sums[4]
	if all == 0 {
		return absent("no CPU times in /proc/stat")
	}
	busy := 1 - (sums[2]+sums[3])/all
	return cpuBusy.cell(busy, "share", "%s of all cores busy (user %s, system %s, taken by other machines %s)",
		pct(busy), pct(sums[0]/all), pct(sums[1]/all), pct(sums[4]/all))
}

func cpuSaturation(diffs []diff) result.USECell {
	queue, hasQueue := mean(diffs, "runnable")
	cores, hasCores := mean(diffs, "cores")
	stalled, secs := total(diffs, "psi/cpu")
	if secs > 0 {
		share := min(stalled/secs, 1)
		return cpuPressure.cell(share, "share", "some task waited for a core %s of the time (run queue %.3g on %.3g cores)", pct(share), queue, cores)
	}
	if !hasQueue || !hasCores {
		return absent("neither pressure nor a run queue in /proc")
	}
	return runPerCore.cell(queue/cores, "count", "%.3g runnable tasks per core (the kernel tells no pressure)", queue/cores)
}

func memoryUtilisation(diffs []diff) result.USECell {
	used := -1.0
	for _, d := range diffs {
		if t, a := d.gauge("mem/total"), d.gauge("mem/available"); t != nil && a != nil && *t > 0 {
			used = max(used, 1 - *a / *t)
		}
	}
	if used < 0 {
		return absent("no available memory in /proc/meminfo")
	}
	return memoryUsed.cell(used, "share", "%s of memory not available, at most", pct(used))
}

func memorySaturation(diffs []diff) result.USECell {
	in, secs := total(diffs, "vm/pswpin")
	out, _ := total(diffs, "vm/pswpout")
	stalled, psi := total(diffs, "psi/memory")
	switch {
	case psi > 0:
		share := min(stalled/psi, 1)
		return memPressure.cell(share, "share", "some task waited for memory %s of the time (%.0f pages swapped)", pct(share), in+out)
	case secs > 0:
		return swapPages.cell((in+out)/secs, "per_s", "%.3g pages swapped per second (the kernel tells no pressure)", (in+out)/secs)
	}
	return absent("neither pressure nor swapping in /proc")
}

func memoryErrors(diffs []diff) result.USECell {
	kills, secs := total(diffs, "vm/oom_kill")
	if secs == 0 {
		return absent("this kernel does not count processes killed for lack of memory")
	}
	return anyError.cell(kills, "count", "%.0f processes killed for lack of memory", kills)
}

func diskUtilisation(diffs []diff) result.USECell {
	name, busy, ok := busiest(diffs, "disk/busy/")
	if !ok {
		return absent("no disk in /proc/diskstats")
	}
	share := min(busy/seconds(diffs), 1)
	return diskBusy.cell(share, "share", "%s busy %s of the time", name, pct(share))
}

func diskSaturation(diffs []diff) result.USECell {
	name, queued, hasQueue := busiest(diffs, "disk/queue/")
	queue := queued / seconds(diffs)
	stalled, psi := total(diffs, "psi/io")
	switch {
	case psi > 0:
		share := min(stalled/psi, 1)
		text := fmt.Sprintf("some task waited for a disk %s of the time", pct(share))
		if hasQueue {
			text += fmt.Sprintf(" (queue of %s %.3g)", name, queue)
		}
		return ioPressure.cell(share, "share", "%s", text)
	case hasQueue:
		return diskQueue.cell(queue, "count", "mean queue of %s %.3g (the kernel tells no pressure)", name, queue)
	}
	return absent("neither pressure nor a disk in /proc")
}

func networkUtilisation(diffs []diff) result.USECell {
	var cell *result.USECell
	for _, direction := range []string{"in", "out"} {
		for key, speed := range diffs[len(diffs)-1].gauges {
			name, is := strings.CutPrefix(key, "net/speed/")
			if !is {
				continue
			}
			bytes, secs := total(diffs, "net/"+direction+"/"+name)
			if share := bytes / max(secs, 1e-9) / speed; secs > 0 && (cell == nil || share > *cell.Value) {
				cell = new(networkBusy.cell(share, "share", "%s %s at %s of its speed", name, direction, pct(share)))
			}
		}
	}
	if cell == nil {
		return absent("no interface tells its speed (loopback and most virtual ones do not)")
	}
	return *cell
}

func networkSaturation(diffs []diff) result.USECell {
	var drops, packets, secs float64
	for _, d := range diffs {
		dropped, ok := d.sum("net/drops/")
		sent, _ := d.sum("net/packets/")
		if ok {
			drops, packets, secs = drops+dropped, packets+sent, secs+d.seconds
		}
	}
	again, tcp := total(diffs, "tcp/again")
	sent, _ := total(diffs, "tcp/sent")
	overflows, queues := total(diffs, "tcp/overflows")
	backlog, _ := total(diffs, "tcp/backlog")
	if secs+tcp+queues == 0 {
		return absent("no network counters in /proc")
	}
	loss := max(drops/max(packets, 1), again/max(sent, 1))
	perS := (drops + again) / seconds(diffs)
	cell := networkLoss.cell(loss, "share", "%.0f packets dropped, %.0f TCP segments sent again, %.0f overflows of accept queues, %.0f of socket queues",
		drops, again, overflows, backlog)
	switch { // a share of little traffic says little
	case perS < lossPerS.high:
		cell.Level = result.LevelOK
	case perS < lossPerS.saturated && cell.Level == result.LevelSaturated:
		cell.Level = result.LevelHigh
	}
	if queueOverrun.level(overflows+backlog) == result.LevelSaturated {
		cell.Level = result.LevelSaturated
	}
	return cell
}

func networkErrors(diffs []diff) result.USECell {
	var errors float64
	found := false
	for _, d := range diffs {
		v, ok := d.sum("net/errors/")
		errors, found = errors+v, found || ok
	}
	if !found {
		return absent("no interface in /proc/net/dev")
	}
	return anyError.cell(errors, "count", "%.0f packets with an error", errors)
}
