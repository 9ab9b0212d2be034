//go:build race

package server_test

// race says whether the race detector is on.
const race = true
