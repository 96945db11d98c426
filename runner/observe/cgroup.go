package observe

import (
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// cpuQuota is the number of cores that control groups leave us, the least along the path to the root; 0 is no bound.
// Version 2 has "cpu.max" with "quota period", version 1 two files.
func cpuQuota(proc, cgroups string) float64 {
	b, err := os.ReadFile(filepath.Join(proc, "self/cgroup"))
	if err != nil {
		return 0
	}
	least := 0.0
	note := func(quota, period string) {
		q, err1 := strconv.ParseFloat(quota, 64) // "max" and -1 are no bound
		p, err2 := strconv.ParseFloat(period, 64)
		if err1 == nil && err2 == nil && q > 0 && p > 0 && (least == 0 || q/p < least) {
			least = q / p
		}
	}
	for line := range strings.Lines(string(b)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		for dir := path.Clean("/" + f[2]); ; dir = path.Dir(dir) {
			if f[0] == "0" {
				if f := strings.Fields(text(cgroups, dir, "cpu.max")); len(f) == 2 {
					note(f[0], f[1])
				}
			} else if strings.Contains(","+f[1]+",", ",cpu,") {
				note(text(cgroups, "cpu", dir, "cpu.cfs_quota_us"), text(cgroups, "cpu", dir, "cpu.cfs_period_us"))
			}
			if dir == "/" {
				break
			}
		}
	}
	return least
}

// text is the content of a small file, "" when there is none.
func text(elements ...string) string {
	b, _ := os.ReadFile(filepath.Join(elements...))
	return strings.TrimSpace(string(b))
}
