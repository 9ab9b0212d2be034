package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/client"
	"github.com/proviso-eval/proviso/internal/duration"
	"github.com/proviso-eval/proviso/spade/trial"
)

// trafficFlags select what an agent answered on a server of proviso.
type trafficFlags struct {
	server, agent, given string
	since                time.Time
	address              *url.URL
}

// Limits of what is read of a server.
const (
	maxTraffic  = 5_000 // events
	trafficPage = "500"
)

func (f *trafficFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.server, "server", "", "use what an agent answered on the server at `URL`; the key is in PROVISO_API_KEY")
	fs.StringVar(&f.agent, "agent", "", "with --server: `NAME` of the agent")
	fs.StringVar(&f.given, "since", "", "with --server: only answers since `TIME`: a date, a date and time (RFC 3339), or how long ago, such as 36h or 7d")
}

func (f *trafficFlags) check(cmd *cobra.Command) error {
	see := seeHelp(cmd)
	u, err := client.Address(f.server, "")
	if err != nil {
		return badValue("--server", "the address of a server, such as https://HOST", f.server, see)
	}
	if f.agent == "" {
		return usageError{errors.New("--server needs --agent"), see}
	}
	f.address = u.JoinPath("events")
	if f.given == "" {
		return nil
	}
	if f.since, err = parseSince(f.given, time.Now()); err != nil {
		return badValue("--since", err.Error(), f.given, see)
	}
	return nil
}

// parseSince reads a time, or how long before now. The error says what is expected.
func parseSince(text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	if d, err := duration.Parse(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, errors.New("a date, a date and time (RFC 3339), or how long ago, such as 36h or 7d")
}

// answeredOn reads what an agent answered on a server, the newest first. Only answers whose
// texts the server kept are outputs.
func (a *app) answeredOn(ctx context.Context, f *trafficFlags) ([]trial.Trial, error) {
	ctx, cancel := context.WithTimeout(ctx, client.Timeout)
	defer cancel()
	u := client.With(f.address, "agent", f.agent, "kept", "yes", "failed", "no", "texts", "full", "limit", trafficPage)
	if !f.since.IsZero() {
		u = client.With(u, "since", f.since.UTC().Format(time.RFC3339))
	}
	items := []json.RawMessage{}
	for item, err := range client.Pages[json.RawMessage](ctx, a.client(), u) {
		if err != nil {
			return nil, err
		}
		if len(items) == maxTraffic {
			a.warn(fmt.Sprintf("%s answered more; the newest %d are used", printable(f.agent), maxTraffic))
			break
		}
		items = append(items, item)
	}
	if len(items) == 0 {
		return nil, proviso.Errorf(proviso.NotFound, "%s has no answers of the agent %s whose texts are kept", f.address.Host, printable(f.agent))
	}
	data, err := json.Marshal(map[string]any{"items": items})
	if err != nil {
		return nil, err
	}
	list, mistakes := trial.Read("events of "+f.address.Host, data)
	return list, a.mistakes(mistakes)
}
