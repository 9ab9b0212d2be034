package notify

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/proviso-eval/proviso/forge"
	"github.com/proviso-eval/proviso/report"
)

// issues keeps one GitHub issue for each alarm, and closes it with the alarm.
type issues struct {
	forge  *forge.Issues
	labels []string
}

func openIssues(t *target, o Options, _ *http.Client, now func() time.Time) (sender, error) {
	token, err := variable(o.Env, t.tokenEnv)
	if err != nil {
		return nil, err
	}
	f, err := forge.OpenIssues(forge.Place{Forge: "github", API: t.api, Repository: t.repository}, forge.Options{Network: o.Network, Token: token, Now: now})
	if err != nil {
		return nil, err
	}
	t.hosts = []string{f.Host()}
	return &issues{f, t.labels}, nil
}

func (s *issues) send(ctx context.Context, m *Message, a *alarm) (string, error) {
	i := forge.Issue{Key: a.ID, Title: plain(a.title(), 200), Body: issueBody(m, a), Labels: s.labels, Since: a.Opened}
	if m.Event == Closed {
		return s.forge.Close(ctx, i, m.Remote)
	}
	return s.forge.Open(ctx, i, m.Remote)
}

// issueBody renders an alarm as Markdown.
func issueBody(m *Message, a *alarm) string {
	var b strings.Builder
	b.WriteString("| | |\n| --- | --- |\n")
	for _, r := range a.rows() {
		b.WriteString("| " + r.name + " | " + report.MarkdownSentence(r.text) + " |\n")
	}
	if m.Link != "" {
		b.WriteString("\n[Open the alarm](<" + strings.NewReplacer("<", "%3C", ">", "%3E", " ", "%20", "\n", "").Replace(m.Link) + ">)\n")
	}
	return b.String()
}
