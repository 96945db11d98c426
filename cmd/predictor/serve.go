package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/perfplan/perfplan/predictor"
	"github.com/perfplan/perfplan/predictor/data"
	"github.com/perfplan/perfplan/predictor/model"
)

// serveOptions are the flags of serve.
type serveOptions struct {
	listen   string
	model    string
	shutdown time.Duration
	service  predictor.Config
}

func serveFlags(o *serveOptions) *flag.FlagSet {
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	f.StringVar(&o.listen, "listen", "127.0.0.1:8080", "`address` to listen on; port 0 takes a free one")
	f.StringVar(&o.model, "model", "", "model `file` (default the embedded one)")
	f.DurationVar(&o.shutdown, "shutdown-timeout", 10*time.Second, "how long to wait for requests in flight at the end")
	c := &o.service
	f.IntVar(&c.MaxInFlight, "max-in-flight", predictor.DefaultMaxInFlight, "ranking requests at once; more are answered 503")
	f.BoolVar(&c.SlowPath, "slow-path", false, "score row by row, to show what a regression looks like")
	f.DurationVar(&c.Faults.RowCost, "fault-row-cost", 0, "fault: busy CPU time added to each scored row")
	f.DurationVar(&c.Faults.Delay, "fault-delay", 0, "fault: wait added to each ranking request")
	f.Float64Var(&c.Faults.ErrorRatio, "fault-error-ratio", 0, "fault: share of ranking requests answered 500, 0 to 1")
	f.DurationVar(&c.Faults.StallLength, "fault-stall-length", 0, "fault: nothing goes on for this long at the end of each period")
	f.DurationVar(&c.Faults.StallPeriod, "fault-stall-period", 0, "fault: from the end of a stall to the end of the next")
	f.IntVar(&c.Faults.Workers, "fault-workers", 0, "fault: ranking requests served at a time, others wait (0: no limit)")
	return f
}

// serve answers requests until ctx ends, then finishes those in flight.
func serve(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o serveOptions
	if err := parse(serveFlags(&o), args, stdout); err != nil {
		return err
	}
	if o.shutdown <= 0 {
		return usageError{fmt.Errorf("--shutdown-timeout: got %v, want more than 0", o.shutdown)}
	}
	if err := o.service.Faults.Check(); err != nil {
		return usageError{err}
	}
	if o.service.MaxInFlight < 1 {
		return usageError{fmt.Errorf("--max-in-flight: got %d, want 1 or more", o.service.MaxInFlight)}
	}
	log := slog.New(slog.NewJSONHandler(stderr, nil))
	// The port is taken before the model is read, so that a taken one is known at
	// once; connections wait in the backlog.
	ln, err := net.Listen("tcp", o.listen)
	if err != nil {
		return err
	}
	defer ln.Close()
	service, err := newService(o)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           service,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      2 * time.Minute, // a CPU profile of 30 s and the longest delay fit
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(ln) }()
	service.SetReady(true)
	log.Info("listening", "address", ln.Addr().String(), "max_in_flight", o.service.MaxInFlight,
		"slow_path", o.service.SlowPath, "faults", fmt.Sprintf("%+v", o.service.Faults))
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	log.Info("stopping", "timeout", o.shutdown.String())
	service.SetReady(false)
	wait, cancel := context.WithTimeout(context.Background(), o.shutdown)
	defer cancel()
	if err := server.Shutdown(wait); err != nil {
		server.Close()
		return fmt.Errorf("requests were still in flight after %v: %w", o.shutdown, err)
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	log.Info("stopped")
	return nil
}

func newService(o serveOptions) (*predictor.Service, error) {
	m, err := loadModel(o.model)
	if err != nil {
		return nil, err
	}
	ds, err := model.ReadDataset(data.Ratings(), data.Movies())
	if err != nil {
		return nil, err
	}
	return predictor.New(m, ds.Movies, o.service)
}
