// Package script runs JavaScript in process, on QuickJS, under limits of time and
// memory. Start at [Library] for JavaScript that ships with proviso and gets
// hostile input, and at [Engine] for code of a suite.
package script
