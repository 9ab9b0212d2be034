package server

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// TrafficEvent is a stored event.
type TrafficEvent struct {
	ID           string            `json:"id"`
	Agent        string            `json:"agent"`
	Time         time.Time         `json:"time"`
	Received     time.Time         `json:"received"`
	Conversation string            `json:"conversation,omitempty"`
	TraceID      string            `json:"trace_id,omitempty"`
	Kept         bool              `json:"kept" doc:"Whether its texts are kept: input, output, context, metadata and error"`
	Failed       bool              `json:"failed,omitempty" doc:"The agent did not answer"`
	Input        string            `json:"input,omitempty"`
	Output       string            `json:"output,omitempty"`
	Context      string            `json:"context,omitempty"`
	Error        string            `json:"error,omitempty"`
	Version      string            `json:"version,omitempty"`
	Prompt       string            `json:"prompt,omitempty" doc:"sha256: and the hash of its text, which is in /v1/agents/{agent}/prompts"`
	Model        string            `json:"model,omitempty"`
	Segment      map[string]string `json:"segment,omitempty"`
	User         string            `json:"user,omitempty"`
	Metadata     *value.Object     `json:"metadata,omitempty"`
	Usage        *EventUsage       `json:"usage,omitempty"`
	Cost         float64           `json:"cost,omitempty" doc:"US dollars"`
	LatencyMS    float64           `json:"latency_ms,omitempty"`
	Up           int               `json:"up" doc:"Thumbs up"`
	Down         int               `json:"down" doc:"Thumbs down"`
	Verdicts     []EventVerdict    `json:"verdicts,omitempty" doc:"Of watches, newest first; not in the list of events"`
	Feedback     []EventFeedback   `json:"feedback,omitempty" doc:"Newest first; only of a single event"`
}

// EventUsage are the tokens of an event.
type EventUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
}

// EventVerdict is the verdict of a watch on an event.
type EventVerdict struct {
	Assertion string    `json:"assertion"`
	Status    string    `json:"status" enum:"pass,fail,error,skip"`
	Score     *float64  `json:"score,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	Judge     string    `json:"judge,omitempty" doc:"Identity of the judge"`
	Set       string    `json:"set,omitempty" doc:"Hash of the version of the assertion set"`
	At        time.Time `json:"at"`
}

// EventFeedback is a thumb on an event.
type EventFeedback struct {
	User    string    `json:"user,omitempty"`
	Value   int       `json:"value"`
	Comment string    `json:"comment,omitempty"`
	Time    time.Time `json:"time"`
}

// TrafficList is a page of events.
type TrafficList List[TrafficEvent]

// Conversation is a page of the events of a conversation.
type Conversation struct {
	Conversation string         `json:"conversation"`
	Items        []TrafficEvent `json:"items" doc:"Oldest first"`
	Next         string         `json:"next,omitempty" doc:"What to send as after for the next page; missing on the last"`
}

// shortText is how many bytes of a text a list shows.
const shortText = 300

// trafficEvent converts an event for clients. If most is above 0, its texts are cut to that
// many bytes.
func trafficEvent(e *store.Event, most int) TrafficEvent {
	out := TrafficEvent{ID: e.ID, Agent: e.Agent, Time: e.Time, Received: e.Received, Conversation: e.Conversation, TraceID: e.TraceID, Kept: e.Kept, Failed: e.Failed,
		Input: e.Input, Output: e.Output, Context: e.Context, Error: e.Error, Version: e.Version, Prompt: e.Prompt, Model: e.Model, Segment: e.Segment, User: e.User, Metadata: e.Metadata,
		Cost: e.Cost, LatencyMS: milliseconds(e.Latency), Up: e.Up, Down: e.Down}
	if u := e.Usage; u.Prompt+u.Completion+u.Total > 0 {
		out.Usage = &EventUsage{u.Prompt, u.Completion, u.Total}
	}
	if most > 0 {
		for _, text := range []*string{&out.Input, &out.Output, &out.Error} {
			*text = excerpt.Bytes(*text, most)
		}
		out.Context, out.Metadata = "", nil
	}
	return out
}

// trafficFilter reads the filter of a request for events.
func (s *Server) trafficFilter(q *query) (f store.EventFilter, err error) {
	f = store.EventFilter{Agent: q.Get("agent"), Conversation: q.Get("conversation"), TraceID: q.Get("trace_id"), User: q.Get("user"), Version: q.Get("version"), Model: q.Get("model"),
		Prompt: q.Get("prompt"), Text: q.Get("q"), Watch: q.Get("watch"), Assertion: q.Get("assertion"), Since: q.time("since"), Until: q.time("until"), Status: q.status(), Kept: choice(q, "kept", "yes") != "",
		Feedback: map[string]int{"up": 1, "down": -1}[choice(q, "feedback", "up", "down")]}
	if n := utf8.RuneCountInString(f.Text); n > maxSearch {
		q.wrong(proviso.Errorf(proviso.Limit, "q has %d characters, and at most %d are searched for", n, maxSearch))
	}
	if failed := choice(q, "failed", "yes", "no"); failed != "" {
		is := failed == "yes"
		f.Failed = &is
	}
	if f.User != "" && !strings.HasPrefix(f.User, ingest.HashMark) {
		f.User = s.o.Redactor.User(f.User)
	}
	f.Segment, err = segmentsOf(q.Get("segment"))
	q.wrong(err)
	return f, q.err
}

// segmentsOf parses segments such as lang:de,tier:1.
func segmentsOf(text string) (map[string]string, error) {
	if text == "" {
		return nil, nil
	}
	out := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(part, ":")
		if !ok || name == "" {
			return nil, proviso.Errorf(proviso.Invalid, "segment has to be a name and a value such as lang:de, not %s", strconv.Quote(shortened(part)))
		}
		out[name] = value
	}
	if len(out) > ingest.MaxSegments {
		return nil, proviso.Errorf(proviso.Limit, "there are %d segments, and an event has at most %d", len(out), ingest.MaxSegments)
	}
	return out, nil
}

func (s *Server) listTraffic(c *call) error {
	f, err := s.trafficFilter(&c.q)
	if err == nil {
		err = c.isWatch(f.Watch)
	}
	if err != nil {
		return err
	}
	texts, most := choice(&c.q, "texts", "short", "full", "no"), shortText
	if f.Contents = texts != "no"; texts == "full" {
		most = 0
	}
	return sendList(c, c.kept.ListEvents, f, func(e *store.Event) TrafficEvent { return trafficEvent(e, most) })
}

func (s *Server) getTraffic(c *call) error {
	e, err := c.kept.Event(c.r.Context(), c.r.PathValue("event"))
	if err != nil {
		return err
	}
	out := []TrafficEvent{trafficEvent(&e, 0)}
	if err := addVerdicts(c.r.Context(), c.kept, out); err != nil {
		return err
	}
	thumbs, err := c.kept.ListFeedback(c.r.Context(), store.FeedbackFilter{Events: []string{e.ID}}, store.Page{Limit: maxThumbs})
	if err != nil {
		return err
	}
	for _, f := range thumbs.Items {
		out[0].Feedback = append(out[0].Feedback, EventFeedback{f.User, f.Value, f.Comment, f.Time})
	}
	return c.json(http.StatusOK, out[0])
}

// maxThumbs limits the thumbs of an event in a response.
const maxThumbs = 100

// addVerdicts adds to each event the verdicts on it.
func addVerdicts(ctx context.Context, kept store.EventJobs, events []TrafficEvent) error {
	if len(events) == 0 {
		return nil
	}
	of := map[string]*TrafficEvent{}
	f := store.VerdictFilter{}
	for i := range events {
		of[events[i].ID] = &events[i]
		f.Events = append(f.Events, events[i].ID)
	}
	list, err := kept.ListVerdicts(ctx, f, store.Page{Limit: store.MaxPage})
	if err != nil {
		return err
	}
	for i := range list.Items {
		v := &list.Items[i]
		if e := of[v.Event]; e != nil {
			e.Verdicts = append(e.Verdicts, EventVerdict{Assertion: v.Assertion, Status: v.Status.String(), Score: v.Score, Reason: v.Reason, Judge: v.Judge, Set: v.Set, At: v.At})
		}
	}
	return nil
}

func (s *Server) getConversation(c *call) error {
	page := c.q.page()
	if c.q.err != nil {
		return c.q.err
	}
	name := c.r.PathValue("conversation")
	list, err := c.kept.Conversation(c.r.Context(), name, page)
	if err != nil {
		return err
	}
	out := Conversation{Conversation: name, Items: make([]TrafficEvent, 0, len(list.Items)), Next: list.Next}
	for i := range list.Items {
		out.Items = append(out.Items, trafficEvent(&list.Items[i], 0))
	}
	if err := addVerdicts(c.r.Context(), c.kept, out.Items); err != nil {
		return err
	}
	return c.json(http.StatusOK, out)
}

func (s *Server) forgetUser(c *call, in *ForgottenUser) error {
	user := in.User
	if !strings.HasPrefix(user, ingest.HashMark) {
		user = s.o.Redactor.User(user)
	}
	if strings.Contains(user, ingest.Removed) {
		return pointed("/user", proviso.Unsupported, "the rules of redaction remove the names of users, so that the events of this user cannot be distinguished from those of others; a rule with hash_env keeps them apart")
	}
	n, err := c.kept.ForgetUser(context.WithoutCancel(c.r.Context()), user)
	if err != nil {
		return err
	}
	s.o.Log.Info("forgot a user", "project", string(c.project), "events", n.Events, "feedback", n.Feedback, "verdicts", n.Verdicts)
	return c.json(http.StatusOK, Forgotten(n))
}
