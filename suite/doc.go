// Package suite reads suites: YAML, JSON, CSV and JSON Lines become a
// [proviso.Suite], file references are followed, and every mistake is found with
// its place before anything runs. It runs no code and asks no network.
//
// Start at [Read]. [Files] is the one door through which the files that a suite
// names are opened.
package suite
