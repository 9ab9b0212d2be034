package main

import "github.com/spf13/cobra"

func newMonitor(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "monitor",
		Short: "Watch the traffic of agents: which promise has been broken, and since when",
		Long: "A watch says which events of production are evaluated, against which assertions, and how\n" +
			"many false alarms are allowed. docs/monitor.md leads from nothing to the first alarm.",
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newMonitorAck(a), newMonitorAlarms(a), newMonitorApply(a), newMonitorForget(a), newMonitorReplay(a), newMonitorStatus(a))
	return cmd
}
