package propose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/rules"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// Limits of the second question.
const (
	maxCovered    = 10 // criteria per question
	maxOfOne      = 3  // candidates per criterion
	maxCandidates = 6 * maxCovered
	maxTogetherOf = 2 // criteria that a candidate covers
)

// entry is a candidate as the model wrote it, with its problem, if any.
type entry struct {
	name, description string
	covers            []int // numbers of criteria
	object            *value.Object
	candidate         proviso.Candidate
	problem           string
	note              string // why it could not be tried
}

// askCandidates asks for assertions that decide criteria.
func (j *job) askCandidates(ctx context.Context, r *proposing, list []DeltaCriterion) error {
	d := ask.Begin(r.Model, "candidates", candidatesReply(), 8192, j.material(r, list))
	defer func() { j.report.Spent.Add(d.Spent) }()
	w := &writing{job: j, proposing: r, criteria: list, hash: d.Hash}
	var said []any
	read := func(text string) (err error) {
		if _, said, err = ask.ListIn(text, "candidates"); err == nil && len(said) > maxCandidates {
			err = fmt.Errorf("it has %d candidates, more than %d", len(said), maxCandidates)
		}
		return err
	}
	if err := d.Ask(ctx, read); err != nil {
		return err
	}
	w.take(ctx, said)
	j.report.Proposed += len(w.entries)
	if problems := w.problems(); len(problems) > 0 && ctx.Err() == nil {
		d.Again(problems)
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

// material returns the material of the second question.
func (j *job) material(r *proposing, list []DeltaCriterion) []ask.Piece {
	criteria := make([]*value.Object, len(list))
	for i, c := range list {
		criteria[i] = value.ObjectOf("n", float64(i+1), "criterion", c.Text, "category", c.Category, "sentence", excerpt.Head(c.Delta.Text, delta.MaxSentence), "vague", c.Vague)
	}
	example, response := r.example()
	return []ask.Piece{
		{Name: "prompt", Text: format.MiddleOut(r.prompt(), ask.MaxPromptShown)}, {Name: "example", Text: format.MiddleOut(example, maxShownExample)},
		{Name: "response", Text: format.MiddleOut(response, maxShownExample)}, {Name: "criteria", Text: ask.JSONLines(criteria)},
	}
}

// example returns the trial that the model sees: the first good one, or the first.
func (r *proposing) example() (prompt, response string) {
	if len(r.Trials) == 0 {
		return "", ""
	}
	t := &r.Trials[max(0, slices.IndexFunc(r.Trials, func(t trial.Trial) bool { return t.Label == "1" }))]
	prompt = t.Prompt
	if !t.HasPrompt && t.Vars.Len() > 0 {
		prompt = promptVariable().ReplaceAllStringFunc(r.prompt(), func(match string) string {
			m := promptVariable().FindStringSubmatch(match)
			if v := t.Vars.At(m[1] + m[2]); v != nil && strings.HasSuffix(match, "}") {
				return value.ToString(v)
			}
			return match
		})
	}
	out := proviso.Output{Value: t.Output}
	return prompt, out.Text()
}

// writing processes the answer to one second question.
type writing struct {
	*job
	*proposing
	criteria []DeltaCriterion
	hash     string
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
}

// repeats reports whether a candidate is equal to another one of the same name.
func (w *writing) repeats(x *entry) bool {
	return x.problem == "" && slices.ContainsFunc(w.entries, func(old *entry) bool {
		return old.problem == "" && old.candidate.Name == x.candidate.Name && candidate.Check(&old.candidate) == candidate.Check(&x.candidate)
	})
}

// correct reads the second answer: a candidate with the name of a wrong one replaces
// it, the rest is new.
func (w *writing) correct(ctx context.Context, said []any) {
	for _, e := range said {
		o, _ := e.(*value.Object)
		x := w.read(ctx, o)
		if w.repeats(x) {
			continue
		}
		i := slices.IndexFunc(w.entries, func(old *entry) bool { return old.problem != "" && old.name == x.name })
		if i < 0 {
			w.report.Proposed++
			w.entries = append(w.entries, x)
			continue
		}
		if w.entries[i] = x; x.problem == "" {
			w.report.Repaired++
		}
	}
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

// examine makes a candidate of an assertion; it returns why it cannot be used, or why
// it could not be tried.
func (w *writing) examine(ctx context.Context, x *entry) (problem, note string) {
	first := w.criteria[x.covers[0]-1]
	o := value.ObjectOf("id", rules.Slug(x.name), "description", x.description)
	for k, v := range x.object.All() {
		o.Set(k, v)
	}
	list, wrong := suite.DecodeSet(check.Facts(), []any{o}, "")
	if len(wrong) > 0 || len(list) != 1 {
		return "the assertion cannot be read: " + format.FirstOf(wrong), ""
	}
	x.candidate = candidate.Of(list[0])
	c := &x.candidate
	c.Category, c.Delta, c.Model, c.PromptHash = first.Category, first.Delta, w.Model.Label(), w.hash
	var covered []DeltaCriterion
	for _, n := range x.covers {
		covered = append(covered, w.criteria[n-1])
	}
	if problem = lint(c, covered, w.prompt(), w.Trials); problem != "" {
		return problem, ""
	}
	problem, note = tryCandidate(ctx, c, w.Compiler, w.Code, w.Trials)
	return problem, note
}

// problems returns the feedback for the model: what is wrong, and what is missing.
func (w *writing) problems() []*value.Object {
	var list []*value.Object
	for _, x := range w.entries {
		if x.problem != "" {
			list = append(list, value.ObjectOf("name", excerpt.Head(x.name, maxCriterion), "problem", x.problem))
		}
	}
	of := w.ofCriteria()
	for i, c := range w.criteria {
		switch n := len(of[i+1]); {
		case n == 0 && !w.awaited(i+1):
			list = append(list, value.ObjectOf("criterion", float64(i+1), "problem", "no candidate covers it"))
		case n == 1 && c.Vague && !w.awaited(i+1):
			list = append(list, value.ObjectOf("criterion", float64(i+1), "problem", "it is vague and has one candidate: add another of a different kind, such as a count or a question"))
		}
	}
	return list
}

// ofCriteria returns the usable candidates by the number of a criterion that they
// cover.
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

// awaited reports whether a candidate for a criterion is to be corrected.
func (w *writing) awaited(n int) bool {
	return slices.ContainsFunc(w.entries, func(x *entry) bool { return x.problem != "" && slices.Contains(x.covers, n) })
}

// keep adds the usable candidates and reports why the rest is dropped.
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
		}
		for _, n := range x.covers {
			of[n]++
		}
		c := x.candidate
		if taken[c.Name] {
			c.Name = freeName(c.Name, taken)
			w.report.Notes = append(w.report.Notes, fmt.Sprintf("two candidates were called %s; one is now %s", x.candidate.Name, c.Name))
		}
		taken[c.Name] = true
		if x.note != "" {
			w.report.Notes = append(w.report.Notes, c.Name+" is not runnable here: "+x.note)
		}
		c, note := underCondition(c)
		if note != "" {
			w.report.Notes = append(w.report.Notes, note)
		}
		w.candidates = append(w.candidates, c)
	}
	for i, c := range w.criteria {
		if of[i+1] == 0 {
			w.drop("", c.Text, "no candidate for it could be used")
		}
	}
}
