// Package runs reads kept runs for the gate: the verdicts of a whole run in one pass
// that skips every text, and the texts of single rows.
//
// Start at [Read], and at [TextsOf] for what a report shows of a row.
package runs
