package server

import (
	"time"

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

// listAgents lists the agents that sent events.
func (s *Server) listAgents(c *call) error {
	return sendList(c, whole(c.kept.ListAgents), struct{}{}, func(a *store.Agent) Agent { return Agent(*a) })
}

// listAgentPrompts lists the prompts of an agent.
func (s *Server) listAgentPrompts(c *call) error {
	return sendList(c, c.kept.ListPrompts, c.r.PathValue("agent"), func(a *store.AgentPrompt) AgentPrompt { return AgentPrompt(*a) })
}
