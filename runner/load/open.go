package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// opensAtOnce bounds the attempts to connect before the first arrival that are
// under way at once: enough to be quick, few enough for a short listen queue.
const opensAtOnce = 32

// openAhead opens the connections that are to be there before the first arrival,
// and returns how many there are. One that cannot be opened now is opened by the
// arrival that needs it, whose failure it may become.
func (e *engine) openAhead(ctx context.Context) int64 {
	if e.cfg.Connections == 0 {
		return 0
	}
	e.base = time.Now()
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	var count atomic.Int64
	var wait sync.WaitGroup
	hosts := make(chan int32)
	for range opensAtOnce {
		wait.Go(func() {
			for host := range hosts {
				if ctx.Err() == nil && e.path.open(ctx, host) {
					count.Add(1)
				}
			}
		})
	}
	for range e.cfg.Connections {
		for host := range e.hosts {
			hosts <- int32(host)
		}
	}
	close(hosts)
	wait.Wait()
	return count.Load()
}

// open opens a connection for a worker that is idle.
func (e *pool) open(ctx context.Context, host int32) bool {
	deadline, _ := ctx.Deadline()
	event := sample{outcome: opened}
	c, fail := e.dialer.dial(ctx, host, e.spot(host), e.hosts[host].TLS, deadline, &event)
	if fail != nil {
		return false
	}
	w := e.worker(host)
	w.conn = c
	c.idle.Store(true)
	e.mail.put(event)
	e.queue.admit(w)
	e.workers.Go(func() {
		if j, ok := <-w.jobs; ok {
			w.run(j)
			return
		}
		w.drop()
	})
	return true
}
