// Package show renders comparisons of two runs and decisions of the gate: for a terminal,
// as Markdown for the comment of a pull request, as one HTML page, and as JSON. Text from
// a suite or a model is escaped for its output format.
//
// Start at [Markdown]; the other functions take the same values.
package show
