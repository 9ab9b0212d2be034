// Package monitor watches the traffic of agents: it decides which events are sampled,
// keeps charts of how often their assertions fail, and raises alarms with a known rate of
// false ones. It does no I/O and has no clock. Start at [ReadWatches], [Charts] and
// [Replay].
package monitor
