// Package report shows a run: to a person in a terminal, and to programs as
// files. Start at [Write] for files, whose formats are the rows of one table
// ([Formats]), and at [Terminal] for people.
//
// A row is encoded once, by [AppendRow], when it finishes, and is kept in the run
// file. Reports copy those bytes in index order; what they say of the run as a
// whole comes from a [Summary], which grows with columns and labels of
// assertions, not with rows. [FromRun] makes both out of a kept run.
package report
