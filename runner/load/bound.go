package load

import "github.com/perfplan/perfplan/runner/schedule"

// A line has arrivals that wait for a place, in order: those of all hosts, or
// those of one where each host has a bound of its own, so that a slow one holds up
// no arrival for another.
type line struct {
	host   int32
	cursor schedule.Cursor // next arrival to send; where the line is that of all, while len > 0
	len    int64           // arrivals that wait
	full   int64           // when the bound was found reached, while len > 0
}

// A hostBound is the bound on requests under way to each host. Methods of the
// ledger below are called with its lock held.
type hostBound struct {
	most int   // 0: none
	busy []int // requests under way, by host
}

// boundHosts bounds the requests under way to each host. It is called before the
// first arrival.
func (q *ledger) boundHosts(s *schedule.Schedule, most int) {
	q.bound = hostBound{most, make([]int, q.hosts)}
	q.lines = make([]line, q.hosts)
	for i := range q.lines {
		q.lines[i].host = int32(i)
		share, _ := s.Shard(i, len(q.lines)) // one of as many: never an error
		q.lines[i].cursor = *share
	}
}

// lineOf is where the arrival of that index belongs.
func (q *ledger) lineOf(index int64) *line {
	return &q.lines[q.schedule.Own(index)%int64(len(q.lines))]
}

// room tells whether the bounds let an arrival of the line be sent.
func (q *ledger) room(ln *line) bool {
	return q.inFlight < q.max && (q.bound.most == 0 || q.bound.busy[ln.host] < q.bound.most)
}

// seats is how many seats there may be for a host.
func (q *ledger) seats() int {
	if q.bound.most > 0 {
		return q.bound.most
	}
	return q.max
}

// first is the line whose first arrival is to be sent next; nil: none can be.
func (q *ledger) first() (first *line) {
	if q.backlog == 0 {
		return nil
	}
	for i := range q.lines {
		if ln := &q.lines[i]; ln.len > 0 && q.room(ln) && (first == nil || ln.cursor.Index() < first.cursor.Index()) {
			first = ln
		}
	}
	return first
}

// longest is the line with the most arrivals.
func (q *ledger) longest() *line {
	longest := &q.lines[0]
	for i := range q.lines {
		if q.lines[i].len > longest.len {
			longest = &q.lines[i]
		}
	}
	return longest
}

func (q *ledger) enter(host int32) {
	q.inFlight++
	if q.bound.most > 0 {
		q.bound.busy[host]++
	}
}

func (q *ledger) leave(host int32) {
	q.inFlight--
	if q.bound.most > 0 {
		q.bound.busy[host]--
	}
}

// admit puts a new seat among the idle ones.
func (q *queue[S]) admit(w S) {
	q.mu.Lock()
	defer q.mu.Unlock()
	own := &q.idle[w.thread()][w.at()]
	own.opened++
	q.opened[w.at()]++
	own.push(w)
}
