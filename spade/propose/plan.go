package propose

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/rules"
	"github.com/proviso-eval/proviso/spade/trial"
)

// job is one question about sentences of one version, or of several small ones, with its
// result.
type job struct {
	changes []*delta.Change // versions that added the sentences, the oldest first
	deltas  []proviso.Delta
	// bad are outputs that nothing catches. Then the question is what is wrong with them, and
	// the sentences are those of the prompt.
	bad []*trial.Trial

	asked      []proviso.Delta // deltas asked about, even without an answer
	criteria   []DeltaCriterion
	candidates []proviso.Candidate
	caught     []int           // bad trials that they catch, as indices of trials
	made       map[string]bool // sentences that the candidates cover
	left       []rules.Unproposed
	dropped    []Dropped
	report     VersionReport
}

func (j *job) newest() *delta.Change { return j.changes[len(j.changes)-1] }

// plan finds the sentences that need a model, and groups them.
func (r *proposing) plan() []*job {
	done := map[string]bool{}
	var jobs []*job
	for i := range r.history.Changes {
		c := &r.history.Changes[i]
		var pending []proviso.Delta
		for _, d := range c.Deltas {
			key := delta.Key(d.Text)
			if !d.Added || d.Moved || done[key] {
				continue
			}
			switch d = r.said.first[key]; {
			case d.Part == string(delta.Heading) || d.Part == string(delta.Markup):
				// It requires nothing by itself.
			case d.Removed > 0 && !r.Dropped:
				r.left = append(r.left, rules.Unproposed{Delta: d, Category: "", Reason: "a later version does not say it any more"})
			case r.Earlier.asked(key):
				done[key] = true
			case d.Removed > 0 && r.said.still[letters(d.Text)]:
				// The requirement is unchanged: the question is about its current place.
			case r.Model != nil && asksNothing(d.Text):
				done[key] = true
				r.left = append(r.left, rules.Unproposed{Delta: d, Category: delta.OtherCategory, Reason: "it is a heading or data, and no model was asked about it"})
			default:
				done[key] = true
				pending = append(pending, d)
			}
		}
		if r.Model != nil {
			jobs = r.together(jobs, c, pending)
		}
	}
	return jobs
}

// asksNothing reports whether a sentence is certainly no instruction: a heading, a label of
// one or two words, a rule, or a variable with only its label.
func asksNothing(text string) bool {
	text = strings.Trim(strings.TrimSpace(text[delta.MarkerLength(text):]), "*_ ")
	if strings.HasPrefix(text, "#") && !strings.Contains(text, "\n") {
		return true
	}
	bare := promptVariable.Get().ReplaceAllString(text, "")
	if bare != text {
		label, rest, ok := strings.Cut(bare, ":")
		return !hasLetters(bare) || ok && !hasLetters(rest) && len(strings.Fields(label)) <= 2
	}
	label, ok := strings.CutSuffix(text, ":")
	return !hasLetters(text) || ok && len(strings.Fields(label)) <= 2
}

// letters returns the letters and digits of a text, in lower case: sentences with the same
// letters require the same.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

func hasLetters(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 || letter(byte(r)) })
}

// prompt returns the last version.
func (r *proposing) prompt() string { return r.last().Text }

func (r *proposing) last() *delta.Change { return &r.history.Changes[len(r.history.Changes)-1] }

// together adds the questions about one version, within the limits. A version that fits into
// the question about those before it gets no question of its own.
func (r *proposing) together(jobs []*job, c *delta.Change, deltas []proviso.Delta) []*job {
	if len(deltas) > maxAsked {
		for _, d := range deltas[maxAsked:] {
			r.left = append(r.left, rules.Unproposed{Delta: d, Category: "", Reason: fmt.Sprintf("the version brings more than the %d sentences that a model is asked about", maxAsked)})
		}
		r.note(c.Number, "%d sentences of it were not asked about: %d are the most of one version at a time", len(deltas)-maxAsked, maxAsked)
		deltas = deltas[:maxAsked]
	}
	if len(deltas) == 0 {
		return jobs
	}
	size := sizeOf(deltas)
	if n := len(jobs); n > 0 && len(jobs[n-1].deltas)+len(deltas) <= maxTogether && sizeOf(jobs[n-1].deltas)+size <= maxTogetherSize {
		jobs[n-1].changes = append(jobs[n-1].changes, c)
		jobs[n-1].deltas = append(jobs[n-1].deltas, deltas...)
		deltas = nil
	}
	fresh := true
	for _, d := range deltas {
		if len(d.Text) > delta.MaxSentence {
			r.note(c.Number, "line %d: the first %d of %d bytes were shown", d.Line, delta.MaxSentence, len(d.Text))
		}
		n := len(jobs)
		if fresh || len(jobs[n-1].deltas) == maxTogether || sizeOf(jobs[n-1].deltas)+sizeOf([]proviso.Delta{d}) > maxTogetherSize {
			jobs, fresh = append(jobs, &job{changes: []*delta.Change{c}}), false
		}
		j := jobs[len(jobs)-1]
		j.deltas = append(j.deltas, d)
	}
	if len(c.Text) > ask.MaxPromptShown {
		r.note(c.Number, "the prompt has %d bytes, of which the beginning and the end were shown, %d in all", len(c.Text), ask.MaxPromptShown)
	}
	return jobs
}

// sizeOf returns how many bytes of sentences a question has.
func sizeOf(deltas []proviso.Delta) int {
	size := 0
	for _, d := range deltas {
		size += min(len(d.Text), delta.MaxSentence)
	}
	return size
}

// maxUncaught is how many bad outputs one question covers.
const maxUncaught = 4

// uncaught returns the bad outputs that nothing catches, as indices of trials, and the
// sentences of the prompt that such an output could break.
func (r *proposing) uncaught() (bad []int, deltas []proviso.Delta) {
	if r.Model == nil {
		return nil, nil
	}
	for _, id := range r.Uncaught {
		for i := range r.Trials {
			if r.Trials[i].ID == id && r.Trials[i].Label == labelBad {
				bad = append(bad, i)
			}
		}
	}
	for _, u := range delta.Split(r.prompt()) {
		if d, ok := r.said.first[u.Key]; ok && !asksNothing(d.Text) && sizeOf(append(deltas, d)) <= maxTogetherSize {
			deltas = append(deltas, d)
		}
	}
	if len(deltas) == 0 {
		return nil, nil
	}
	return bad, deltas
}

// nextUncaught makes the question about the next bad outputs; nil if none is left. It skips
// those that the answers so far catch.
func (r *proposing) nextUncaught() *job {
	var bad []*trial.Trial
	for ; len(r.pending) > 0 && len(bad) < maxUncaught; r.pending = r.pending[1:] {
		if !slices.ContainsFunc(r.done, func(j *job) bool { return slices.Contains(j.caught, r.pending[0]) }) {
			bad = append(bad, &r.Trials[r.pending[0]])
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return &job{changes: []*delta.Change{r.last()}, deltas: slices.Clone(r.broken), bad: bad}
}

// runAll asks about the sentences of a job. If the answer about several versions together is
// unusable, it asks about each of them, so that one does not block the others. It returns the
// finished parts.
func (j *job) runAll(ctx context.Context, r *proposing) []*job {
	j.run(ctx, r)
	unreachable := proviso.CodeOf(j.report.Err) == proviso.Unavailable
	if j.report.Err == nil || unreachable || len(j.changes) == 1 || len(j.deltas) > 0 || ctx.Err() != nil {
		return []*job{j}
	}
	var parts []*job
	for _, c := range j.changes {
		part := &job{changes: []*delta.Change{c}}
		for _, d := range j.asked {
			if d.Version == c.Number {
				part.deltas = append(part.deltas, d)
			}
		}
		if len(parts) == 0 {
			part.report.Spent = j.report.Spent
		}
		part.run(ctx, r)
		parts = append(parts, part)
	}
	return parts
}
