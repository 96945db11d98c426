package plans

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"slices"
	"strings"
)

// build makes the plan of a tree whose values are read and whose defaults are filled in.
func (l *loader) build(top *item) *Plan {
	p := &Plan{Dir: l.dir, Name: top.get("name").value(), Description: top.get("description").value(), Source: l.text}
	if it := top.get("name"); it != nil {
		l.checkName(it.value(), plainNames, it.pos, it.path)
	}
	for _, v := range top.get("vars").children() {
		p.Vars = append(p.Vars, Var{v.name, shown(v.text, false)})
	}
	l.targets, l.requests = namesUnder(top, "targets"), namesUnder(top, "requests")
	for _, t := range top.get("targets").children() {
		p.Targets = append(p.Targets, l.target(t))
	}
	for _, r := range top.get("requests").children() {
		p.Requests = append(p.Requests, l.request(r, p.Targets))
	}
	l.flows = namesUnder(top, "flows")
	for _, f := range top.get("flows").children() {
		p.Flows = append(p.Flows, l.flow(f, p))
	}
	for _, s := range top.get("stages").all() {
		p.Stages = append(p.Stages, l.stage(s, p))
	}
	return p
}

// namesUnder are those that a map of the plan gives, nil when it could not be read.
func namesUnder(top *item, key string) []string {
	switch it := top.get(key); {
	case it != nil:
		return it.written
	case top.has(key):
		return nil
	}
	return []string{}
}

func (l *loader) target(it *item) *Target {
	t := &Target{Name: it.name, Pos: it.keyPos, Ready: Ready{Within: it.get("ready").get("within").duration()},
		Stop: it.get("stop").duration()}
	secure := l.urls(t, it.get("url"))
	l.unixSocket(t, it)
	l.connectTo(t, it)
	l.dns(t, it)
	dir := l.folder(it.get("dir"))
	if b := it.get("build"); b != nil && l.checkWords(b) {
		c := l.command(b, dir, "")
		t.Build = &c
	}
	if s := it.get("start"); s != nil && l.checkWords(s) {
		t.Start = l.starts(s, dir, t)
	}
	if r := it.get("ready").get("path"); r != nil {
		path, what := encodeTarget(r.value(), new(bool))
		if !strings.HasPrefix(path, "/") && what == "" {
			what = "path does not begin with /"
		}
		if what != "" {
			l.fault(r.fault(what, r.quoted(), "a path like /healthz", ""))
		}
		t.Ready.Path = path
	}
	t.Observe = it.has("start") && it.get("observe").get("process").isTrue()
	if tls := it.get("tls"); tls != nil {
		t.TLS = l.tls(tls)
		if !secure && len(t.URLs) > 0 {
			l.fault(tls.fault("tls without an https address", "", "", "it has no effect"))
		}
	}
	if it.has("start") {
		return t
	}
	if it.has("stop") {
		l.fault(firstOf(it.get("stop"), it).fault("stop without start", "", "", "perfplan only stops what it started"))
	}
	if it.get("observe").get("process").isTrue() {
		l.fault(it.get("observe").fault("observe without start", "", "", "perfplan only observes what it started"))
	}
	return t
}

// urls reads the addresses of a target and reports whether one of them is https.
func (l *loader) urls(t *Target, it *item) bool {
	secure := false
	for _, e := range it.all() {
		u, fault := parseURL(e.value())
		switch {
		case fault != nil:
			l.fault(e.fault(fault.what, e.quoted(), "an address like http://127.0.0.1:8080", fault.hint))
			continue
		case slices.Contains(t.URLs, u):
			l.fault(e.fault("address is listed twice", e.quoted(), "", ""))
			continue
		}
		secure = secure || u.Scheme == "https"
		t.URLs = append(t.URLs, u)
	}
	return secure
}

// starts gives the processes of a target: one for each endpoint when the command names its address, else one.
func (l *loader) starts(it *item, dir string, t *Target) []Command {
	if !usesAddress(it) {
		return []Command{l.command(it, dir, "")}
	}
	var cs []Command
	for _, e := range t.Endpoints() {
		cs = append(cs, l.command(it, dir, e.Address))
	}
	return cs
}

// folder gives the absolute path of a folder that the plan names, the plan's own for none.
func (l *loader) folder(it *item) string {
	if it == nil {
		return l.dir
	}
	full := l.path(it)
	info, err := os.Stat(full)
	switch {
	case err != nil:
		l.fault(it.fault("cannot use the folder", reason(err)+" at "+quote(full), "", ""))
	case !info.IsDir():
		l.fault(it.fault("a file, not a folder", quote(full), "", ""))
	}
	return full
}

// keyPair reads the client's certificate and its key, to see whether they can be used.
func (l *loader) keyPair(t *TLS, it *item) {
	for _, k := range []struct{ one, other string }{{"cert", "key"}, {"key", "cert"}} {
		if it.has(k.one) && !it.has(k.other) {
			l.fault(firstOf(it.get(k.one), it).fault(k.one+" without "+k.other, "", "both or none", "a client certificate needs its private key"))
			return
		}
	}
	cert, key := it.get("cert"), it.get("key")
	if cert == nil || key == nil {
		return
	}
	t.CertFile, t.KeyFile = l.path(cert), l.path(key)
	certPEM, ok := l.readFile(cert)
	keyPEM, ok2 := l.readFile(key)
	if !ok || !ok2 {
		return
	}
	if !x509.NewCertPool().AppendCertsFromPEM(certPEM) {
		l.fault(cert.fault("no certificate in the file", quote(t.CertFile), "a PEM file", ""))
		return
	}
	if block, _ := pem.Decode(keyPEM); block != nil && (block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "") {
		l.fault(key.fault("key is encrypted", quote(t.KeyFile), "a key without a pass phrase", "openssl pkey decrypts it"))
		return
	}
	if _, err := tls.X509KeyPair(certPEM, keyPEM); err != nil {
		l.fault(key.fault("key cannot be used with the certificate", strings.TrimPrefix(err.Error(), "tls: "), "the private key of "+quote(t.CertFile), ""))
	}
}

func (l *loader) tls(it *item) TLS {
	t := TLS{ServerName: it.get("server_name").value(), SkipVerify: it.get("verify") != nil && !it.get("verify").yes,
		NoResume: it.get("resume") != nil && !it.get("resume").yes}
	if ca := it.get("ca"); ca != nil {
		t.CAFile = l.path(ca)
		if b, ok := l.readFile(ca); ok && !x509.NewCertPool().AppendCertsFromPEM(b) {
			l.fault(ca.fault("no certificate in the file", quote(t.CAFile), "a PEM file", ""))
		}
	}
	l.keyPair(&t, it)
	if n := it.get("server_name"); n != nil {
		if _, _, fault := splitAuthority("https", n.value()); fault != nil || strings.Contains(n.value(), ":") {
			l.fault(n.fault("not a host name", n.quoted(), "a name like shop.example", ""))
		}
	}
	return t
}
