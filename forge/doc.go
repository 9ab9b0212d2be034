// Package forge shows a decision where merges are decided: it keeps one comment for each
// suite on a pull request of GitHub or a merge request of GitLab.
//
// Start at [Detect], which finds the change request of a CI job in its environment, and at
// [Forge.Upsert], which writes the comment. Each forge is one file and one row of the table
// in kind.go.
package forge
