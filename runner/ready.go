package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/load"
)

const (
	readyEvery = 25 * time.Millisecond
	// strangerWait is how long a target that perfplan did not start may take to accept a connection when the plan
	// names no path to ask for.
	strangerWait = time.Second
)

// await waits until every endpoint of the instance answers. Its error says in one line what the last try met.
func (in *instance) await(ctx context.Context) error {
	within := in.target.Ready.Within
	if in.proc == nil && in.target.Ready.Path == "" {
		within = min(within, strangerWait)
	}
	deadline := time.Now().Add(within)
	for _, e := range in.ends {
		client, err := readyClient(ctx, in.target, e)
		if err != nil {
			return fmt.Errorf("target %s: %w", in.target.Name, err)
		}
		for {
			err := in.ask(ctx, client, e)
			if err == nil {
				break
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if in.ended() != "" {
				return fmt.Errorf("before it was ready, %w", in.lost())
			}
			if time.Now().After(deadline) {
				return in.notReady(e, within, err)
			}
			time.Sleep(readyEvery)
		}
	}
	return nil
}

func (in *instance) notReady(e plans.Endpoint, within time.Duration, err error) error {
	if in.proc == nil && in.target.Ready.Path == "" {
		return fmt.Errorf("target %s: nothing answers at %s: %w (is it running?)", in.target.Name, place(e, ""), err)
	}
	err = fmt.Errorf("target %s is not ready after %v: %s: %w", in.target.Name, within, place(e, in.target.Ready.Path), err)
	if in.proc != nil {
		if tail := in.proc.LogTail(5); tail != "" {
			err = fmt.Errorf("%w; its last output:\n%s", err, tail)
		}
	}
	return err
}

// ask tries once: GET the ready path, or a connection without one.
func (in *instance) ask(ctx context.Context, client *http.Client, e plans.Endpoint) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if in.target.Ready.Path == "" {
		var d net.Dialer
		c, err := d.DialContext(ctx, e.Network, e.Address)
		if err != nil {
			return cause(err)
		}
		return c.Close()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.URL.String()+in.target.Ready.Path, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return cause(err)
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("it answers %s", resp.Status)
	}
	return nil
}

// readyClient asks with the TLS settings that the load will have. It is not what measures.
func readyClient(ctx context.Context, t *plans.Target, e plans.Endpoint) (*http.Client, error) {
	transport := &http.Transport{DisableKeepAlives: true}
	if e.Elsewhere() {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, e.Network, e.Address)
		}
	}
	if t.URLs[0].Scheme == "https" {
		hosts, err := load.Resolve(ctx, t)
		if err != nil {
			return nil, err
		}
		transport.TLSClientConfig = hosts[0].TLS
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// cause is the innermost error of a failed connection: the outer ones repeat the address.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err
	}
	return err
}
