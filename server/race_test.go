//go:build race

package server_test

// race reports whether the race detector is on.
const race = true
