package server

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/store"
)

// AlarmList is a page of alarms.
type AlarmList List[AlarmShown]

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

// alarmsShown are stored alarms as clients see them. Examples that were forgotten, or are too
// old to be kept, are left out.
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

// getAlarm sends an alarm.
func (s *Server) getAlarm(c *call) error {
	a, err := c.kept.Alarm(c.r.Context(), c.r.PathValue("alarm"))
	return s.sendAlarm(c, &a, err)
}

// ackAlarm says that somebody looks after an alarm.
func (s *Server) ackAlarm(c *call) error {
	id, name := c.person()
	by := cmp.Or(name, id)
	a, err := c.kept.AckAlarm(c.r.Context(), c.r.PathValue("alarm"), by)
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
