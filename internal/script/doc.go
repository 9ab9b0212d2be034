// Package script runs JavaScript in process, on QuickJS, under limits of time
// and memory. Start at [Library] for JavaScript that ships with proviso and is
// given hostile input, and at [Engine] for code that a suite brings along.
package script
