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

// A change of address is told with its host, its time and where to.
func TestAddressChanges(t *testing.T) {
	l := &result.Load{Hosts: []result.Host{{Address: "10.0.0.1:80"}}, DNS: &result.DNS{RefreshNS: 30e9, Lookups: 5, Failed: 2, Changed: 2,
		Changes: []result.AddressChange{{TNS: 60e9, From: []string{"10.0.0.1:80"}, To: []string{"10.0.0.2:80", "10.0.0.3:80"}}}}}
	p := networkPart(l)
	want := "Names were looked up again every 30 s: 5 lookups, 2 of them without an answer, which changed nothing; 2 changes of address."
	if got := strings.Join(p.Lines, "\n"); !strings.Contains(got, want) {
		t.Errorf("lines = %q, want %q", got, want)
	}
	if len(p.More) != 1 || p.More[0].Caption != "Changes of address (1 more are not told)" || p.More[0].Rows[0][3].Text != "10.0.0.2:80, 10.0.0.3:80" {
		t.Errorf("tables = %+v, want the change", p.More)
	}
	l.DNS = &result.DNS{RefreshNS: 30e9, Lookups: 5}
	if p := networkPart(l); !strings.HasSuffix(strings.Join(p.Lines, "\n"), "5 lookups; the addresses stayed.") || len(p.More) != 0 {
		t.Errorf("part = %+v, want that nothing changed", p)
	}
}
