package main

import (
	"math"
	"slices"
	"time"

	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/stats"
)

// A truth is a distribution of times, in ns: its quantiles and its mean.
type truth struct {
	q    func(p float64) float64 // does not fall as p, from 0 to 1, rises
	mean float64
}

// point is the truth of a fixed time.
func point(d time.Duration) truth {
	return truth{func(float64) float64 { return float64(d) }, float64(d)}
}

// stalled is the truth of d + max(0, s-φ), φ uniform on [0, w): of a stall of
// length s once in w. P(R > d+x) = (s-x)/w, so Q(p) = d + max(0, s-(1-p)w).
func stalled(d, s, w time.Duration) truth {
	return truth{
		func(p float64) float64 { return float64(d) + max(0, float64(s)-(1-p)*float64(w)) },
		float64(d) + float64(s)*float64(s)/(2*float64(w)),
	}
}

// drained is the truth of a stall of length s once in t before one server with
// utilisation rho and the given service time, as a fluid: the backlog stretches
// the tail of stalled by 1/(1-rho).
func drained(service, s, t time.Duration, rho float64) truth {
	return stalled(service, s, time.Duration((1-rho)*float64(t)))
}

// bimodal is the truth of d2 for every m-th request and d for the others.
func bimodal(d, d2 time.Duration, m int64) truth {
	share := 1 / float64(m)
	return truth{
		func(p float64) float64 {
			if p <= 1-share {
				return float64(d)
			}
			return float64(d2)
		},
		(1-share)*float64(d) + share*float64(d2),
	}
}

// uniform is the truth of a time evenly spread over [a, b]: of a queue that grows
// at a constant rate, and of a ladder.
func uniform(a, b time.Duration) truth {
	return truth{func(p float64) float64 { return float64(a) + p*float64(b-a) }, float64(a+b) / 2}
}

// exponential is the truth of an exponential time with the given rate per second:
// of M/M/1 with rate mu-lambda, of D/M/1 with rate mu(1-sigma).
func exponential(rate float64) truth {
	return truth{func(p float64) float64 { return -math.Log1p(-p) / rate * 1e9 }, 1e9 / rate}
}

// sigma is the root below 1 of sigma = exp(-(1-sigma)/rho), for D/M/1.
func sigma(rho float64) float64 {
	s := 0.0
	for range 10_000 {
		s = math.Exp(-(1 - s) / rho)
	}
	return s
}

// sampled is the truth of a list of times: its nearest-rank quantiles.
func sampled(ns []float64) truth {
	all := slices.Sorted(slices.Values(ns))
	sum := 0.0
	for _, x := range all {
		sum += x
	}
	return truth{
		func(p float64) float64 {
			i := int(math.Ceil(p*float64(len(all))*(1-1e-12))) - 1
			return all[min(max(i, 0), len(all)-1)]
		},
		sum / float64(len(all)),
	}
}

// lindley returns the response times of a queue with one server, first come
// first served: W(k+1) = max(0, W(k) + S(k) - A(k+1)).
func lindley(arrivals, services []time.Duration) []float64 {
	var free time.Duration
	all := make([]float64, len(arrivals))
	for i, at := range arrivals {
		free = max(free, at) + services[i]
		all[i] = float64(free - at)
	}
	return all
}

// over is P(R > x).
func (t truth) over(x float64) float64 {
	if t.q(1) <= x {
		return 0
	}
	lo, hi := 0.0, 1.0 // q(hi) > x
	for range 60 {
		if mid := (lo + hi) / 2; t.q(mid) > x {
			hi = mid
		} else {
			lo = mid
		}
	}
	return 1 - hi
}

// quantiles is what a tool reports: the smallest time, in ns, that the share p
// does not exceed.
type quantiles func(p float64) float64

func quantilesOf(h *hist.Hist) quantiles {
	return func(p float64) float64 {
		ns, ok := h.Quantile(p)
		if !ok {
			return math.NaN()
		}
		return float64(ns)
	}
}

// w1 is the area between the two distribution functions, over the truth's mean.
func (t truth) w1(q quantiles) float64 {
	const steps = 1000
	area := 0.0
	for i := range steps {
		p := (float64(i) + 0.5) / steps
		area += math.Abs(q(p) - t.q(p))
	}
	return area / steps / t.mean
}

// gapsCV is the coefficient of variation of the gaps between ascending times.
func gapsCV(at []float64) float64 {
	n := float64(len(at) - 1)
	mean := (at[len(at)-1] - at[0]) / n
	square := 0.0
	for i := range at[1:] {
		gap := at[i+1] - at[i]
		square += (gap - mean) * (gap - mean)
	}
	return math.Sqrt(square/n) / mean
}

// dispersion is the index of dispersion of counts, variance over mean, in windows
// of the given width from start to end.
func dispersion(at []float64, start, end, width float64) float64 {
	counts := make([]float64, int((end-start)/width))
	for _, x := range at {
		if i := int(math.Floor((x - start) / width)); i >= 0 && i < len(counts) {
			counts[i]++
		}
	}
	n, sum, square := float64(len(counts)), 0.0, 0.0
	for _, c := range counts {
		sum += c
		square += c * c
	}
	mean := sum / n
	return (square/n - mean*mean) / mean
}

// deficit is by how many the arrivals were behind the schedule at most: those due
// and not there, but for the one that was arriving. Both lists ascend.
func deficit(due, at []float64) int {
	worst, j := 0, 0
	for k, x := range at {
		for j < len(due) && due[j] <= x {
			j++
		}
		worst = max(worst, j-k-1)
	}
	return worst
}

// kolmogorov is stats.ExponentialFit of the gaps between times, which ascend, for
// the given rate per second.
func kolmogorov(at []float64, rate float64) float64 {
	gaps := make([]float64, len(at)-1)
	for i := range gaps {
		gaps[i] = at[i+1] - at[i]
	}
	return stats.ExponentialFit(gaps, 1e9/rate)
}
