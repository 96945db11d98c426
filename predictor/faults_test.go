package predictor

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

const smallRequest = `{"user_id":7,"candidate_count":1000,"limit":5}`

func TestFaultsCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		f    Faults
		want string // "" for no error
	}{
		{Faults{}, ""},
		{Faults{RowCost: time.Microsecond, Delay: time.Second, ErrorRatio: 1, StallLength: 1, StallPeriod: 2, Workers: 1}, ""},
		{Faults{RowCost: -1}, "--fault-row-cost: got -1ns, want 0 to 1s"},
		{Faults{Delay: time.Hour}, "--fault-delay: got 1h0m0s, want 0 to 1m0s"},
		{Faults{ErrorRatio: 1.01}, "--fault-error-ratio: got 1.01, want 0 to 1"},
		{Faults{ErrorRatio: -0.1}, "--fault-error-ratio"},
		{Faults{StallLength: time.Second}, "want both or neither"},
		{Faults{StallPeriod: time.Second}, "want both or neither"},
		{Faults{StallLength: time.Second, StallPeriod: time.Second}, "--fault-stall-length: got 1s, want less than the period"},
		{Faults{Workers: -1}, "--fault-workers: got -1"},
	}
	for _, tt := range tests {
		err := tt.f.Check()
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%+v.Check() = %v, want %q", tt.f, err, tt.want)
		}
	}
	if err := (Faults{Delay: -1, Workers: -1}).Check(); strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("two faults are not both reported: %v", err)
	}
}

func TestFaultDelay(t *testing.T) {
	t.Parallel()
	url := start(t, Config{Faults: Faults{Delay: 80 * time.Millisecond}})
	begin := time.Now()
	rankOK(t, url, smallRequest)
	if took := time.Since(begin); took < 80*time.Millisecond {
		t.Errorf("request took %v, want 80ms or more", took)
	}
}

func TestFaultRowCost(t *testing.T) {
	t.Parallel()
	url := start(t, Config{Faults: Faults{RowCost: 100 * time.Microsecond}})
	begin := time.Now()
	rankOK(t, url, smallRequest)
	if took := time.Since(begin); took < 100*time.Millisecond {
		t.Errorf("1000 rows took %v, want 100ms or more", took)
	}
}

func TestFaultErrorRatio(t *testing.T) {
	t.Parallel()
	url := start(t, Config{Faults: Faults{ErrorRatio: 0.15}})
	failed := 0
	for range 200 {
		resp, b := send(t, url, smallRequest)
		switch resp.StatusCode {
		case http.StatusOK:
		case http.StatusInternalServerError:
			failed++
			checkError(t, "", resp, b, 500, "service", "on purpose")
		default:
			t.Fatalf("got %s", resp.Status)
		}
	}
	if failed != 30 {
		t.Errorf("%d of 200 requests failed, want 30", failed)
	}
}

func TestFaultStall(t *testing.T) {
	t.Parallel()
	const length = 60 * time.Millisecond
	begin := time.Now()
	// Nearly all the time is stall, so each request ends a period or later.
	url := start(t, Config{Faults: Faults{StallLength: length, StallPeriod: length + 1}})
	for range 3 {
		rankOK(t, url, smallRequest)
	}
	if took := time.Since(begin); took < 3*length {
		t.Errorf("three requests took %v, want %v or more", took, 3*length)
	}
}

func TestStallLeft(t *testing.T) {
	t.Parallel()
	s := newSaboteur(Faults{StallLength: 2 * time.Second, StallPeriod: 10 * time.Second})
	tests := []struct{ at, want time.Duration }{
		{0, 0}, {7999 * time.Millisecond, 0}, {8 * time.Second, 2 * time.Second}, {9 * time.Second, time.Second},
		{10 * time.Second, 0}, {17 * time.Second, 0}, {19500 * time.Millisecond, 500 * time.Millisecond},
	}
	for _, tt := range tests {
		if got := s.stallLeft(tt.at); got != tt.want {
			t.Errorf("stallLeft(%v) = %v, want %v", tt.at, got, tt.want)
		}
	}
}

func TestFaultWorkers(t *testing.T) {
	t.Parallel()
	const delay = 50 * time.Millisecond
	url := start(t, Config{Faults: Faults{Workers: 2, Delay: delay}})
	begin := time.Now()
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			if resp, b := send(t, url, smallRequest); resp.StatusCode != 200 {
				t.Errorf("got %s: %s", resp.Status, b)
			}
		})
	}
	wg.Wait()
	if took := time.Since(begin); took < 3*delay {
		t.Errorf("six requests at two workers took %v, want %v or more", took, 3*delay)
	}
}

// What is over the bound is refused at once, also while others wait for a
// worker; a client that leaves makes room.
func TestOverload(t *testing.T) {
	t.Parallel()
	url := start(t, Config{MaxInFlight: 3, Faults: Faults{Workers: 1, Delay: time.Minute}})
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+rankingPath, strings.NewReader(smallRequest))
			if err != nil {
				t.Error(err)
				return
			}
			req.Header.Set("Content-Type", "application/json")
			if _, err := http.DefaultClient.Do(req); !errors.Is(err, context.Canceled) {
				t.Errorf("request in flight ended with %v", err)
			}
		})
	}
	waitFor(t, url, "predictor_in_flight_requests 3\n")
	for range 3 {
		resp, b := send(t, url, smallRequest)
		checkError(t, "over the bound", resp, b, 503, "service", "overloaded: 3 requests are in flight")
		if got := resp.Header.Get("Retry-After"); got != "1" {
			t.Errorf("Retry-After = %q, want 1", got)
		}
	}
	if status, _ := get(t, url+"/healthz"); status != 200 {
		t.Errorf("/healthz = %d under overload, want 200", status)
	}
	leave()
	wg.Wait()
	waitFor(t, url, "predictor_in_flight_requests 0\n")
	waitFor(t, url, `predictor_request_duration_seconds_count{route="/predictor/v1/get-ranking",status="client_gone"} 3`)
	waitFor(t, url, `predictor_request_duration_seconds_count{route="/predictor/v1/get-ranking",status="503"} 3`)
}

// waitFor reads the metrics until they hold a text.
func waitFor(t *testing.T, url, want string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if _, text := get(t, url+"/metrics"); strings.Contains(text, want) {
			return
		}
	}
	t.Fatalf("metrics never held %q", want)
}
