// Package proxy passes requests to the APIs of model vendors and records them as events:
// what goes through stays as it is, byte by byte, whatever happens to its record. Start
// at [ReadConfig] and [New].
package proxy
