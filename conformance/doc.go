// Package conformance holds the verdicts that promptfoo 0.123.1 gave on several
// thousand assertions, and the test that proviso gives the same. corpus/ has one
// file a topic; record.go says what a line holds, compare.go what "the same" is.
//
//	go test ./conformance -count=1 -v
//
// prints a line for every file of corpus and of every directory in
// PROVISO_CONFORMANCE (a path list, same format).
package conformance
