package server

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// NewEvents are production events.
type NewEvents struct {
	Events []NewEvent `json:"events" doc:"At most 1000"`
}

// NewEvent is one answer of an agent in production. ingest.ReadEvent parses it.
type NewEvent struct {
	ID           string            `json:"id" doc:"The same id again is a duplicate, which changes nothing; up to 200 bytes, as all names"`
	Agent        string            `json:"agent" doc:"What answered"`
	Time         string            `json:"time,omitempty" doc:"When it answered (RFC 3339); now if it is missing, and at most an hour ahead of the clock of the server"`
	Conversation string            `json:"conversation,omitempty" doc:"What the event is part of; events of one conversation are sampled together"`
	TraceID      string            `json:"trace_id,omitempty" doc:"Of OpenTelemetry"`
	Input        any               `json:"input,omitempty" doc:"What it was asked: a text, or a structure, which is kept as its JSON. Up to 2 MiB, as each of output, context, prompt and metadata"`
	Output       any               `json:"output,omitempty" doc:"What it answered, as input. An event has an output or an error"`
	Context      any               `json:"context,omitempty" doc:"What it could look at, as input"`
	Version      string            `json:"version,omitempty" doc:"Of the agent"`
	Prompt       string            `json:"prompt,omitempty" doc:"The text of its prompt, which is kept once, or sha256: and its hash"`
	Model        string            `json:"model,omitempty"`
	Segment      map[string]string `json:"segment,omitempty" doc:"What traffic is grouped by, such as lang: de; up to 16 members"`
	User         string            `json:"user,omitempty"`
	Metadata     *value.Object     `json:"metadata,omitempty"`
	Usage        *value.Object     `json:"usage,omitempty" doc:"Tokens: prompt_tokens, completion_tokens and total_tokens, or the names of other vendors"`
	Cost         float64           `json:"cost,omitempty" doc:"US dollars"`
	LatencyMS    float64           `json:"latency_ms,omitempty"`
	Error        string            `json:"error,omitempty" doc:"Why there is no answer, up to 10000 bytes"`
}

// NewFeedback is a user's thumb.
type NewFeedback struct {
	Event   string `json:"event,omitempty" doc:"The id of the event, which may come later; or else trace_id"`
	TraceID string `json:"trace_id,omitempty" doc:"Of the trace"`
	User    string `json:"user,omitempty" doc:"The same user replaces; thumbs without a user count as those of one"`
	Value   int    `json:"value" doc:"1 or -1"`
	Comment string `json:"comment,omitempty" doc:"Up to 4000 bytes"`
	Time    string `json:"time,omitempty" doc:"RFC 3339; now if it is missing"`
}

// ForgottenUser names a user whose data are removed.
type ForgottenUser struct {
	User string `json:"user" doc:"As events have it; the server hashes it as its rules say"`
}

// Forgotten counts the removed data of a user.
type Forgotten struct {
	Events   int `json:"events"`
	Feedback int `json:"feedback"`
	Verdicts int `json:"verdicts" doc:"Whose reasons were removed; that they passed or failed stays"`
}

// trafficFilters are the parameters that select events.
var trafficFilters = []param{
	{Name: "agent", Kind: "string", Doc: "Only of this agent"}, {Name: "conversation", Kind: "string", Doc: "Only of this conversation"},
	{Name: "trace_id", Kind: "string", Doc: "Only of this trace"}, {Name: "user", Kind: "string", Doc: "Only of this user, as it is stored or as it was sent"},
	{Name: "version", Kind: "string", Doc: "Only of this version of the agent"}, {Name: "model", Kind: "string", Doc: "Only of this model"},
	{Name: "prompt", Kind: "string", Doc: "Only with this prompt: sha256: and its hash"},
	{Name: "segment", Kind: "string", Doc: "Only of this segment, such as lang:de; several separated by commas"},
	{Name: "q", Kind: "string", Doc: "Only with this text in input, output, context or error, whatever the case of its letters; up to 200 characters"},
	{Name: "since", Kind: "string", Doc: "Only of this time or later (RFC 3339)"}, {Name: "until", Kind: "string", Doc: "Only from before this time (RFC 3339)"},
	{Name: "failed", Kind: "string", Enum: []string{"yes", "no"}, Doc: "yes: only those without an answer"},
	{Name: "kept", Kind: "string", Enum: []string{"yes"}, Doc: "yes: only those whose texts are kept"},
	{Name: "feedback", Kind: "string", Enum: []string{"up", "down"}, Doc: "Only with such a thumb"},
	{Name: "watch", Kind: "string", Doc: "Only with a verdict of this watch"}, {Name: "assertion", Kind: "string", Doc: "Only with a verdict on this assertion"},
	{Name: "status", Kind: "string", Enum: []string{"pass", "fail", "error", "skip"}, Doc: "Only with such a verdict"},
}

func trafficRoutes() []*route {
	agent := in("agent", "The name of the agent")
	texts := param{Name: "texts", Kind: "string", Enum: []string{"short", "full", "no"}, Doc: "How much of the texts; short, the beginnings, if it is missing"}
	return []*route{
		{Method: http.MethodPost, Path: "/v1/events", ID: "send-events", Scope: store.Ingest, Status: http.StatusAccepted, Asks: true, Handle: (*Server).postEvents,
			Summary: "Take answers of agents in production", Detail: eventsTaken, Request: typeOf[NewEvents](), Response: typeOf[PostedEvents]()},
		{Method: http.MethodGet, Path: "/v1/events", ID: "list-events", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).listTraffic,
			Summary: "List events, newest first by their time", Detail: trafficListed, Response: typeOf[TrafficList](), Params: slices.Concat(trafficFilters, []param{texts}, paging)},
		{Method: http.MethodGet, Path: "/v1/events/{event}", ID: "get-event", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).getTraffic,
			Summary: "An event with its texts, the verdicts on it and its thumbs", Params: []param{in("event", "Its id")}, Response: typeOf[TrafficEvent]()},
		{Method: http.MethodGet, Path: "/v1/conversations/{conversation}", ID: "get-conversation", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).getConversation,
			Summary: "The events of a conversation, oldest first, with the verdicts on them", Params: slices.Concat([]param{in("conversation", "Its id")}, paging), Response: typeOf[Conversation]()},
		{Method: http.MethodPost, Path: "/v1/feedback", ID: "send-feedback", Scope: store.Ingest, Status: http.StatusCreated, Handle: (*Server).postFeedback,
			Summary: "Take the thumb of a user", Detail: "A later thumb of the same user on the same event or trace replaces it.", Request: typeOf[NewFeedback](), Response: typeOf[PostedFeedback]()},
		{Method: http.MethodGet, Path: "/v1/agents", ID: "list-agents", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).listAgents,
			Summary: "List the agents that sent events, by name", Params: paging, Response: typeOf[AgentList]()},
		{Method: http.MethodGet, Path: "/v1/agents/{agent}/prompts", ID: "list-agent-prompts", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).listAgentPrompts,
			Summary: "List the prompts of an agent, the newest first", Params: slices.Concat([]param{agent}, paging), Response: typeOf[AgentPromptList](),
			Detail: "The text of a prompt is missing if events had only its hash."},
		{Method: http.MethodGet, Path: "/v1/agents/{agent}/history", ID: "get-prompt-history", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).getPromptHistory,
			Summary: "The prompts of an agent as versions of one prompt, oldest first", Params: []param{agent}, Response: typeOf[VersionHistory](),
			Detail: "Kept as a .json file, it is what `proviso spade` reads."},
		{Method: http.MethodPost, Path: "/v1/forget", ID: "forget-user", Scope: store.Admin, Status: http.StatusOK, Asks: true, Handle: reads((*Server).forgetUser),
			Summary: "Remove the events and thumbs of a user", Detail: forgotten, Request: typeOf[ForgottenUser](), Response: typeOf[Forgotten]()},
	}
}

const eventsTaken = "Events are checked one by one: those with a mistake are in rejected, and the others are stored. They are redacted before anything is stored. " +
	"The answer comes when they are stored. 503 with Retry-After says that nothing was, because the server is overloaded; sending the same again is safe."

const trafficListed = "A page may be shorter than limit, and even empty, although there is a next one: a rare event is looked for in steps."

const forgotten = "The reasons of verdicts on these events are removed, too. Counts and rates stay. Datasets and labels that people made of events are not changed."

// Agent is an agent that sends events.
type Agent struct {
	Name   string    `json:"name"`
	First  time.Time `json:"first" doc:"When its first event was received"`
	Last   time.Time `json:"last" doc:"When its latest event was received"`
	Events int       `json:"events"`
}

// AgentList is a page of agents.
type AgentList List[Agent]

// AgentPrompt is a prompt of an agent.
type AgentPrompt struct {
	Hash   string    `json:"hash" doc:"sha256: and the hash of its text"`
	Text   string    `json:"text,omitempty" doc:"Missing if it is unknown"`
	First  time.Time `json:"first" doc:"When its first event was received"`
	Last   time.Time `json:"last" doc:"When its latest event was received"`
	Events int       `json:"events"`
}

// AgentPromptList is a page of prompts.
type AgentPromptList List[AgentPrompt]

func (s *Server) listAgents(c *call) error {
	return sendList(c, whole(c.kept.ListAgents), struct{}{}, func(a *store.Agent) Agent { return Agent(*a) })
}

func (s *Server) listAgentPrompts(c *call) error {
	return sendList(c, c.kept.ListPrompts, c.r.PathValue("agent"), func(a *store.AgentPrompt) AgentPrompt { return AgentPrompt(*a) })
}

// VersionHistory is the history of an agent's prompt, in the form that `proviso spade` reads.
type VersionHistory struct {
	Versions []HistoryVersion `json:"versions" doc:"Oldest first, at most 1000 and 16 MiB of text; the latest if there are more"`
	Unknown  int              `json:"unknown" doc:"Prompts that are left out because events had only their hash"`
	Left     int              `json:"left_out" doc:"Older prompts that are left out because there are too many"`
}

// HistoryVersion is one version of a prompt.
type HistoryVersion struct {
	Version   int       `json:"version" doc:"From 1"`
	Name      string    `json:"name" doc:"The beginning of its hash"`
	Text      string    `json:"text"`
	CreatedAt time.Time `json:"created_at" doc:"When its first event was received"`
	Events    int       `json:"events"`
}

// Limits of a history.
const (
	maxVersions     = 1000
	maxVersionTexts = 16 << 20
	hashShown       = len("sha256:") + 12
)

func (s *Server) getPromptHistory(c *call) error {
	out := VersionHistory{Versions: []HistoryVersion{}}
	size := 0
	for p, err := range all(c.r.Context(), c.kept.ListPrompts, c.r.PathValue("agent")) { // newest first
		switch {
		case err != nil:
			return err
		case p.Text == "":
			out.Unknown++
		case out.Left > 0 || len(out.Versions) == maxVersions || size+len(p.Text) > maxVersionTexts:
			out.Left++
		default:
			size += len(p.Text)
			out.Versions = append(out.Versions, HistoryVersion{Name: p.Hash[:min(len(p.Hash), hashShown)], Text: p.Text, CreatedAt: p.First, Events: p.Events})
		}
	}
	if len(out.Versions)+out.Unknown == 0 {
		return proviso.Errorf(proviso.NotFound, "there is no agent %s with a prompt", strconv.Quote(shortened(c.r.PathValue("agent"))))
	}
	slices.Reverse(out.Versions)
	for i := range out.Versions {
		out.Versions[i].Version = i + 1
	}
	return c.json(http.StatusOK, out)
}
