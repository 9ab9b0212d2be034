//go:build race

package proxy_test

// raced: the race detector makes everything slower.
const raced = true
