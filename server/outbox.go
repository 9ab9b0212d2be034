package server

import (
	"context"
	"errors"
	"time"

	"github.com/proviso-eval/proviso/notify"
	"github.com/proviso-eval/proviso/store"
)

// Notifier tells people of alarms. [notify.Notifier] implements it. It is safe for
// concurrent use.
type Notifier interface {
	// Check returns why a watch cannot name a target, or nil.
	Check(target string) error
	// Quiet returns when the quiet hours of a target end, the zero time if it has none now.
	Quiet(target string, now time.Time) time.Time
	// Notify sends a message once.
	Notify(ctx context.Context, target string, m notify.Message) (remote string, err error)
}

const (
	noticeLease   = 2 * time.Minute // longer than an attempt takes
	noticesAtOnce = 20
)

// sendNotices sends what is due, until ctx ends. A notice that could not be sent is sent
// again later; one whose process is killed is sent again after its lease, so that a target
// may get it twice, with the same id.
func (m *monitoring) sendNotices(ctx context.Context) {
	m.everySoon(ctx, m.outbox, func(ctx context.Context, p store.Project) {
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
	})
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
			m.s.o.Log.Warn("tell people of an alarm", "project", p, "alarm", n.Alarm, "attempt", n.Attempts, "error", err)
		}
	}
	m.s.metrics.notices.WithLabelValues(string(p), end).Inc()
	if err := in.SettleNotice(context.WithoutCancel(ctx), r); err != nil {
		m.failed(ctx, "record that a notice was sent", p, err)
	}
}

// remoteOf returns what a target called the alarm of a notice before.
func (m *monitoring) remoteOf(ctx context.Context, in store.ProjectStore, n *store.Notice) string {
	if n.Remote != "" {
		return n.Remote
	}
	list, err := in.ListNotices(ctx, n.Alarm, store.Page{Limit: store.MaxPage})
	if err != nil {
		return "" // the target finds it by the alarm
	}
	for _, other := range list.Items {
		if other.Target == n.Target && other.Remote != "" {
			return other.Remote
		}
	}
	return ""
}

// link is an address of the app, "" if the operator has not said where it is.
func (m *monitoring) link(path string) string {
	if m.s.o.PublicURL == "" {
		return ""
	}
	return m.s.o.PublicURL + path
}

// failed logs an error of the background, unless the server stops. That something is not
// there any more is no error: somebody removed a watch while work for it was under way.
func (m *monitoring) failed(ctx context.Context, doing string, p store.Project, err error) {
	switch {
	case ctx.Err() != nil || errors.Is(err, context.Canceled):
	case isNotFound(err):
		m.s.o.Log.Debug("monitor", "doing", doing, "project", p, "removed", err)
	default:
		m.s.o.Log.Error("monitor", "doing", doing, "project", p, "error", err)
	}
}
