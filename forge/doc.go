// Package forge shows a decision where changes are merged: it keeps one comment for each
// suite on a GitHub pull request or a GitLab merge request.
//
// Start at [Detect], which finds the change request of a CI job in its environment, and at
// [Forge.Upsert], which writes the comment. Each forge is one file and one row of the table
// in kind.go.
package forge
