// Package rowscan reads the verdicts of a row of a run without decoding its texts: a
// scanner of JSON bytes, and the names of assertions. Start at [New].
package rowscan
