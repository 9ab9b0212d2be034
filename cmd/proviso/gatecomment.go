package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/forge"
)

// publish writes the result in Markdown to the file of --markdown, and as the comment of
// --comment. A comment that cannot be posted changes no decision, so it is a warning.
func (g *gating) publish(ctx context.Context, text string) error {
	if g.f.markdown != "" {
		if err := g.writeMarkdown(text); err != nil {
			return proviso.Errorf(proviso.Unavailable, "write the report: %w", err)
		}
	}
	if !g.f.comment {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, commentTime, proviso.Errorf(proviso.Timeout, "the comment took longer than %v", commentTime))
	defer cancel()
	if err := g.app.comment(ctx, &commentFlags{suite: g.commentKey()}, text); err != nil {
		text := "no comment: " + err.Error()
		if errors.Is(err, forge.ErrNoToken) {
			text += "; a pull request from a fork has none: docs/ci.md has the two workflows that comment on it"
		}
		g.warn(text)
	}
	return nil
}

// leastSummary is how many bytes of a summary are worth writing: the decision and figures.
const leastSummary = 4 << 10

// writeMarkdown writes the file of --markdown. That of the job summary of GitHub is added
// to, within its limit, as eval does.
func (g *gating) writeMarkdown(text string) error {
	if summary, _ := g.env.Lookup("GITHUB_STEP_SUMMARY"); g.f.markdown == summary {
		left := forge.SummaryLimit
		if info, err := os.Stat(summary); err == nil { // a new file has all of it
			left -= int(min(info.Size(), forge.SummaryLimit))
		}
		if left < leastSummary {
			g.warn("no summary: this step has used up the 1 MiB that GitHub shows of its summary; run the gate in a step of its own")
			return nil
		}
		return addTo(summary, []byte(forge.Cut(text, left, func(s string) int { return len(s) })))
	}
	return os.WriteFile(g.f.markdown, []byte(text), 0o644)
}

// commentKey names the suite in its comment as the action does: by the files of -c.
func (g *gating) commentKey() string {
	switch {
	case len(g.f.configs) > 0:
		return strings.Join(g.f.configs, ",")
	case g.loaded != nil:
		return g.loaded.File
	}
	return g.suite
}

// setLink checks the address of --link, which everybody who reads the comment sees.
func (f *gateFlags) setLink(text string) error {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return fmt.Errorf("expected an address such as `proviso push` prints, found %q", proviso.RedactedURL(text))
	}
	if u.User != nil {
		return errors.New("expected an address without a password")
	}
	f.link = u.String()
	return nil
}
