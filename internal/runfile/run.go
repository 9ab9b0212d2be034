// Package runfile keeps the record of a run: one append-only JSON Lines file per run,
// <dir>/<time>-<id>/run.jsonl. The first line is a [Header], followed by one line per finished
// row in the order in which rows finished and, once the run is complete, a trailer with its
// totals. A row begins with {"index":N, so that rows can be found, and read back in index
// order, without decoding them.
//
// Start at [Create] to write a run, at [Resume] to continue one, and at [Open] to read one.
package runfile

import "iter"

// Run is a kept run that can be read: a [Reader] of a file, or a run in a server's store. It
// must not be used concurrently.
type Run interface {
	// Path returns where the run is kept, for messages.
	Path() string
	// Header returns the input of the run.
	Header() Header
	// Trailer returns the totals that closed the run, or nil if it is unfinished.
	Trailer() []byte
	// Len returns the number of rows.
	Len() int
	// Rows yields index and record of every row in index order. A record is valid until the
	// next one. Err then returns why the sequence ended early, or nil.
	Rows() iter.Seq2[int, []byte]
	Err() error
	// Row returns one row by its index.
	Row(index int) ([]byte, error)
}

var _ Run = (*Reader)(nil)
