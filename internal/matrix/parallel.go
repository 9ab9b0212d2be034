package matrix

import (
	"iter"
	"runtime"
	"sync"
)

// batchSize is how many bytes of rows one worker reads at once.
const batchSize = 256 << 10

// batch is a group of rows that are read together. The rows refer to its bytes.
type batch struct {
	bytes   []byte
	ends    []int
	rows    []row
	damaged error         // the first error
	read    chan struct{} // receives once the rows are read
}

// AddAll adds all rows of a sequence, such as report.Rows, on all processors. A record need
// only stay valid until the next one. Damaged rows are skipped, and AddAll returns the error
// of the first.
func (b *Builder) AddAll(rows iter.Seq2[int, []byte]) error {
	processors := max(1, runtime.GOMAXPROCS(0))
	work := make(chan *batch, 2*processors)
	var workers sync.WaitGroup
	for range processors {
		workers.Go(func() {
			for x := range work {
				x.scan()
				x.read <- struct{}{}
			}
		})
	}
	var under, free []*batch // batches in flight, in row order
	var first error
	take := func() {
		x := under[0]
		under = under[1:]
		<-x.read
		if err := b.putAll(x); first == nil {
			first = err
		}
		free = append(free, x)
	}
	x := newBatch()
	send := func() {
		under = append(under, x)
		work <- x
		if len(under) > 2*processors {
			take()
		}
		if n := len(free); n > 0 {
			x, free = free[n-1], free[:n-1]
		} else {
			x = newBatch()
		}
	}
	for _, record := range rows {
		x.bytes = append(x.bytes, record...)
		if x.ends = append(x.ends, len(x.bytes)); len(x.bytes) >= batchSize {
			send()
		}
	}
	send()
	close(work)
	for len(under) > 0 {
		take()
	}
	workers.Wait()
	return first
}

func newBatch() *batch { return &batch{read: make(chan struct{}, 1)} }

// scan parses the rows of a batch.
func (x *batch) scan() {
	start := 0
	for i, end := range x.ends {
		if i == len(x.rows) {
			x.rows = append(x.rows, row{})
		}
		if err := x.rows[i].read(x.bytes[start:end]); err != nil {
			x.rows[i].column = -1
			if x.damaged == nil {
				x.damaged = err
			}
		}
		start = end
	}
}

// putAll adds the parsed rows and empties the batch.
func (b *Builder) putAll(x *batch) error {
	err := x.damaged
	for i := range x.ends {
		if x.rows[i].column < 0 {
			continue
		}
		if failed := b.put(&x.rows[i]); err == nil {
			err = failed
		}
	}
	x.bytes, x.ends, x.damaged = x.bytes[:0], x.ends[:0], nil
	if cap(x.bytes) > 4*batchSize {
		x.bytes, x.rows = nil, nil // releases the memory of one large row
	}
	return err
}
