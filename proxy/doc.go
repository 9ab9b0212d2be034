// Package proxy passes requests to the APIs of model vendors and records them as events: traffic is
// passed unchanged, byte by byte, even if recording fails. Start at [ReadConfig] and [New].
package proxy
