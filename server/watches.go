package server

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// WatchView is a watch with its state.
type WatchView struct {
	Name        string              `json:"name"`
	Version     int                 `json:"version" doc:"Its number, from 1"`
	Hash        string              `json:"hash" doc:"Of the content"`
	CreatedAt   time.Time           `json:"created_at"`
	UpdatedAt   time.Time           `json:"updated_at" doc:"When this version was stored"`
	CreatedBy   string              `json:"created_by,omitempty" doc:"The id of the API key that pays for its evaluations"`
	Watch       json.RawMessage     `json:"watch" doc:"As it was sent, without the items of its anchors"`
	Anchors     int                 `json:"anchors" doc:"How many it has"`
	State       string              `json:"state" enum:"ok,learning,alarm,silent"`
	Causes      []string            `json:"causes,omitempty" doc:"Why it is silent"`
	OpenAlarms  int                 `json:"open_alarms" doc:"Alarms that are not closed"`
	Queue       WatchQueue          `json:"queue"`
	Spend       WatchSpend          `json:"spend"`
	LastVerdict *time.Time          `json:"last_verdict,omitempty" doc:"When a pass or a fail was stored last"`
	LastError   *time.Time          `json:"last_error,omitempty"`
	Error       string              `json:"error,omitempty" doc:"Why an event could not be evaluated last"`
	Charts      []monitor.ChartView `json:"charts"`
	FalseAlarms string              `json:"false_alarms,omitempty" doc:"What the rate of false alarms that was asked for means for a month"`
	Warnings    []string            `json:"warnings,omitempty" doc:"What does not work, such as assertions that need a judge on a server without one"`
}

// WatchQueue counts the waiting events of a watch.
type WatchQueue struct {
	Pending int        `json:"pending"`
	Oldest  *time.Time `json:"oldest,omitempty" doc:"Since when the oldest waits"`
	Dropped int        `json:"dropped_today" doc:"Events that were not evaluated, because too many waited"`
}

// WatchSpend is what a watch spent today (UTC), in US dollars.
type WatchSpend struct {
	Day       string  `json:"day"`
	Budget    float64 `json:"budget,omitempty" doc:"0 or missing means no limit"`
	Spent     float64 `json:"spent"`
	Reserved  float64 `json:"reserved" doc:"For events that are being evaluated"`
	Uncertain float64 `json:"uncertain" doc:"Perhaps spent: what was reserved when a process was killed"`
	Events    int     `json:"events" doc:"Evaluations that ended"`
}

// NewWatch is a watch to store.
type NewWatch struct {
	Match       NewWatchMatch             `json:"match"`
	Assertions  string                    `json:"assertions" doc:"set:NAME, an assertion set of the server, or set:NAME@VERSION for one version of it"`
	Sample      *NewWatchSample           `json:"sample,omitempty"`
	Objectives  map[string]WatchObjective `json:"objectives,omitempty" doc:"By assertion: what it is compared with until there is a baseline"`
	FalseAlarms *WatchFalseAlarms         `json:"false_alarms,omitempty"`
	Anchors     *NewWatchAnchors          `json:"anchors,omitempty"`
	Silence     *WatchSilence             `json:"silence,omitempty"`
	Notify      []string                  `json:"notify,omitempty" doc:"Targets that the operator has named"`
}

// NewWatchMatch selects events.
type NewWatchMatch struct {
	Agent string `json:"agent"`
	Where string `json:"where,omitempty" doc:"A condition in CEL over the event, such as segment.lang == 'de'"`
}

// NewWatchSample sets how many events are evaluated.
type NewWatchSample struct {
	Rate    float64 `json:"rate,omitempty" doc:"Share of the conversations, over 0 and at most 1"`
	Floor   int     `json:"floor,omitempty" doc:"Evaluations a day of each segment, if there is so much traffic"`
	Segment string  `json:"segment,omitempty" doc:"A member of segment that is counted separately"`
	Budget  float64 `json:"budget_usd_per_day,omitempty" doc:"US dollars of a day (UTC)"`
}

// WatchObjective is the tolerated share of failures.
type WatchObjective struct {
	MaxFail float64 `json:"max_fail" doc:"Share of failures"`
}

// WatchFalseAlarms sets the rate of false alarms.
type WatchFalseAlarms struct {
	PerDays float64 `json:"per_days" doc:"Days of the project to one false alarm, on average"`
}

// NewWatchAnchors are outputs that are judged repeatedly.
type NewWatchAnchors struct {
	File  string          `json:"file,omitempty" doc:"Where they come from; the server reads no file"`
	Every string          `json:"every,omitempty" doc:"Such as 168h"`
	Items []WatchedAnchor `json:"items,omitempty"`
}

// WatchedAnchor is an output that is judged repeatedly.
type WatchedAnchor struct {
	ID       string         `json:"id,omitempty" doc:"A hash of its texts if it is missing"`
	Input    string         `json:"input,omitempty"`
	Output   string         `json:"output"`
	Context  string         `json:"context,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

// WatchSilence sets how long silence may last before it is an alarm.
type WatchSilence struct {
	Traffic  string `json:"traffic,omitempty" doc:"Without an event, such as 6h"`
	Verdicts string `json:"verdicts,omitempty" doc:"Without a verdict, while there are events"`
}

// WatchList is a page of watches.
type WatchList List[WatchView]

// sentWatch is a watch as a client sent it.
type sentWatch struct {
	conf    monitor.Watch
	anchors []anchor
	shown   *value.Object // without the items of the anchors
	set     *watchedSet   // set that it was checked with; nil if it was not checked
}

// readWatch parses a stored watch. The error is a [Problem] with all mistakes and their
// positions.
func readWatch(ctx context.Context, name string, data []byte) (*sentWatch, error) {
	doc, err := parseBody(ctx, data)
	if err != nil {
		return nil, err
	}
	return watchIn(doc, name)
}

// watchIn is [readWatch] for a parsed body.
func watchIn(doc *document.Document, name string) (*sentWatch, error) {
	d := decoder{}
	out := d.watch("", name, doc.Root)
	if len(d.mistakes) > 0 {
		return nil, d.problem(doc)
	}
	return out, nil
}

// watch parses the watch at a pointer.
func (d *decoder) watch(at, name string, v any) *sentWatch {
	o, ok := v.(*value.Object)
	if !ok {
		d.wants(at, "an object", v)
		return nil
	}
	out := &sentWatch{shown: o.Clone()}
	if about, ok := o.At("anchors").(*value.Object); ok && about.Has("items") {
		out.anchors = readAnchors(d, at+"/anchors/items", about.At("items"))
		about = about.Clone()
		about.Delete("items")
		out.shown.Set("anchors", about)
	}
	read := out.shown
	if about := read.Object("anchors"); len(out.anchors) > 0 && !about.Has("file") { // the anchors are not from a file
		about = about.Clone()
		about.Set("file", "items")
		read = read.Clone()
		read.Set("anchors", about)
	}
	list, mistakes := monitor.ReadWatches(value.ObjectOf(name, read))
	for _, e := range mistakes {
		m := mistakeOf(e)
		m.Pointer = at + strings.TrimPrefix(m.Pointer, document.Join("", name))
		d.mistakes = append(d.mistakes, m)
	}
	for i := range list { // there is exactly one
		out.conf = list[i]
	}
	return out
}

func (s *Server) putWatch(c *call) error {
	ctx, name := c.r.Context(), c.r.PathValue("watch")
	if err := monitor.CheckName(name); err != nil {
		return err
	}
	doc, err := parseBody(ctx, c.body)
	if err != nil {
		return err
	}
	sent, err := watchIn(doc, name)
	if err != nil {
		return err
	}
	if wrong, err := s.checkWatch(ctx, c, sent, nil); err != nil || len(wrong) > 0 {
		return wrongWatch(doc, wrong, err)
	}
	stored, created, err := c.kept.PutWatch(ctx, store.NewWatch{Name: name, Content: slices.Clone(c.body), CreatedBy: c.key.ID})
	if err != nil {
		return err
	}
	s.monitor.changed(c.project)
	live, err := openWatch(ctx, c.project, stored)
	if err != nil {
		return err
	}
	out, err := s.monitor.view(ctx, live, true)
	if err != nil {
		return err
	}
	if out.Warnings, err = c.unknownAgent(sent.conf.Match.Agent, out.Warnings); err != nil {
		return err
	}
	return s.kept(c, "/v1/watches/"+url.PathEscape(name), created, out)
}

func (s *Server) getWatch(c *call) error {
	live, err := s.liveWatch(c)
	if err != nil {
		return err
	}
	return c.send(s.monitor.view(c.r.Context(), live, true))
}

// listWatches lists watches, without their charts.
func (s *Server) listWatches(c *call) error {
	page := c.q.page()
	if c.q.err != nil {
		return c.q.err
	}
	list, err := c.kept.ListWatches(c.r.Context(), page)
	if err != nil {
		return err
	}
	out := WatchList{Items: []WatchView{}, Next: list.Next}
	for _, stored := range list.Items {
		live, err := openWatch(c.r.Context(), c.project, stored)
		if err != nil {
			return err
		}
		v, err := s.monitor.view(c.r.Context(), live, false)
		if err != nil {
			return err
		}
		out.Items = append(out.Items, *v)
	}
	return c.json(http.StatusOK, out)
}

func (s *Server) deleteWatch(c *call) error {
	if err := c.kept.DeleteWatch(c.r.Context(), c.r.PathValue("watch")); err != nil {
		return err
	}
	s.monitor.forget(watchKey{c.project, c.r.PathValue("watch")})
	s.monitor.changed(c.project)
	return c.sendResponse(store.Response{Status: http.StatusNoContent})
}

// view converts a watch for clients.
func (m *monitoring) view(ctx context.Context, live *liveWatch, charts bool) (*WatchView, error) {
	now := m.now()
	in := m.s.o.Store.In(live.key.project)
	h, err := in.WatchHealth(ctx, live.Name, now)
	if err != nil {
		return nil, err
	}
	out := &WatchView{
		Name: live.Name, Version: live.Number, Hash: live.Hash, CreatedAt: live.Created, UpdatedAt: live.Updated, CreatedBy: live.CreatedBy,
		Watch: value.AppendJSON(nil, live.shown), Anchors: len(live.anchors), Queue: WatchQueue{Pending: h.Pending, Dropped: h.Dropped, Oldest: timeShown(h.Oldest)},
		Spend:       WatchSpend{Day: h.Spend.Day.Format(time.DateOnly), Budget: live.conf.Sample.BudgetPerDay, Spent: h.Spend.Spent, Reserved: h.Spend.Reserved, Uncertain: h.Spend.Uncertain, Events: h.Spend.Calls},
		LastVerdict: timeShown(h.LastVerdict), LastError: timeShown(h.LastError), Error: h.Error, Charts: []monitor.ChartView{},
	}
	if charts {
		if out.Charts, out.FalseAlarms, err = m.chartsOf(ctx, live); err != nil {
			return nil, err
		}
	}
	states, err := m.chartStates(ctx, live)
	if err != nil {
		return nil, err
	}
	alarms, err := in.ListAlarms(ctx, store.AlarmFilter{Watch: live.Name, State: []store.AlarmState{store.AlarmOpen, store.AlarmAcked}}, store.Page{Limit: store.MaxPage})
	if err != nil {
		return nil, err
	}
	out.OpenAlarms = len(alarms.Items)
	out.State, out.Causes = stateOf(alarms.Items, states, h)
	if set, err := m.setOf(ctx, live); err == nil { // without its set, the watch is silent and reports why
		out.Warnings = m.s.warnings(ctx, set)
	}
	if h.Pending > 0 && m.s.nobodyReads(ctx) {
		out.Warnings = append(out.Warnings, "events wait for a worker with --content-key-env: "+store.ErrSealed.Error())
	}
	return out, nil
}

// stateOf returns the state of a watch, and why it is silent.
func stateOf(alarms []store.Alarm, charts map[string]int, h store.WatchHealth) (state string, causes []string) {
	state = "ok"
	if h.LastVerdict.IsZero() || charts["watching"]+charts["alarm"] == 0 {
		state = "learning"
	}
	for i := range alarms {
		if alarms[i].Kind != "silent" {
			state = "alarm"
			continue
		}
		if cause := causeOf(&alarms[i]); !slices.Contains(causes, cause) { // several assertions may have the same cause
			causes = append(causes, cause)
		}
	}
	if len(causes) > 0 && state != "alarm" {
		state = "silent"
	}
	return state, causes
}

func timeShown(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// WatchVerdictView is a verdict on one assertion for one event.
type WatchVerdictView struct {
	Event        string    `json:"event"`
	Conversation string    `json:"conversation,omitempty"`
	Agent        string    `json:"agent"`
	Assertion    string    `json:"assertion"`
	Set          string    `json:"assertion_set_version"`
	Version      string    `json:"version,omitempty" doc:"Of the agent"`
	Judge        string    `json:"judge,omitempty"`
	Segment      string    `json:"segment,omitempty"`
	Time         time.Time `json:"time" doc:"Of the event"`
	At           time.Time `json:"at" doc:"When the verdict was stored"`
	Probability  float64   `json:"probability" doc:"With which the event was sampled"`
	Backfill     bool      `json:"backfill,omitempty" doc:"It is of the baseline of a new assertion"`
	Status       string    `json:"status" enum:"pass,fail,error,skip"`
	Score        *float64  `json:"score,omitempty"`
	Reason       string    `json:"reason,omitempty"`
	Cost         float64   `json:"cost,omitempty" doc:"US dollars"`
}

// WatchVerdictList is a page of verdicts.
type WatchVerdictList List[WatchVerdictView]

func watchVerdictOf(v *store.WatchVerdict) WatchVerdictView {
	return WatchVerdictView{
		Event: v.Event, Conversation: v.Conversation, Agent: v.Agent, Assertion: v.Assertion, Set: v.Set, Version: v.Version, Judge: v.Judge, Segment: v.Segment,
		Time: v.Time, At: v.At, Probability: v.Probability, Backfill: v.Backfill, Status: v.Status.String(), Score: v.Score, Reason: v.Reason, Cost: v.Cost,
	}
}

func (s *Server) listWatchVerdicts(c *call) error {
	f := store.VerdictFilter{Watch: c.r.PathValue("watch"), Assertion: c.q.Get("assertion"), Version: c.q.Get("version"), Segment: c.q.Get("segment"),
		Status: c.q.status(), Since: c.q.time("from"), Until: c.q.time("to")}
	if event := c.q.Get("event"); event != "" {
		f.Events = []string{event}
	}
	return c.nearestWatch(f.Watch, sendList(c, c.kept.ListVerdicts, f, watchVerdictOf))
}
