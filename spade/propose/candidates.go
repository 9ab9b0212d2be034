package propose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/rules"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/value"
)

// Limits of the second question, which asks for candidates.
const (
	maxCovered    = 16 // criteria per question
	maxOfOne      = 3  // candidates per criterion
	maxCandidates = 4 * maxCovered
	maxTogetherOf = 2 // criteria that a candidate covers
)

// entry is a candidate as the model wrote it, with its problem, if any.
type entry struct {
	name, description string
	covers            []int // criterion numbers
	object            *value.Object
	candidate         proviso.Candidate
	problem           string
	note              string // why it could not be tried
	tried             tried  // results on labelled outputs
}

// askCandidates asks for assertions that decide criteria and tries them. It asks once more
// about those that are unusable or decide labelled outputs wrongly.
func (j *job) askCandidates(ctx context.Context, r *proposing, list []DeltaCriterion) error {
	shown := r.shown(j)
	d := ask.Begin(r.Model, "candidates", candidatesReply(), 8192, j.material(r, list, shown))
	defer func() { j.report.Spent.Add(d.Spent) }()
	w := &writing{job: j, proposing: r, criteria: list, hash: d.Hash, shown: shown}
	var said []any
	read := reader("candidates", maxCandidates, &said)
	if err := d.Ask(ctx, read); err != nil {
		return err
	}
	w.take(ctx, said)
	j.report.Proposed += len(w.entries)
	if problems, outputs := w.problems(); len(problems) > 0 && ctx.Err() == nil {
		d.Again(ask.Piece{Name: "problems", Text: ask.JSONLines(problems)}, ask.Piece{Name: "outputs", Text: ask.JSONLines(r.outputs(outputs))})
		if err := d.Ask(ctx, read); err != nil {
			j.report.Notes = append(j.report.Notes, "what was wrong with candidates was not corrected: "+err.Error())
		} else {
			w.correct(ctx, said)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	w.keep()
	return nil
}

// writing processes the answer to one second question.
type writing struct {
	*job
	*proposing
	criteria []DeltaCriterion
	hash     string
	shown    []*trial.Trial
	entries  []*entry
}

// take reads the candidates of an answer.
func (w *writing) take(ctx context.Context, said []any) {
	for _, e := range said {
		o, _ := e.(*value.Object)
		if x := w.read(ctx, o); !w.repeats(x) {
			w.entries = append(w.entries, x)
		}
	}
	w.judge(ctx, w.entries)
}

// repeats reports whether a candidate equals another one of the same name. The other one then
// also covers its criteria.
func (w *writing) repeats(x *entry) bool {
	i := slices.IndexFunc(w.entries, func(old *entry) bool {
		return x.problem == "" && old.problem == "" && old.candidate.Name == x.candidate.Name && candidate.Check(&old.candidate) == candidate.Check(&x.candidate)
	})
	if i < 0 {
		return false
	}
	old := w.entries[i]
	for _, n := range x.covers {
		if !slices.Contains(old.covers, n) {
			old.covers = append(old.covers, n)
		}
	}
	return true
}

// correct reads the second answer. A candidate with the name of an unusable one replaces it.
// One with the name of a candidate that decided outputs wrongly replaces that only if it is
// better. The rest is new.
func (w *writing) correct(ctx context.Context, said []any) {
	var list []*entry
	for _, e := range said {
		o, _ := e.(*value.Object)
		if w.takenBack(o) {
			continue
		}
		if x := w.read(ctx, o); !w.repeats(x) {
			list = append(list, x)
		}
	}
	w.judge(ctx, list)
	for _, x := range list {
		i := slices.IndexFunc(w.entries, func(old *entry) bool {
			return old.name == x.name && (old.problem != "" || w.weak(old) != "")
		})
		switch {
		case i < 0:
			w.report.Proposed++
			w.entries = append(w.entries, x)
		case w.entries[i].problem != "":
			if w.entries[i] = x; x.problem == "" {
				w.report.Repaired++
			}
		case x.problem == "" && x.tried.better(&w.entries[i].tried, w.Tau):
			w.entries[i] = x
			w.report.Improved++
		}
	}
}

// takenBack drops a candidate that decides outputs wrongly if the model gives it up: the
// answer names it, with nothing that it covers.
func (w *writing) takenBack(o *value.Object) bool {
	covers, isList := o.At("covers").([]any)
	i := slices.IndexFunc(w.entries, func(x *entry) bool {
		return x.name == strings.TrimSpace(o.Text("name")) && w.weak(x) != ""
	})
	if !isList || len(covers) > 0 || i < 0 {
		return false
	}
	w.drop(excerpt.Head(w.entries[i].name, maxCriterion), "", "the model took it back: it fails %s", w.entries[i].tried.failures(w.Trials))
	w.entries = slices.Delete(w.entries, i, i+1)
	return true
}

// read reads one candidate, compiles and tries it.
func (w *writing) read(ctx context.Context, o *value.Object) *entry {
	text := func(key string) string { s, _ := o.At(key).(string); return strings.TrimSpace(s) }
	x := &entry{name: text("name"), description: text("description")}
	wrong := func(format string, args ...any) *entry {
		x.problem = fmt.Sprintf(format, args...)
		return x
	}
	covers, _ := o.At("covers").([]any)
	for _, v := range covers {
		n, ok := v.(float64)
		if !ok || n != float64(int(n)) || n < 1 || int(n) > len(w.criteria) {
			return wrong("covers has %s, which is the number of no criterion; they are 1 to %d", value.Stringify(v), len(w.criteria))
		}
		if !slices.Contains(x.covers, int(n)) {
			x.covers = append(x.covers, int(n))
		}
	}
	switch {
	case o == nil:
		return wrong("a candidate is an object")
	case x.name == "" || rules.Slug(x.name) == "text":
		return wrong("name is missing")
	case x.description == "" || len(x.description) > maxCriterion:
		return wrong("description is missing, or has more than %d bytes", maxCriterion)
	case len(x.covers) == 0:
		return wrong("covers is empty")
	case len(x.covers) > maxTogetherOf:
		return wrong("it covers %d criteria, and at most %d are allowed: make several of it", len(x.covers), maxTogetherOf)
	}
	if len(x.covers) == 2 && w.criteria[x.covers[0]-1].Delta != w.criteria[x.covers[1]-1].Delta {
		return wrong("it covers criteria of two sentences: make two of it")
	}
	x.object, x.problem = assertionOf(o)
	if x.problem != "" {
		return x
	}
	x.problem, x.note = w.examine(ctx, x)
	return x
}

// examine makes a candidate of an assertion. It returns why the candidate cannot be used, or
// why it could not be tried.
func (w *writing) examine(ctx context.Context, x *entry) (problem, note string) {
	first := w.criteria[x.covers[0]-1]
	o := value.ObjectOf("id", rules.Slug(x.name), "description", x.description)
	for k, v := range x.object.All() {
		o.Set(k, v)
	}
	a, wrong := candidate.Decoded(o)
	if wrong != "" {
		return "the assertion cannot be read: " + wrong, ""
	}
	x.candidate = candidate.Of(a)
	c := &x.candidate
	c.Category, c.Delta, c.Model, c.PromptHash = first.Category, first.Delta, w.Model.Label(), w.hash
	var covered []DeltaCriterion
	for _, n := range x.covers {
		covered = append(covered, w.criteria[n-1])
	}
	if problem = lint(c, covered, w.prompt(), w.Trials); problem != "" {
		return problem, ""
	}
	if problem = w.contradicts(c, covered); problem != "" {
		return problem, ""
	}
	x.tried, problem, note = tryCandidate(ctx, c, w.Compiler, w.Code, w.Trials)
	return problem, note
}

// problems returns the feedback for the model: what is wrong, which candidates decide labelled
// outputs wrongly, with some of these outputs, and what is missing.
func (w *writing) problems() (list []*value.Object, outputs []*trial.Trial) {
	show := func(t *trial.Trial) {
		if !slices.Contains(w.shown, t) && !slices.Contains(outputs, t) {
			outputs = append(outputs, t)
		}
	}
	open := w.open()
	for _, x := range w.entries {
		name := excerpt.Head(x.name, maxCriterion)
		why := x.problem
		if why == "" {
			why = w.weak(x)
		}
		switch {
		case why != "":
			for _, at := range x.tried.examples() {
				show(&w.Trials[at])
			}
		case x.tried.silent() && len(open) > 0 && w.triedOnAll(x):
			why = fmt.Sprintf("it fails none of the %d bad outputs, and nothing catches output %s: if that one breaks what this is for, let it fail", x.tried.bad, w.Trials[open[0]].ID)
			show(&w.Trials[open[0]])
			open = append(open[1:], open[0])
		}
		if why != "" {
			list = append(list, value.ObjectOf("name", name, "problem", why))
		}
	}
	of := w.ofCriteria()
	for i := range w.criteria {
		if len(of[i+1]) == 0 && !w.awaited(i+1) && !w.decidedBefore(&w.criteria[i]) {
			list = append(list, value.ObjectOf("criterion", float64(i+1), "problem", "no candidate covers it"))
		}
	}
	return list, outputs[:min(len(outputs), maxMoreShown)]
}

// decidedBefore reports whether a known assertion that decides the good outputs correctly was
// made from the same words for the same kind of thing. Such a criterion needs no other
// assertion.
func (w *writing) decidedBefore(c *DeltaCriterion) bool {
	if w.bad != nil {
		return false // known assertions do not catch them
	}
	return slices.ContainsFunc(w.known, func(k known) bool {
		return k.wrong == "" && k.Category == c.Category && k.Delta.Text != "" && delta.Key(k.Delta.Text) == delta.Key(c.Delta.Text)
	})
}

// ofCriteria returns the usable candidates by the number of each criterion that they cover.
func (w *writing) ofCriteria() map[int][]*entry {
	of := map[int][]*entry{}
	for _, x := range w.entries {
		if x.problem == "" {
			for _, n := range x.covers {
				of[n] = append(of[n], x)
			}
		}
	}
	return of
}

// awaited reports whether a correction is due for a candidate of a criterion.
func (w *writing) awaited(n int) bool {
	return slices.ContainsFunc(w.entries, func(x *entry) bool { return x.problem != "" && slices.Contains(x.covers, n) })
}

// keep adds the usable candidates and reports why the others are dropped.
func (w *writing) keep() {
	of := map[int]int{}
	taken := map[string]bool{}
	for _, x := range w.entries {
		shown := excerpt.Head(x.name, maxCriterion)
		full := slices.ContainsFunc(x.covers, func(n int) bool { return of[n] == maxOfOne })
		switch {
		case x.problem != "":
			w.drop(shown, "", "%s", x.problem)
			continue
		case full:
			w.drop(shown, "", "its criterion has %d candidates already", maxOfOne)
			continue
		case x.tried.hopeless():
			w.drop(shown, "", "it fails %s", x.tried.failures(w.Trials))
			continue
		}
		for _, n := range x.covers {
			of[n]++
		}
		if !x.tried.strict(w.Tau) {
			w.caught = append(w.caught, x.tried.caught...)
		}
		c := x.candidate
		if taken[c.Name] {
			c.Name = freeName(c.Name, taken)
			w.report.Notes = append(w.report.Notes, fmt.Sprintf("two candidates were called %s; one is now %s", x.candidate.Name, c.Name))
		}
		taken[c.Name] = true
		if x.note != "" {
			w.report.Notes = append(w.report.Notes, c.Name+" cannot be run: "+x.note)
		}
		c, note := underCondition(c)
		if note != "" {
			w.report.Notes = append(w.report.Notes, note)
		}
		w.candidates = append(w.candidates, c)
		for _, n := range x.covers {
			w.made[w.criteria[n-1].Delta.Text] = true
		}
	}
	for i, c := range w.criteria {
		if of[i+1] == 0 && !w.decidedBefore(&c) {
			w.drop("", c.Text, "no candidate for it could be used")
		}
	}
}
