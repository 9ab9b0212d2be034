package server

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// Agent is what answers in production.
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

// VersionHistory is the history of the prompt of an agent, as `proviso spade` reads it.
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
