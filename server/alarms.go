package server

import (
	"cmp"
	"encoding/json"
	"net/http"
	"time"

	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/store"
)

// AlarmList is a page of alarms.
type AlarmList struct {
	Items []AlarmShown `json:"items"`
	Next  string       `json:"next,omitempty" doc:"What to send as after for the next page; missing on the last"`
}

// AlarmShown is an alarm as webhooks get it, and who looks after it.
type AlarmShown struct {
	monitor.Alarm
	AckedBy string     `json:"acked_by,omitempty"`
	AckedAt *time.Time `json:"acked_at,omitempty"`
}

// AlarmView is an alarm with what people were told of it.
type AlarmView struct {
	AlarmShown
	Notices []NoticeView `json:"notices" doc:"What people were told, newest first"`
}

// NoticeView is a message to people on an alarm.
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

// alarmOf is a stored alarm as clients see it.
func alarmOf(a *store.Alarm) (AlarmShown, error) {
	out := AlarmShown{AckedBy: a.AckedBy, AckedAt: timeShown(a.AckedAt)}
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

// listAlarms lists alarms, newest first.
func (s *Server) listAlarms(c *call) error {
	q, err := c.query("state", "watch", "kind", "assertion", "since", "until", "limit", "after")
	if err != nil {
		return err
	}
	page, err := pageOf(q)
	if err != nil {
		return err
	}
	f := store.AlarmFilter{Watch: q.Get("watch"), Assertion: q.Get("assertion")}
	if f.Kind, err = choice(q, "kind", "agent", "judge", "mix", "silent"); err != nil {
		return err
	}
	state, err := choice(q, "state", store.AlarmOpen, store.AlarmAcked, store.AlarmClosed)
	if err != nil {
		return err
	}
	if state != "" {
		f.State = []store.AlarmState{state}
	}
	if f.Since, err = timeOf(q, "since"); err != nil {
		return err
	}
	if f.Until, err = timeOf(q, "until"); err != nil {
		return err
	}
	if err := c.isWatch(f.Watch); err != nil {
		return err
	}
	list, err := c.kept.ListAlarms(c.r.Context(), f, page)
	if err != nil {
		return err
	}
	out := AlarmList{Items: []AlarmShown{}, Next: list.Next}
	for i := range list.Items {
		a, err := alarmOf(&list.Items[i])
		if err != nil {
			return err
		}
		out.Items = append(out.Items, a)
	}
	return c.json(http.StatusOK, out)
}

// getAlarm sends an alarm.
func (s *Server) getAlarm(c *call) error {
	if _, err := c.query(); err != nil {
		return err
	}
	a, err := c.kept.Alarm(c.r.Context(), c.r.PathValue("alarm"))
	if err != nil {
		return err
	}
	return s.sendAlarm(c, &a)
}

// ackAlarm says that somebody looks after an alarm.
func (s *Server) ackAlarm(c *call) error {
	if _, err := c.query(); err != nil {
		return err
	}
	id, name := c.person()
	by := cmp.Or(name, id)
	a, err := c.kept.AckAlarm(c.r.Context(), c.r.PathValue("alarm"), by)
	if err != nil {
		return err
	}
	return s.sendAlarm(c, &a)
}

func (s *Server) sendAlarm(c *call, a *store.Alarm) error {
	shown, err := alarmOf(a)
	if err != nil {
		return err
	}
	list, err := c.kept.ListNotices(c.r.Context(), a.ID, store.Page{Limit: store.MaxPage})
	if err != nil {
		return err
	}
	out := AlarmView{AlarmShown: shown, Notices: []NoticeView{}}
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
