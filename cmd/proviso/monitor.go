package main

import "github.com/spf13/cobra"

func newMonitor(a *app) *cobra.Command {
	return group("monitor", "Watch the traffic of agents: which promise has been broken, and since when",
		"A watch says which events of production are evaluated, against which assertions, and how\n"+
			"many false alarms are allowed. docs/monitor.md leads from nothing to the first alarm.",
		newMonitorAck(a), newMonitorAlarms(a), newMonitorApply(a), newMonitorForget(a), newMonitorReplay(a), newMonitorStatus(a))
}
