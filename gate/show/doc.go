// Package show renders comparisons of two runs and decisions of the gate: for a
// terminal, as Markdown for the comment of a pull request, as one HTML page, and as
// JSON. What a suite or a model wrote is escaped for where it is shown.
//
// Start at [Markdown]; the other functions take the same values.
package show
