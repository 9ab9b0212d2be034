package server

import (
	"net/http"
	"time"
)

// Agent is what answers in production.
type Agent struct {
	Name   string    `json:"name"`
	First  time.Time `json:"first" doc:"When its first event was received"`
	Last   time.Time `json:"last" doc:"When its latest event was received"`
	Events int       `json:"events"`
}

// AgentList is a page of agents.
type AgentList struct {
	Items []Agent `json:"items"`
	Next  string  `json:"next,omitempty" doc:"What to send as after for the next page; missing on the last"`
}

// AgentPrompt is a prompt of an agent.
type AgentPrompt struct {
	Hash   string    `json:"hash" doc:"sha256: and the hash of its text"`
	Text   string    `json:"text,omitempty" doc:"Missing if it is unknown"`
	First  time.Time `json:"first" doc:"When its first event was received"`
	Last   time.Time `json:"last" doc:"When its latest event was received"`
	Events int       `json:"events"`
}

// AgentPromptList is a page of prompts.
type AgentPromptList struct {
	Items []AgentPrompt `json:"items"`
	Next  string        `json:"next,omitempty" doc:"What to send as after for the next page; missing on the last"`
}

// listAgents lists the agents that sent events.
func (s *Server) listAgents(c *call) error {
	q, err := c.query("limit", "after")
	if err != nil {
		return err
	}
	page, err := pageOf(q)
	if err != nil {
		return err
	}
	list, err := c.kept.ListAgents(c.r.Context(), page)
	if err != nil {
		return err
	}
	out := AgentList{Items: []Agent{}, Next: list.Next}
	for _, a := range list.Items {
		out.Items = append(out.Items, Agent(a))
	}
	return c.json(http.StatusOK, out)
}

// listAgentPrompts lists the prompts of an agent.
func (s *Server) listAgentPrompts(c *call) error {
	q, err := c.query("limit", "after")
	if err != nil {
		return err
	}
	page, err := pageOf(q)
	if err != nil {
		return err
	}
	list, err := c.kept.ListPrompts(c.r.Context(), c.r.PathValue("agent"), page)
	if err != nil {
		return err
	}
	out := AgentPromptList{Items: []AgentPrompt{}, Next: list.Next}
	for _, p := range list.Items {
		out.Items = append(out.Items, AgentPrompt(p))
	}
	return c.json(http.StatusOK, out)
}
