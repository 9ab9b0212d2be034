package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/forge"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/gate/show"
	"github.com/proviso-eval/proviso/report"
)

// limit turns a pass into inconclusive if the run file lacks rows. It adds the notes if there is no
// comparison to show them.
func (g *gating) limit(d *gate.Decision) {
	if d.Outcome == gate.Pass && g.outcome == nil && len(g.head.notes) > 0 {
		d.Outcome, d.Reasons = gate.Inconclusive, nil
		for _, note := range g.head.notes {
			d.Reasons = append(d.Reasons, gate.Reason{Rule: "left-out", Message: note})
		}
		return
	}
	if g.base != nil {
		return
	}
	for _, note := range slices.Concat(g.head.notes, g.notes) {
		d.Reasons = append(d.Reasons, gate.Reason{Rule: "note", Message: note})
	}
}

// writeOutputs writes the reports of -o. They begin with the decision, unless it is nil.
func (g *gating) writeOutputs(ctx context.Context, d *report.Decision) error {
	if g.outcome == nil {
		return nil
	}
	out := g.outcome
	out.Meta.Decision = d
	return writeReports(context.WithoutCancel(ctx), g.f.written, out.Meta, out.Summary, out.Rows)
}

// brokenRows reports which rows of the head the change broke; nil without a baseline.
func brokenRows(c *gate.Comparison) func(row int) bool {
	if c == nil {
		return nil
	}
	broken := map[int]bool{}
	for i := range c.Cases.Broke {
		for _, row := range c.Cases.Broke[i].Head {
			broken[row] = true
		}
	}
	return func(row int) bool { return broken[row] }
}

// print writes the result to standard output, and as Markdown to where the flags request it.
func (g *gating) print(ctx context.Context, c *gate.Comparison, d *gate.Decision, texts show.Texts) error {
	o := g.options()
	if err := writeComparison(g.out, g.f.format, c, d, texts, o); err != nil {
		return err
	}
	return g.report(ctx, c, d, texts, o)
}

func (g *gating) options() show.Options {
	o := show.Options{Suite: g.suite, Link: g.f.link, Cases: g.f.cases, Reproduce: g.reproduce()}
	return g.inTerminal(o)
}

// report writes the result as Markdown to where the flags request it.
func (g *gating) report(ctx context.Context, c *gate.Comparison, d *gate.Decision, texts show.Texts, o show.Options) error {
	if g.f.markdown == "" && !g.f.comment {
		return nil
	}
	var text strings.Builder
	if err := show.Markdown(&text, c, d, texts, o); err != nil {
		return err
	}
	return g.publish(ctx, text.String())
}

// reproduce returns the command that repeats the decision without running anything.
func (g *gating) reproduce() []string {
	if g.base == nil || g.base.id == "" || g.head.id == "" {
		return nil
	}
	return []string{"proviso gate --baseline " + shellWord(g.base.id) + " --run " + shellWord(g.head.id) + inFolder(g.f.runDir)}
}

// shellWord quotes a text for a POSIX shell if necessary.
func shellWord(text string) string {
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+,-") == "" && text[0] != '-' {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// publish writes the result as Markdown to the file of --markdown, and posts it as the comment of
// --comment. A comment that cannot be posted does not change the decision, so it is only a warning.
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

// leastSummary is the minimum size of a summary in bytes that is worth writing: the decision and
// the figures.
const leastSummary = 4 << 10

// writeMarkdown writes the file of --markdown. If that is the job summary of GitHub, it appends
// within GitHub's limit, as eval does.
func (g *gating) writeMarkdown(text string) error {
	if summary, _ := g.env.Lookup("GITHUB_STEP_SUMMARY"); g.f.markdown == summary {
		left := forge.SummaryLimit
		if info, err := os.Stat(summary); err == nil { // a new file has the whole limit
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

// commentKey identifies the suite's comment as the action does: by the files of -c.
func (g *gating) commentKey() string {
	switch {
	case len(g.f.configs) > 0:
		return strings.Join(g.f.configs, ",")
	case g.loaded != nil:
		return g.loaded.File
	}
	return g.suite
}

// setLink checks the URL of --link, which every reader of the comment sees.
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
