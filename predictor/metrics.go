package predictor

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics is what /metrics shows, in a registry of its own.
type metrics struct {
	registry *prometheus.Registry
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	rows     prometheus.Counter
	ranked   prometheus.Observer // the usual case, looked up once
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "predictor_request_duration_seconds",
			Help:    "Time from the request's header read to its answer written, by route and status.",
			Buckets: prometheus.ExponentialBuckets(0.000_25, 2, 18), // 0.25 ms to 33 s
		}, []string{"route", "status"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "predictor_in_flight_requests",
			Help: "Ranking requests begun and not yet answered.",
		}),
		rows: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "predictor_rows_scored_total",
			Help: "Candidates scored by the model.",
		}),
	}
	m.registry.MustRegister(m.duration, m.inFlight, m.rows,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.ranked = m.duration.WithLabelValues(rankingPath, "200")
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// observe counts one answer. The statuses are few, the route is a constant.
func (m *metrics) observe(route string, status int, took time.Duration) {
	if route == rankingPath && status == http.StatusOK {
		m.ranked.Observe(took.Seconds())
		return
	}
	text := strconv.Itoa(status)
	if status == statusGone {
		text = "client_gone"
	}
	m.duration.WithLabelValues(route, text).Observe(took.Seconds())
}
