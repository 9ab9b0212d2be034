package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso/client"
	"github.com/proviso-eval/proviso/internal/usd"
	"github.com/proviso-eval/proviso/value"
)

// watchOnServer is a server's description of a watch.
type watchOnServer struct {
	Name       string   `json:"name"`
	Version    int      `json:"version"`
	State      string   `json:"state"`
	Causes     []string `json:"causes"`
	OpenAlarms int      `json:"open_alarms"`
	Queue      struct {
		Pending int `json:"pending"`
		Dropped int `json:"dropped_today"`
	} `json:"queue"`
	Spend struct {
		Budget float64 `json:"budget"`
		Spent  float64 `json:"spent"`
	} `json:"spend"`
	LastVerdict *time.Time `json:"last_verdict"`
	LastError   *time.Time `json:"last_error,omitempty"`
	Error       string     `json:"error,omitempty"`
	Warnings    []string   `json:"warnings,omitempty"`
	Charts      []struct {
		Assertion    string   `json:"assertion"`
		Version      string   `json:"version"`
		N            int      `json:"n"`
		Errors       int      `json:"errors"`
		Rate         *float64 `json:"rate"`
		State        string   `json:"state"`
		SmallestRate *float64 `json:"smallest_rate"`
	} `json:"charts"`
}

func newMonitorStatus(a *app) *cobra.Command {
	f := &serverFlags{}
	var format string
	cmd := &cobra.Command{
		Use:   "status [WATCH]",
		Short: "Show the watches of a server, or the charts of one",
		Long: "status shows the state of each watch: ok, learning (no chart can raise an alarm yet), alarm, or silent with its\n" +
			"causes. With the name of a watch, it shows the charts of that one. Times are in UTC.\n\n" +
			"Columns: ALARMS are open; WAITING are events that are not evaluated yet; SPENT TODAY is in US dollars,\n" +
			"of the daily budget (UTC) if there is one; N are the evaluations of a chart, FAILS the share of them\n" +
			"that failed, SEES the failure rate that would be noticed within a week,\n" +
			"ERRORS the evaluations that were not decided. Below the tables is what does not work.\n\n" +
			"Exit codes: 0 nothing is wrong, 1 there is an alarm or a watch is silent, 2 a mistake in the command\n" +
			"line, 3 the server could not be asked.",
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			base, err := f.address(a, "watches")
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return a.oneStatus(cmd.Context(), base.JoinPath(args[0]), format)
			}
			return a.allStatus(cmd.Context(), base, format)
		},
	}
	f.register(cmd.Flags())
	choiceVar(cmd.Flags(), &format, "format", formatTable, tableFormats, "print in `FORMAT` table or json")
	return cmd
}

// watchesOnServer reads all watches.
func (a *app) watchesOnServer(ctx context.Context, base *url.URL) ([]watchOnServer, error) {
	list := []watchOnServer{}
	for w, err := range client.Pages[watchOnServer](ctx, a.client(), base) {
		if err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	return list, nil
}

// wrong reports whether a watch needs attention.
func (w *watchOnServer) wrong() bool { return w.State == "alarm" || w.State == "silent" }

func (a *app) allStatus(ctx context.Context, base *url.URL, format string) error {
	list, err := a.watchesOnServer(ctx, base)
	if err != nil {
		return err
	}
	wrong := false
	for i := range list {
		wrong = wrong || list[i].wrong()
	}
	if format == formatJSON {
		err = value.WriteJSON(a.out, list, "")
	} else {
		err = showWatches(a.out, list)
	}
	if err == nil && wrong {
		err = exitError{exitFailed}
	}
	return err
}

// showWatches prints a table of watches, their charts, and their problems.
func showWatches(to io.Writer, list []watchOnServer) error {
	t := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "WATCH\tSTATE\tALARMS\tWAITING\tSPENT TODAY\tLAST VERDICT (UTC)")
	for i := range list {
		list[i].row(t)
	}
	for i := range list {
		list[i].charts(t)
	}
	err := t.Flush()
	for i := range list {
		err = cmp.Or(err, list[i].trouble(to))
	}
	return err
}

// row prints a watch as a row of a table.
func (w *watchOnServer) row(to io.Writer) {
	state := w.State
	if len(w.Causes) > 0 {
		state += " (" + strings.Join(w.Causes, ", ") + ")"
	}
	last := "never"
	if w.LastVerdict != nil {
		last = w.LastVerdict.UTC().Format(minute)
	}
	spent := usd.Cents(w.Spend.Spent)
	if w.Spend.Budget > 0 {
		spent += " of " + usd.Cents(w.Spend.Budget)
	}
	fmt.Fprintf(to, "%s\t%s\t%d\t%d\t%s\t%s\n", printable(w.Name), printable(state), w.OpenAlarms, w.Queue.Pending, spent, last)
}

// charts prints the charts of a watch below its row.
func (w *watchOnServer) charts(to io.Writer) {
	if len(w.Charts) > 0 {
		fmt.Fprintln(to, "\nASSERTION\tVERSION\tSTATE\tN\tFAILS\tSEES\tERRORS")
	}
	for _, c := range w.Charts {
		rate, sees := "-", "-"
		if c.Rate != nil {
			rate = fmt.Sprintf("%.1f %%", 100**c.Rate)
		}
		if c.SmallestRate != nil {
			sees = fmt.Sprintf("a rise to %.1f %%", 100**c.SmallestRate)
		}
		fmt.Fprintf(to, "%s\t%s\t%s\t%d\t%s\t%s\t%d\n", printable(c.Assertion), printable(c.Version), printable(c.State), c.N, rate, sees, c.Errors)
	}
}

// trouble prints the problems of a watch.
func (w *watchOnServer) trouble(to io.Writer) error {
	lines := slices.Clone(w.Warnings)
	if w.Error != "" && w.LastError != nil {
		lines = append(lines, "the last error, of "+w.LastError.UTC().Format(minute)+": "+w.Error)
	}
	for _, line := range lines {
		if _, err := fmt.Fprintf(to, "%s: %s\n", printable(w.Name), printable(line)); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) oneStatus(ctx context.Context, u *url.URL, format string) error {
	data, err := a.client().Read(ctx, http.MethodGet, u, nil)
	if err != nil {
		return err
	}
	var w watchOnServer
	if _, err := value.ParseJSON(string(data)); err != nil || json.Unmarshal(data, &w) != nil || w.Version == 0 {
		return client.NotOfServer(u)
	}
	if format == formatJSON {
		_, err = a.out.Write(data)
	} else {
		err = showWatches(a.out, []watchOnServer{w})
	}
	if err == nil && w.wrong() {
		err = exitError{exitFailed}
	}
	return err
}
