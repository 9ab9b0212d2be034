// Package notify tells people of alarms: by a signed webhook, in Slack, or as an issue on
// GitHub. The operator of a server defines the targets in a file, see [Read]; a watch only
// refers to their names.
//
// Start at [Open]. A [Notifier] sends one [Message] once. The caller keeps unsent messages
// in a store, so [Backoff] is a value that computes when to retry. Texts of alarms come
// from models and strangers, and are escaped for where they are shown.
package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/transport"
)

// Message is a message to one target.
type Message struct {
	ID     string          // the same for every retry
	Event  string          // [Opened] or [Closed]
	Alarm  json.RawMessage // the alarm as clients see it
	Link   string          // to the alarm in the app, "" if there is no address
	Remote string          // what Notify returned for an earlier message on this alarm
}

// The events.
const (
	Opened = "opened"
	Closed = "closed"
)

// Failure is why a message was not sent.
type Failure struct {
	Target    string
	Reason    string
	Permanent bool          // another attempt cannot succeed
	After     time.Duration // wait requested by the target
	cause     error
}

// Error returns the target and the reason.
func (f *Failure) Error() string { return f.Target + ": " + f.Reason }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.cause }

// Backoff is an exponential backoff. The wait starts at First and doubles up to Most. There
// are at most Attempts attempts in total.
type Backoff struct {
	First, Most time.Duration
	Attempts    int
}

// Usual is the backoff of a server. It bridges a target outage of about a day.
var Usual = Backoff{First: 15 * time.Second, Most: 4 * time.Hour, Attempts: 16}

// Next returns when to retry after attempt number attempt, from 1, failed with err. ok is
// false if the message must be given up.
func (b Backoff) Next(attempt int, err error, now time.Time) (at time.Time, ok bool) {
	var f *Failure
	if attempt >= b.Attempts || errors.As(err, &f) && f.Permanent {
		return time.Time{}, false
	}
	wait := b.First
	for i := 1; i < attempt && wait < b.Most; i++ {
		wait *= 2
	}
	wait = min(wait, b.Most)
	if f != nil {
		wait = max(wait, min(f.After, 24*time.Hour))
	}
	return now.Add(wait), true
}

// Options configure access to the targets.
type Options struct {
	Env     proviso.Env       // source of addresses, secrets and tokens
	Network http.RoundTripper // a Transport of internal/transport that allows [Targets.Allows]
	Now     func() time.Time  // nil means time.Now
	Timeout time.Duration     // per attempt; 20 s if 0
}

// Notifier sends messages. It is safe for concurrent use.
type Notifier struct {
	targets *Targets
	senders map[string]sender
	now     func() time.Time
	timeout time.Duration
}

// sender sends messages to one target.
type sender interface {
	send(ctx context.Context, m *Message, a *alarm) (remote string, err error)
}

// Open prepares the targets. It sends nothing. The error names what the environment lacks.
func Open(t *Targets, o Options) (*Notifier, error) {
	n := &Notifier{targets: t, senders: map[string]sender{}, now: o.Now, timeout: o.Timeout}
	if n.now == nil {
		n.now = time.Now
	}
	if n.timeout <= 0 {
		n.timeout = 20 * time.Second
	}
	client := &http.Client{Transport: o.Network, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var errs []error
	for _, name := range t.Names() {
		s, err := t.byName[name].open(t.byName[name], o, client, n.now)
		if err != nil {
			errs = append(errs, fmt.Errorf("target %s: %w", name, err))
			continue
		}
		n.senders[name] = s
	}
	return n, errors.Join(errs...)
}

// Names returns the names of the targets, sorted.
func (n *Notifier) Names() []string {
	if n == nil {
		return nil
	}
	return n.targets.Names()
}

// Check returns why a watch cannot refer to a target, or nil. The error lists the existing
// targets, which are no secret to a project.
func (n *Notifier) Check(name string) error {
	names := n.Names()
	if slices.Contains(names, name) {
		return nil
	}
	e := &proviso.Error{Code: proviso.Invalid, Message: fmt.Sprintf("the server has no notification target %q", short(name)), Valid: names}
	if len(names) == 0 {
		e.Message += "; see `proviso serve --notify FILE`"
	} else {
		e.Message += document.DidYouMean(name, names)
	}
	return e
}

// Quiet returns when the current quiet hours of a target end; the zero time if there are
// none.
func (n *Notifier) Quiet(target string, now time.Time) time.Time {
	if n == nil || n.targets.byName[target] == nil {
		return time.Time{}
	}
	return n.targets.byName[target].quiet.until(now)
}

// Notify sends a message once. remote is the target's own id of the alarm, for later
// messages about it. The error is a *[Failure], or that of ctx.
func (n *Notifier) Notify(ctx context.Context, target string, m Message) (remote string, err error) {
	if n == nil || n.senders[target] == nil {
		return "", &Failure{Target: target, Reason: "the operator of the server has named no such target"}
	}
	var a alarm
	if err := json.Unmarshal(m.Alarm, &a); err != nil {
		return "", &Failure{Target: target, Reason: "the alarm is malformed", Permanent: true, cause: err}
	}
	attempt, cancel := context.WithTimeoutCause(ctx, n.timeout, fmt.Errorf("no answer within %v", n.timeout))
	defer cancel()
	remote, err = n.senders[target].send(attempt, &m, &a)
	if err == nil || ctx.Err() != nil {
		return remote, errors.Join(err, ctx.Err())
	}
	var f *Failure
	if !errors.As(err, &f) {
		f = &Failure{Reason: transport.Redact(err).Error(), cause: err}
	}
	if f.Target = target; attempt.Err() != nil {
		f.Reason = context.Cause(attempt).Error()
	}
	return remote, f
}
