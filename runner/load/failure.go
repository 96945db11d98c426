package load

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/perfplan/perfplan/runner/result"
)

// The kinds of failures, as result.Error names them.
const (
	kindTimeout     = "timeout"
	kindRefused     = "refused"
	kindReset       = "reset"
	kindClosed      = "closed"
	kindUnreachable = "unreachable"
	kindStatus      = "status"
	kindExpect      = "expect"
	kindTLS         = "tls"
	kindProtocol    = "protocol"
	kindRedirects   = "redirects"
	kindDescriptors = "descriptors"
	kindPorts       = "ports"
	kindMemory      = "memory"
	kindNetwork     = "network"
)

// maxExample bounds the text of an error in a record, in bytes.
const maxExample = 300

// A failure is why a request was not completed.
type failure struct {
	kind string
	text string
	of   string // of kindExpect: the expectation that was not met
	body []byte // and an answer that did not meet it: of the first
}

// class tells whose fault a kind is.
func (f *failure) class() string {
	switch f.kind {
	case kindDescriptors, kindPorts, kindMemory:
		return result.ClassGenerator
	}
	return result.ClassTarget
}

// outcome is the end of a request that f is the failure of; f may be nil.
func (f *failure) outcome() outcome {
	switch {
	case f == nil:
		return completed
	case f.kind == kindTimeout:
		return timedOut
	}
	return failed
}

// connectFailure names an error of an attempt to connect.
func connectFailure(err error, address string) *failure {
	if f := classify(err, "connecting", address); f.kind != kindRefused {
		return f
	}
	return classify(err, "", address)
}

// handshakeFailure names an error of a TLS handshake.
func handshakeFailure(err error, address string) *failure {
	f := classify(err, "the TLS handshake", address)
	if f.kind == kindClosed || f.kind == kindReset || f.kind == kindNetwork {
		f.kind = kindTLS
	}
	return f
}

// lateIn is the failure of a request whose connection, or whose first byte, was not there in time.
func (e *engine) lateIn(sent bool) *failure {
	if sent {
		return &failure{kind: kindTimeout, text: fmt.Sprintf("no first byte of an answer within %v (timeouts.first_byte)", e.cfg.Timeouts.FirstByte)}
	}
	return &failure{kind: kindTimeout, text: fmt.Sprintf("no connection within %v (timeouts.connect)", e.cfg.Timeouts.Connect)}
}

// classify names a socket error. doing says what was tried, "" for reading the answer.
func classify(err error, doing, address string) *failure {
	with := func(kind, text string) *failure {
		if doing != "" {
			text += " while " + doing
		}
		return &failure{kind: kind, text: text}
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		for _, known := range socketErrors {
			if errno == known.errno {
				return with(known.kind, strings.ReplaceAll(known.text, "ADDRESS", address))
			}
		}
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		return with(kindTimeout, "no answer within the timeout")
	case errors.Is(err, errNoAnswer), errors.Is(err, errCutShort):
		return with(kindClosed, err.Error())
	case errors.Is(err, errNotHTTP):
		return with(kindProtocol, err.Error())
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return with(kindClosed, "connection closed")
	case isTLS(err):
		return with(kindTLS, err.Error())
	}
	return with(kindNetwork, err.Error())
}

// isTimeout knows the error by which a dialer and crypto/tls say that time is up.
func isTimeout(err error) bool {
	t, ok := errors.AsType[net.Error](err)
	return ok && t.Timeout()
}

func isTLS(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return true
	}
	return strings.Contains(err.Error(), "tls: ")
}

// socketErrors are the errors of the operating system that have a name here.
var socketErrors = []struct {
	errno      syscall.Errno
	kind, text string
}{
	{syscall.ECONNREFUSED, kindRefused, "connection refused by ADDRESS"},
	{syscall.ECONNRESET, kindReset, "connection reset by ADDRESS"},
	{syscall.EPIPE, kindClosed, "connection closed by ADDRESS"},
	{syscall.ECONNABORTED, kindReset, "connection aborted by ADDRESS"},
	{syscall.ETIMEDOUT, kindTimeout, "no answer from ADDRESS on the network's own timeout"},
	{syscall.ENOENT, kindRefused, "there is no socket ADDRESS"},
	{syscall.EACCES, kindUnreachable, "no permission to connect to ADDRESS"},
	{syscall.EHOSTUNREACH, kindUnreachable, "no route to ADDRESS"},
	{syscall.ENETUNREACH, kindUnreachable, "network of ADDRESS is unreachable"},
	{syscall.EMFILE, kindDescriptors, "the load generator has no file descriptors left (see ulimit -n)"},
	{syscall.ENFILE, kindDescriptors, "the load generator's machine has no file descriptors left"},
	{syscall.EADDRNOTAVAIL, kindPorts, "the load generator has no local ports left for ADDRESS (see net.ipv4.ip_local_port_range)"},
	{syscall.ENOBUFS, kindMemory, "the load generator has no socket buffers left"},
	{syscall.ENOMEM, kindMemory, "the load generator has no memory left"},
}
