// Package suite reads suites: it turns YAML, JSON, CSV and JSON Lines into a
// [proviso.Suite], follows file references, and finds every mistake with its place
// before anything runs. It runs no code and uses no network.
//
// Start at [Read]. All files that a suite names are opened through [Files].
package suite
