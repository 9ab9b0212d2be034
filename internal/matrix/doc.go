// Package matrix holds the verdicts of a run as bytes: one for each case, column and
// repeat, and for each of their assertions. The report embeds it, and the server sends
// it, so that a page shows 100,000 cases without their texts. Start at [Builder].
package matrix
