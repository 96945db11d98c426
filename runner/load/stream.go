package load

import (
	"sync"
	"sync/atomic"

	"github.com/perfplan/perfplan/plans"
)

// How much of a streamed table is there at once: blocks of about blockBytes, of which those after the one in use are read
// ahead, and those before it are kept for arrivals that waited.
const (
	keptBlocks  = 16
	aheadBlocks = 4
	blockBytes  = 256 << 10
)

// A stream reads the rows of a table that is too large to be kept, in order, ahead of the arrivals that need them. A row that
// is not there when an arrival needs it is read at once, so that the row of an arrival never depends on the time.
type stream struct {
	rows, per int64 // of a block
	blocks    int64
	wants     []wanted
	slots     [keptBlocks]atomic.Pointer[block]
	front     atomic.Int64 // the block used last
	ask       chan struct{}
	over      sync.WaitGroup
	failure   atomic.Pointer[error]

	mu     sync.Mutex
	reader *plans.RowReader
	row    []string
}

// A wanted is a column as a part of the request needs it.
type wanted struct {
	column int
	fit    func(string) (string, error)
}

// A block has the cells of consecutive rows.
type block struct {
	number int64
	cells  []string
}

func openStream(d *plans.Data) (*stream, error) {
	reader, err := d.OpenRows()
	if err != nil {
		return nil, err
	}
	s := &stream{rows: d.Len(), reader: reader, row: make([]string, len(d.Columns)), ask: make(chan struct{}, 1)}
	s.per = min(max(blockBytes*s.rows/max(d.Streamed.Bytes, 1), 1), s.rows)
	s.blocks = (s.rows + s.per - 1) / s.per
	return s, nil
}

// begin reads the first rows, once all wants are there, and goes on ahead.
func (s *stream) begin() error {
	s.load(0)
	if err := s.err(); err != nil {
		s.reader.Close()
		return err
	}
	s.over.Go(func() {
		for range s.ask {
			front := s.front.Load()
			for n := range int64(aheadBlocks) {
				s.block((front + n + 1) % s.blocks)
			}
		}
	})
	s.ask <- struct{}{}
	return nil
}

// at is the wanted cell of the row of arrival i.
func (s *stream) at(want int, i int64) string {
	row := i % s.rows
	number := row / s.per
	b := s.block(number)
	if s.front.Load() != number {
		s.front.Store(number)
		select {
		case s.ask <- struct{}{}:
		default:
		}
	}
	return b.cells[int(row-number*s.per)*len(s.wants)+want]
}

func (s *stream) block(number int64) *block {
	if b := s.slots[number%keptBlocks].Load(); b != nil && b.number == number {
		return b
	}
	return s.load(number)
}

// load reads a block. Where that fails its cells are empty, and the run ends.
func (s *stream) load(number int64) *block {
	s.mu.Lock()
	defer s.mu.Unlock()
	slot := &s.slots[number%keptBlocks]
	if b := slot.Load(); b != nil && b.number == number {
		return b
	}
	first := number * s.per
	n := min(s.per, s.rows-first)
	b := &block{number, make([]string, 0, int(n)*len(s.wants))}
	err := s.err()
	if err == nil {
		err = s.reader.SkipTo(first)
	}
	for range n {
		if err == nil {
			err = s.reader.Next(s.row)
		}
		for _, w := range s.wants {
			text := ""
			if err == nil {
				text, err = w.fit(s.row[w.column])
			}
			b.cells = append(b.cells, text)
		}
	}
	if err != nil {
		s.failure.CompareAndSwap(nil, &err)
	}
	slot.Store(b)
	return b
}

// err is what went wrong first.
func (s *stream) err() error {
	if err := s.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// close ends the reading. Nothing may be asked any more.
func (s *stream) close() {
	close(s.ask)
	s.over.Wait()
	s.reader.Close()
}
