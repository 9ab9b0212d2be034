package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso/client"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/value"
)

func newMonitor(a *app) *cobra.Command {
	return group("monitor", "Watch the traffic of agents: which promise has been broken, and since when",
		"A watch says which events of production are evaluated, against which assertions, and how\n"+
			"many false alarms are allowed. docs/monitor.md leads from nothing to the first alarm.",
		newMonitorAck(a), newMonitorAlarms(a), newMonitorApply(a), newMonitorForget(a), newMonitorReplay(a), newMonitorStatus(a))
}

func newMonitorForget(a *app) *cobra.Command {
	f := &serverFlags{}
	var user string
	cmd := &cobra.Command{
		Use:   "forget --user USER",
		Short: "Remove the events and thumbs of a user from a server",
		Long: "forget removes a user's traffic from a server: events with their texts, thumbs, and the\n" +
			"reasons of verdicts on these events. Counts and rates stay. USER is the name as agents send it; a server\n" +
			"whose rules hash names finds it, too. Datasets and labels that people made of events stay.\n\n" +
			"--server or the environment variable " + serverVariable + " is the address of the server, and " + keyVariable + "\n" +
			"holds an API key with the scope admin. What is removed cannot be restored.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if user == "" {
				return usageError{errors.New("the user is missing"), "--user is the name as agents send it"}
			}
			u, err := f.address(a, "forget")
			if err != nil {
				return err
			}
			var n struct{ Events, Feedback, Verdicts *int }
			if err := a.client().JSON(cmd.Context(), http.MethodPost, u, map[string]string{"user": user}, &n); err != nil {
				return err
			}
			if n.Events == nil || n.Feedback == nil || n.Verdicts == nil {
				return client.NotOfServer(u)
			}
			if *n.Events+*n.Feedback+*n.Verdicts == 0 {
				_, err = fmt.Fprintf(a.out, "nothing was found of the user %s, so nothing was removed\n", printable(user))
				return err
			}
			_, err = fmt.Fprintf(a.out, "removed %s and %s, and the reasons of %s\n", plural.Of(*n.Events, "event"), plural.Of(*n.Feedback, "thumb"), plural.Of(*n.Verdicts, "verdict"))
			return err
		},
	}
	cmd.Flags().StringVar(&user, "user", "", "`USER` to be forgotten")
	f.register(cmd.Flags())
	cmd.Flags().Lookup("project").Usage = "use this `PROJECT` (default that of the key)"
	return cmd
}

// alarmOnServer is a server's description of an alarm.
type alarmOnServer struct {
	monitor.Alarm
	AckedBy string     `json:"acked_by,omitempty"`
	AckedAt *time.Time `json:"acked_at,omitempty"`
	AckNote string     `json:"ack_note,omitempty"`
}

// alarmFlags are the flags of monitor alarms.
type alarmFlags struct {
	serverFlags
	watch  string
	state  string
	format string
	limit  int
}

func newMonitorAlarms(a *app) *cobra.Command {
	f := &alarmFlags{}
	cmd := &cobra.Command{
		Use:   "alarms [ID]",
		Short: "Show the alarms of a server, or one of them",
		Long: "alarms lists the alarms that are not closed, newest first, with what each says. With the ID of an alarm, it\n" +
			"shows that one: since when, what else changed then, and examples. Times are in UTC. It needs a key with\n" +
			"the scope read.\n\n" +
			"Exit codes: 0 no alarm is open, 1 an alarm is open, 2 a mistake in the command line, 3 the server\n" +
			"could not be asked. An acknowledged alarm (monitor ack) counts as open.",
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			see := "see `proviso monitor alarms --help`"
			base, err := f.address(a, "alarms")
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return a.listAlarms(cmd.Context(), base, f)
			}
			if cmd.Flags().Changed("watch") || cmd.Flags().Changed("state") || cmd.Flags().Changed("limit") {
				return usageError{errors.New("--watch, --state and --limit are for the list, and an alarm is named"), see}
			}
			return a.oneAlarm(cmd.Context(), http.MethodGet, base.JoinPath(args[0]), nil, f.format)
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().StringVar(&f.watch, "watch", "", "only alarms of `WATCH`")
	choiceVar(cmd.Flags(), &f.state, "state", "open", []string{"open", "closed", "all"}, "alarms in `STATE`: open, closed or all")
	cmd.Flags().IntVar(&f.limit, "limit", 100, "show the newest `N`")
	choiceVar(cmd.Flags(), &f.format, "format", formatText, textFormats, "print in `FORMAT` text or json")
	return cmd
}

func newMonitorAck(a *app) *cobra.Command {
	f, note := &serverFlags{}, ""
	cmd := &cobra.Command{
		Use:   "ack ID",
		Short: "Acknowledge an alarm",
		Long: "ack acknowledges an open alarm: everybody sees by whom and since when. The alarm still\n" +
			"closes automatically when the rate has fallen. It needs a key with the scope edit, evaluate or label; the alarm\n" +
			"shows that key's name.",
		Args: someArgs("the ID of the alarm is missing: `proviso monitor alarms` lists them", 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			base, err := f.address(a, "alarms")
			if err != nil {
				return err
			}
			var body any
			if note != "" {
				body = map[string]string{"note": note}
			}
			return a.oneAlarm(cmd.Context(), http.MethodPost, base.JoinPath(args[0], "ack"), body, formatText)
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().StringVar(&note, "note", "", "what you know or do about the alarm, in one line; a `NOTE` replaces an earlier one, its name and its time")
	return cmd
}

// oneAlarm requests one alarm and prints it.
func (a *app) oneAlarm(ctx context.Context, method string, u *url.URL, body any, format string) error {
	var data json.RawMessage
	err := a.client().JSON(ctx, method, u, body, &data)
	if err != nil {
		return err
	}
	var one alarmOnServer
	if err := json.Unmarshal(data, &one); err != nil || one.ID == "" {
		return client.NotOfServer(u)
	}
	if format == formatJSON {
		_, err = a.out.Write(data)
	} else {
		err = one.print(a.out)
	}
	if err == nil && method == http.MethodGet && one.State != monitor.StateClosed {
		err = exitError{exitFailed}
	}
	return err
}

// listAlarms prints alarms, newest first.
func (a *app) listAlarms(ctx context.Context, base *url.URL, f *alarmFlags) error {
	list := []alarmOnServer{}
	open := false
	for one, err := range client.Pages[alarmOnServer](ctx, a.client(), client.With(base, "watch", f.watch)) {
		if err != nil {
			return err
		}
		if len(list) >= f.limit {
			break
		}
		closed := one.State == monitor.StateClosed
		if f.state == "all" || closed == (f.state == "closed") {
			list, open = append(list, one), open || !closed
		}
	}
	var err error
	if f.format == formatJSON {
		err = value.WriteJSON(a.out, list, "")
	} else {
		err = printAlarms(a.out, list)
	}
	if err == nil && open {
		err = exitError{exitFailed}
	}
	return err
}

func printAlarms(to io.Writer, list []alarmOnServer) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(to, "there are no such alarms")
		return err
	}
	t := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tWATCH\tKIND\tSTATE\tOPENED (UTC)\tREASON")
	for i := range list {
		one := &list[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", column(one.ID), column(one.Watch), column(one.kind()), column(one.state()), one.Opened.UTC().Format(minute), column(one.Reason))
	}
	return t.Flush()
}

// column returns a text of a server for a column of a table: on one line, without tabs.
func column(s string) string { return printable(excerpt.Line(s, 500)) }

// state is the state of the alarm, and who acknowledged it.
func (one *alarmOnServer) state() string {
	if one.State == monitor.StateAcked && one.AckedBy != "" {
		return string(one.State) + " by " + one.AckedBy
	}
	return string(one.State)
}

// kind names what the alarm is about.
func (one *alarmOnServer) kind() string {
	if one.Cause != "" {
		return string(one.Kind) + " (" + string(one.Cause) + ")"
	}
	return string(one.Kind)
}

// print shows all details of an alarm.
func (one *alarmOnServer) print(to io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s", printable(one.ID), printable(one.Watch))
	writeAlarm(&b, &one.Alarm)
	if one.AckedBy != "" {
		b.WriteString("    acknowledged by " + column(one.AckedBy))
		if one.AckedAt != nil {
			b.WriteString(" at " + one.AckedAt.UTC().Format(minute))
		}
		if one.AckNote != "" {
			b.WriteString(": " + column(one.AckNote))
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(to, b.String())
	return err
}
