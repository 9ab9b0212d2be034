// Package files shows a folder of kept runs as a [store.Store] that can only be read,
// for `proviso view`. Start at [Open].
package files
