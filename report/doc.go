// Package report shows a run: to a person in a terminal, and to programs as files.
// Start at [Write] for files, whose formats are the rows of one table ([Formats]),
// and at [Terminal] for people.
//
// [AppendRow] encodes a row once, when it finishes, and the run file stores it. Reports
// copy those bytes in index order. Data about the whole run comes from a [Summary], whose
// size grows with the number of columns and assertion labels, not rows. [FromRun] builds
// both from a kept run.
package report
