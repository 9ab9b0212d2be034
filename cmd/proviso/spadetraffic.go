package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/duration"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/value"
)

// trafficFlags select what an agent answered on a server of proviso.
type trafficFlags struct {
	server, agent, given string
	since                time.Time
	address              *url.URL
}

// Limits of what is read of a server.
const (
	maxTraffic     = 5_000 // events
	trafficPage    = 500
	maxTrafficPage = 256 << 20 // bytes of a page
)

func (f *trafficFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.server, "server", "", "use what an agent answered on the server at `URL`; the key is in PROVISO_API_KEY")
	fs.StringVar(&f.agent, "agent", "", "with --server: `NAME` of the agent")
	fs.StringVar(&f.given, "since", "", "with --server: only answers since `TIME`: a date, a date and time (RFC 3339), or how long ago, such as 36h or 7d")
}

func (f *trafficFlags) check(cmd *cobra.Command) error {
	see := seeHelp(cmd)
	u, err := url.Parse(f.server)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return badValue("--server", "the address of a server, such as https://HOST", f.server, see)
	}
	if f.agent == "" {
		return usageError{errors.New("--server needs --agent"), see}
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	f.address = u.JoinPath(apiPath, "events")
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
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	var items []any
	for after := ""; ; {
		q := url.Values{"agent": {f.agent}, "kept": {"yes"}, "failed": {"no"}, "texts": {"full"}, "limit": {strconv.Itoa(trafficPage)}}
		if !f.since.IsZero() {
			q.Set("since", f.since.UTC().Format(time.RFC3339))
		}
		if after != "" {
			q.Set("after", after)
		}
		u := *f.address
		u.RawQuery = q.Encode()
		page, err := a.trafficPage(ctx, &u)
		if err != nil {
			return nil, err
		}
		list, _ := page.At("items").([]any)
		items = append(items, list...)
		before := after
		after = page.Text("next")
		if len(items) >= maxTraffic && after != "" {
			items = items[:maxTraffic]
			a.warn(fmt.Sprintf("%s answered more; the newest %d are used", printable(f.agent), maxTraffic))
			break
		}
		if after == "" || after == before {
			break
		}
	}
	if len(items) == 0 {
		return nil, proviso.Errorf(proviso.NotFound, "%s has no answers of the agent %s whose texts are kept", f.address.Host, printable(f.agent))
	}
	list, mistakes := trial.Read("events of "+f.address.Host, value.AppendJSON(nil, value.ObjectOf("items", items)))
	return list, a.mistakes(mistakes)
}

func (a *app) trafficPage(ctx context.Context, u *url.URL) (*value.Object, error) {
	resp, err := a.askServer(ctx, http.MethodGet, u, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, refusal(u, resp)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxTrafficPage+1))
	if err == nil && len(data) > maxTrafficPage {
		err = proviso.Errorf(proviso.Limit, "a page is longer than %d MiB", maxTrafficPage>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", transport.URL(u), err)
	}
	v, err := value.ParseJSON(string(data))
	o, ok := v.(*value.Object)
	if err != nil || !ok {
		return nil, proviso.Errorf(proviso.Unavailable, "%s does not answer as a server of proviso does", u.Host)
	}
	return o, nil
}
