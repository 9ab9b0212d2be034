//go:build !race

package run_test

// race says whether the race detector is on.
const race = false
