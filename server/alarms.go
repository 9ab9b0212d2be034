package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/notify"
	"github.com/proviso-eval/proviso/store"
)

// AlarmList is a page of alarms.
type AlarmList List[AlarmShown]

// AlarmShown is an alarm as webhooks receive it, and who acknowledged it.
type AlarmShown struct {
	monitor.Alarm
	AckedBy string     `json:"acked_by,omitempty"`
	AckedAt *time.Time `json:"acked_at,omitempty"`
	AckNote string     `json:"ack_note,omitempty" doc:"What that person says about the alarm"`
}

// Ack is the body of an acknowledgement.
type Ack struct {
	Note string `json:"note,omitempty" doc:"What you know or do about the alarm: one line of up to 1000 characters. It replaces an earlier note, and who acknowledged the alarm"`
}

// AlarmView is an alarm with the notices sent about it.
type AlarmView struct {
	AlarmShown
	Notices []NoticeView `json:"notices" doc:"The messages sent about it, newest first"`
}

// NoticeView is a message to people about an alarm.
type NoticeView struct {
	Target   string     `json:"target"`
	Event    string     `json:"event" enum:"opened,closed"`
	State    string     `json:"state" enum:"waiting,sent,dropped"`
	Attempts int        `json:"attempts"`
	Created  time.Time  `json:"created_at"`
	Sent     *time.Time `json:"sent_at,omitempty"`
	Next     *time.Time `json:"next_at,omitempty" doc:"When it is sent, or sent again, if it waits"`
	Error    string     `json:"error,omitempty" doc:"Of the last attempt"`
	Remote   string     `json:"remote,omitempty" doc:"What the target calls it, such as the number of an issue"`
}

// alarmOf converts a stored alarm for clients.
func alarmOf(a *store.Alarm) (AlarmShown, error) {
	out := AlarmShown{AckedBy: a.Ack.By, AckedAt: timeShown(a.AckedAt), AckNote: a.Ack.Note}
	if err := json.Unmarshal(a.Body, &out.Alarm); err != nil {
		return out, err
	}
	out.State = monitor.State(a.State)
	if out.Changed == nil {
		out.Changed = []monitor.Change{}
	}
	if out.Examples == nil {
		out.Examples = []string{}
	}
	return out, nil
}

// alarmsShown converts stored alarms for clients. It leaves out examples that were deleted or
// have expired.
func (c *call) alarmsShown(list []store.Alarm) ([]AlarmShown, error) {
	out := make([]AlarmShown, len(list))
	var ids []string
	for i := range list {
		var err error
		if out[i], err = alarmOf(&list[i]); err != nil {
			return nil, err
		}
		ids = append(ids, out[i].Examples...)
	}
	slices.Sort(ids)
	there := map[string]bool{}
	for some := range slices.Chunk(slices.Compact(ids), store.MaxPage) {
		for e, err := range all(c.r.Context(), c.kept.ListEvents, store.EventFilter{IDs: some}) {
			if err != nil {
				return nil, err
			}
			there[e.ID] = true
		}
	}
	for i := range out {
		out[i].Examples = slices.DeleteFunc(out[i].Examples, func(id string) bool { return !there[id] })
	}
	return out, nil
}

// listAlarms lists alarms, newest first.
func (s *Server) listAlarms(c *call) error {
	page := c.q.page()
	f := store.AlarmFilter{
		Watch: c.q.Get("watch"), Assertion: c.q.Get("assertion"), Kind: choice(&c.q, "kind", "agent", "judge", "mix", "silent"),
		State: chosen(&c.q, "state", store.AlarmOpen, store.AlarmAcked, store.AlarmClosed), Since: c.q.time("since"), Until: c.q.time("until"),
	}
	if c.q.err != nil {
		return c.q.err
	}
	if err := c.isWatch(f.Watch); err != nil {
		return err
	}
	list, err := c.kept.ListAlarms(c.r.Context(), f, page)
	if err != nil {
		return err
	}
	shown, err := c.alarmsShown(list.Items)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, AlarmList{Items: shown, Next: list.Next})
}

func (s *Server) getAlarm(c *call) error {
	a, err := c.kept.Alarm(c.r.Context(), c.r.PathValue("alarm"))
	return s.sendAlarm(c, &a, err)
}

func (s *Server) ackAlarm(c *call, in *Ack) error {
	id, name := c.person()
	a, err := c.kept.AckAlarm(c.r.Context(), c.r.PathValue("alarm"), store.Ack{By: cmp.Or(name, id), Note: in.Note})
	return s.sendAlarm(c, &a, err)
}

func (s *Server) sendAlarm(c *call, a *store.Alarm, err error) error {
	if err != nil {
		return err
	}
	shown, err := c.alarmsShown([]store.Alarm{*a})
	if err != nil {
		return err
	}
	list, err := c.kept.ListNotices(c.r.Context(), a.ID, store.Page{Limit: store.MaxPage})
	if err != nil {
		return err
	}
	out := AlarmView{AlarmShown: shown[0], Notices: []NoticeView{}}
	for _, n := range list.Items {
		v := NoticeView{Target: n.Target, Event: n.Event, State: "waiting", Attempts: n.Attempts, Created: n.Created, Error: n.Error, Remote: n.Remote}
		switch {
		case !n.Sent.IsZero():
			v.State, v.Sent = "sent", &n.Sent
		case !n.Dropped.IsZero():
			v.State = "dropped"
		default:
			v.Next = &n.Due
		}
		out.Notices = append(out.Notices, v)
	}
	return c.json(http.StatusOK, out)
}

// Notifier notifies people of alarms. [notify.Notifier] implements it. It is safe for
// concurrent use.
type Notifier interface {
	// Check returns an error if a watch cannot use this target.
	Check(target string) error
	// Quiet returns when a target's current quiet hours end, or the zero time outside of them.
	Quiet(target string, now time.Time) time.Time
	// Notify sends a message once.
	Notify(ctx context.Context, target string, m notify.Message) (remote string, err error)
}

const (
	noticeLease   = 2 * time.Minute // longer than an attempt takes
	noticesAtOnce = 20
)

// sendNotices sends due notices until ctx ends. A failed notice is retried later. If the
// process is killed while it sends a notice, the notice is sent again after its lease, so a
// target may get it twice, with the same id.
func (m *monitoring) sendNotices(ctx context.Context) {
	m.every(ctx, m.outbox, m.s.o.Poll, func(ctx context.Context) {
		for _, p := range m.projects(ctx) {
			m.sendNoticesOf(ctx, p)
		}
	})
}

func (m *monitoring) sendNoticesOf(ctx context.Context, p store.Project) {
	in := m.s.o.Store.In(p)
	for ctx.Err() == nil {
		due, err := in.LeaseNotices(ctx, noticeLease, noticesAtOnce)
		if err != nil {
			m.failed(ctx, "lease notices", p, err)
			return
		}
		for i := range due {
			m.sendNotice(ctx, p, in, &due[i])
		}
		if len(due) < noticesAtOnce {
			return
		}
	}
}

// sendNotice sends one notice and records the result, even if ctx ends.
func (m *monitoring) sendNotice(ctx context.Context, p store.Project, in store.ProjectStore, n *store.Notice) {
	now := m.now()
	r := store.NoticeResult{ID: n.ID, Token: n.Token}
	end := "sent"
	switch until := m.s.o.Notifier.Quiet(n.Target, now); {
	case !until.IsZero():
		r.Error, r.Again, end = "quiet hours", until, "quiet"
	default:
		var err error
		msg := notify.Message{ID: n.ID, Event: n.Event, Alarm: n.Body, Link: m.link("/alarms/" + n.Alarm), Remote: m.remoteOf(ctx, in, n)}
		r.Remote, err = m.s.o.Notifier.Notify(ctx, n.Target, msg)
		switch {
		case ctx.Err() != nil: // it is sent again after the next start
			r.Error, r.Again, end = "the server stopped", now, "stopped"
		case err != nil:
			r.Error, end = err.Error(), "failed"
			if at, ok := notify.Usual.Next(n.Attempts, err, now); ok {
				r.Again = at
			} else {
				end = "dropped"
			}
			m.s.o.Log.Warn("notify people of an alarm", "project", p, "alarm", n.Alarm, "attempt", n.Attempts, "error", err)
		}
	}
	m.s.metrics.notices.WithLabelValues(string(p), end).Inc()
	if err := in.SettleNotice(context.WithoutCancel(ctx), r); err != nil {
		m.failed(ctx, "record that a notice was sent", p, err)
	}
}

// remoteOf returns the name that a target gave to the alarm in an earlier notice.
func (m *monitoring) remoteOf(ctx context.Context, in store.ProjectStore, n *store.Notice) string {
	if n.Remote != "" {
		return n.Remote
	}
	list, err := in.ListNotices(ctx, n.Alarm, store.Page{Limit: store.MaxPage})
	if err != nil {
		return "" // the target finds it by the alarm id
	}
	for _, other := range list.Items {
		if other.Target == n.Target && other.Remote != "" {
			return other.Remote
		}
	}
	return ""
}

// link returns an address in the app, or "" if the operator did not configure one.
func (m *monitoring) link(path string) string {
	if m.s.o.PublicURL == "" {
		return ""
	}
	return m.s.o.PublicURL + path
}

// failed logs an error of background work, unless the server is stopping. A missing object is
// not an error: somebody removed a watch while work for it was in progress.
func (m *monitoring) failed(ctx context.Context, doing string, p store.Project, err error) {
	switch {
	case ctx.Err() != nil || errors.Is(err, context.Canceled):
	case isNotFound(err):
		m.s.o.Log.Debug("monitor", "doing", doing, "project", p, "removed", err)
	default:
		m.s.o.Log.Error("monitor", "doing", doing, "project", p, "error", err)
	}
}
