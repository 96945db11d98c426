package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// A behaviour is how a test server answers, as scripts write it:
//
//	ok            200 with the body "hello"
//	500           that status
//	hang          accept and never answer
//	slow=250ms    200 after that time
//	every=10:1s   200, every tenth answer after that time
//	first=10:1s   200, the first ten answers after that time
type behaviour struct {
	status int
	hang   bool
	delay  time.Duration
	every  int64 // which answers are delayed
	first  int64 // up to which they are; 0: all
	dies   int64 // the answer before which the process ends; 0 for never
	served atomic.Int64
}

func parseBehaviour(text string) (*behaviour, error) {
	b := &behaviour{status: http.StatusOK, every: 1}
	kind, value, _ := strings.Cut(text, "=")
	var err error
	switch kind {
	case "ok":
	case "hang":
		b.hang = true
	case "slow":
		b.delay, err = time.ParseDuration(value)
	case "every":
		n, delay, _ := strings.Cut(value, ":")
		if b.every, err = strconv.ParseInt(n, 10, 64); err == nil {
			b.delay, err = time.ParseDuration(delay)
		}
	case "first":
		n, delay, _ := strings.Cut(value, ":")
		if b.first, err = strconv.ParseInt(n, 10, 64); err == nil {
			b.delay, err = time.ParseDuration(delay)
		}
	default:
		b.status, err = strconv.Atoi(kind)
	}
	if err != nil || b.every < 1 {
		return nil, fmt.Errorf("not a behaviour: got %q", text)
	}
	return b, nil
}

func (b *behaviour) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := b.served.Add(1)
	if n == b.dies {
		os.Exit(7)
	}
	if b.hang {
		<-r.Context().Done()
		return
	}
	if b.delay > 0 && n%b.every == 0 && (b.first == 0 || n <= b.first) {
		time.Sleep(b.delay)
	}
	w.WriteHeader(b.status)
	io.WriteString(w, "hello")
}

// testserver is a target that perfplan itself starts and stops. It writes its process id to -pid.
func testserver() {
	listen := flag.String("listen", "", "address")
	mode := flag.String("mode", "ok", "behaviour")
	pid := flag.String("pid", "", "file")
	stubborn := flag.Bool("stubborn", false, "do not stop at SIGTERM")
	dies := flag.Int64("dies", 0, "number of the request at which it ends by itself")
	flag.Parse()
	b, err := parseBehaviour(*mode)
	if err != nil {
		log.Fatal(err)
	}
	if *pid != "" {
		if err := os.WriteFile(*pid, []byte(strconv.Itoa(os.Getpid())), 0o666); err != nil {
			log.Fatal(err)
		}
	}
	b.dies = *dies
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go func() {
		for range stop {
			if !*stubborn {
				os.Exit(0)
			}
		}
	}()
	log.Fatal(http.ListenAndServe(*listen, b))
}
