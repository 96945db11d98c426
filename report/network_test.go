package report

import (
	"strings"
	"testing"

	"github.com/perfplan/perfplan/runner/result"
)

// The line about the wire tells how connections came about.
func TestNetworkLine(t *testing.T) {
	secure := result.Wire{Attempts: 20, Opened: 20, Resumed: 19, TLS: result.Distribution{Count: 20}}
	for _, c := range []struct {
		load result.Load
		want string
	}{
		{result.Load{Wire: result.Wire{Attempts: 20, Opened: 2, Reused: 18}}, "20 attempts, 2 connections opened, 18 requests sent on one used before"},
		{result.Load{Wire: secure}, "20 connections opened (of them 19 resumed a TLS session), 0 requests"},
		{result.Load{Connections: 4, Hosts: make([]result.Host, 2), Wire: result.Wire{Opened: 9, Ahead: 8}}, "9 connections opened (of them 8 before the first arrival), 0"},
		{result.Load{Connections: 4, Hosts: make([]result.Host, 2), Wire: result.Wire{Opened: 9, Ahead: 7}}, "(of them 7 of 8 before the first arrival)"},
	} {
		if got := strings.Join(networkPart(&c.load).Lines, "\n"); !strings.Contains(got, c.want) {
			t.Errorf("network line = %q, want %q in it", got, c.want)
		}
	}
}
