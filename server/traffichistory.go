package server

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/proviso-eval/proviso"
)

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

// getPromptHistory sends the prompts of an agent as versions of one prompt.
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
