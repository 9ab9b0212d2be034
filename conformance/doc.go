// Package conformance holds the verdicts of promptfoo 0.123.1 on several thousand
// assertions, and the test that proviso returns the same verdicts. corpus/ has one
// file per topic; record.go documents the format of a line, compare.go what "the
// same" means.
//
//	go test ./conformance -count=1 -v
//
// prints a line for every file of corpus and of every directory in
// PROVISO_CONFORMANCE (a path list, same format).
package conformance
