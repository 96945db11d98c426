// Package kts is the known-truth server: an HTTP/1.1 server that answers by a
// law, so that what a load generator must report is known from a formula.
//
// A Mode is the law and its parameters. The server is one thread that waits for
// sockets and for a timer, and holds each answer until an absolute time: the
// arrival, as the kernel stamped it, plus what the law says. Each request is
// logged with its arrival and its release, so a run can be judged against what
// the server did as well as against the formula.
//
// It is for trusted clients on the loopback: it reads what well-behaved HTTP/1.1
// clients send, and no more. It needs Linux.
package kts

// LogPath answers with the Log as JSON. Requests for it are not logged.
const LogPath = "/__kts/log"

// SeqHeader is the request header, lower case, whose number is logged as Seq.
const SeqHeader = "kts-seq"
