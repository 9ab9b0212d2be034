//go:build race

package engine_test

// race says whether the race detector is on.
const race = true
