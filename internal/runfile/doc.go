// Package runfile keeps the record of a run: one append-only JSON Lines file per
// run, <dir>/<time>-<id>/run.jsonl. The first line is a [Header], then comes one
// line per finished row in the order in which rows finished, and, once the run is
// complete, a trailer with its totals. A row begins with {"index":N, so that the
// rows are found, and read back in index order, without decoding them.
//
// Start at [Create] to write a run, at [Resume] to go on with one, and at [Open]
// to read one.
package runfile
