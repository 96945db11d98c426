package load

import "github.com/perfplan/perfplan/runner/result"

// A windowCount counts what became of the requests of windows of equal length, by intended time.
type windowCount struct{ result.Windows }

func newWindows(cfg *Config) (all []*windowCount) {
	for _, length := range cfg.Windows {
		w := &windowCount{result.Windows{LengthNS: int64(length)}}
		w.OverResponse, w.OverService = make([][]int64, len(cfg.LimitsNS)), make([][]int64, len(cfg.LimitsNS))
		all = append(all, w)
	}
	return all
}

// add counts a request that has ended.
func (w *windowCount) add(s *sample, limits []int64) {
	i := int(max(s.intended, 0) / w.LengthNS)
	for len(w.Offered) <= i {
		w.Offered, w.Bad = append(w.Offered, 0), append(w.Bad, 0)
		for k := range limits {
			w.OverResponse[k], w.OverService[k] = append(w.OverResponse[k], 0), append(w.OverService[k], 0)
		}
	}
	w.Offered[i]++
	if s.outcome != completed {
		w.Bad[i]++
	}
	for k, limit := range limits {
		if s.outcome != completed || s.end-s.intended > limit {
			w.OverResponse[k][i]++
		}
		if s.outcome != dropped && (s.outcome != completed || s.end-s.sent > limit) {
			w.OverService[k][i]++
		}
	}
}

// records are the counts of all windows.
func records(all []*windowCount) (list []result.Windows) {
	for _, w := range all {
		list = append(list, w.Windows)
	}
	return list
}
