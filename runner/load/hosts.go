package load

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfplan/perfplan/plans"
)

// A Host is one address that load is spread over.
type Host struct {
	Address   string      // IP address and port as dialled, IPv6 in brackets; or unix: and the path of a socket
	Name      string      // whose address it is, as looked up; "" for one that was given
	Scheme    string      // "http" or "https"
	Authority string      // what the Host header says unless the request sets it: host, and the port if not the scheme's own
	Prefix    string      // goes before each request's path; no trailing slash
	TLS       *tls.Config // nil for http

	// LookedUp is how long the look-up of the URL's name took, at the first of its addresses; 0 at the others and where
	// the URL has an IP address.
	LookedUp time.Duration
}

// dualProbe bounds the look at which address family of a name answers.
const dualProbe = time.Second

// Resolve returns the addresses of a target: for each URL in the plan's order
// every address of its host, IPv4 first, in ascending order. Load goes to them
// in turn: arrival i to host i mod n. Names are looked up here; Config.Refresh
// looks them up again.
//
// A name with addresses of both families, as localhost often is, names one
// server that may listen on one of them only; a family none of whose addresses
// accepts a connection is left out then, unless neither does.
func Resolve(ctx context.Context, t *plans.Target) ([]Host, error) {
	return resolve(ctx, net.DefaultResolver, t)
}

func resolve(ctx context.Context, dns *net.Resolver, t *plans.Target) ([]Host, error) {
	if len(t.URLs) == 0 {
		return nil, fmt.Errorf("target %q has no URL", t.Name)
	}
	var hosts []Host
	for _, u := range t.URLs {
		h := Host{Scheme: u.Scheme, Authority: authority(u), Prefix: u.Path}
		if u.Scheme == "https" {
			var err error
			if h.TLS, err = tlsConfig(u, t.TLS); err != nil {
				return nil, err
			}
		}
		if t.Unix != "" {
			h.Address = unixPrefix + t.Unix
			hosts = append(hosts, h.ownSessions(t.TLS))
			continue
		}
		for _, peer := range t.Peers(u) {
			more, err := hostsAt(ctx, dns, peer, h, t.TLS)
			if err != nil {
				return nil, err
			}
			hosts = append(hosts, more...)
		}
	}
	return hosts, nil
}

// hostsAt are hosts like h, one at each address of the peer that connections go to.
func hostsAt(ctx context.Context, dns *net.Resolver, peer plans.URL, h Host, t plans.TLS) ([]Host, error) {
	addrs, took, err := lookup(ctx, dns, peer)
	if err != nil {
		return nil, err
	}
	if !isIP(peer.Host) {
		h.Name = peer.Host
	}
	hosts := make([]Host, len(addrs))
	for i, a := range addrs {
		h.Address = netip.AddrPortFrom(a, uint16(peer.Port)).String()
		hosts[i] = h.ownSessions(t)
	}
	hosts[0].LookedUp = took
	return hosts, nil
}

// unixPrefix begins the address of a Unix socket.
const unixPrefix = "unix:"

// endpoint is the network of an address, and the address there.
func endpoint(address string) (network, at string) {
	if path, ok := strings.CutPrefix(address, unixPrefix); ok {
		return "unix", path
	}
	return "tcp", address
}

// ownSessions gives h a place for the TLS session that its connections resume. What resumes is the last one.
func (h Host) ownSessions(t plans.TLS) Host {
	if h.TLS != nil && !t.NoResume {
		h.TLS = h.TLS.Clone()
		h.TLS.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	}
	return h
}

// lookup returns the addresses of a URL's host, and how long their look-up took;
// 0: there was none.
func lookup(ctx context.Context, dns *net.Resolver, u plans.URL) (_ []netip.Addr, took time.Duration, _ error) {
	if a, err := netip.ParseAddr(u.Host); err == nil {
		return []netip.Addr{a}, 0, nil
	}
	begun := time.Now()
	addrs, err := addressesFor(ctx, dns, u.Host)
	took = max(time.Since(begun), 1)
	if err != nil {
		return nil, took, err
	}
	return oneFamily(ctx, addrs, u.Port), took, nil
}

func isIP(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// addressesFor looks a name up. Its addresses are ordered, and at least one.
func addressesFor(ctx context.Context, dns *net.Resolver, name string) ([]netip.Addr, error) {
	addrs, err := dns.LookupNetIP(ctx, "ip", name)
	if err != nil {
		if e, ok := errors.AsType[*net.DNSError](err); ok && e.IsNotFound {
			return nil, fmt.Errorf("no address found for host %q", name)
		}
		return nil, fmt.Errorf("cannot look up host %q: %w", name, err)
	}
	for i, a := range addrs {
		addrs[i] = a.Unmap()
	}
	slices.SortFunc(addrs, netip.Addr.Compare) // IPv4 sorts before IPv6
	addrs = slices.Compact(addrs)
	if len(addrs) == 0 {
		return nil, fmt.Errorf("no address found for host %q", name)
	}
	return addrs, nil
}

// oneFamily leaves out the family that does not answer, see Resolve.
func oneFamily(ctx context.Context, addrs []netip.Addr, port int) []netip.Addr {
	split := slices.IndexFunc(addrs, netip.Addr.Is6)
	if split < 1 { // all of one family
		return addrs
	}
	v4, v6 := addrs[:split], addrs[split:]
	switch ok4, ok6 := anyAccepts(ctx, v4, port), anyAccepts(ctx, v6, port); {
	case ok4 && !ok6:
		return v4
	case ok6 && !ok4:
		return v6
	}
	return addrs
}

func anyAccepts(ctx context.Context, addrs []netip.Addr, port int) bool {
	d := net.Dialer{Timeout: dualProbe}
	return slices.ContainsFunc(addrs, func(a netip.Addr) bool {
		c, err := d.DialContext(ctx, "tcp", netip.AddrPortFrom(a, uint16(port)).String())
		if err != nil {
			return false
		}
		c.Close()
		return true
	})
}

// authority is the URL's host and, unless it is the scheme's default, port.
func authority(u plans.URL) string {
	host := u.Host
	if strings.Contains(host, ":") {
		addr, _, _ := strings.Cut(host, "%") // a zone means nothing to the server
		host = "[" + addr + "]"
	}
	if u.Scheme == "http" && u.Port == 80 || u.Scheme == "https" && u.Port == 443 {
		return host
	}
	return host + ":" + strconv.Itoa(u.Port)
}

func tlsConfig(u plans.URL, t plans.TLS) (*tls.Config, error) {
	c := &tls.Config{ServerName: t.ServerName, InsecureSkipVerify: t.SkipVerify, NextProtos: []string{"http/1.1"}}
	if c.ServerName == "" {
		c.ServerName = u.Host
	}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("cannot read the CA file: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("no certificate in the CA file %q", t.CAFile)
		}
	}
	if t.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("cannot use the client certificate: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
