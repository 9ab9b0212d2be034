package propose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/shape"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/rules"
	"github.com/proviso-eval/proviso/value"
)

// criteriaReply is the schema of the answer to the first question.
func criteriaReply() *proviso.Reply {
	return shape.Reply("criteria", "criteria", shape.List(shape.Object(
		"n", shape.Of("integer"), "quote", shape.Of("string"), "category", shape.Enum(delta.Categories...), "criterion", shape.Of("string"), "vague", shape.Of("boolean"),
	)))
}

// maxCriteria bounds how many criteria a model may find per question, and maxCriterion
// the length of each, in bytes.
const (
	maxCriteria  = 4 * maxTogether
	maxCriterion = 1000
)

// run asks both questions about the sentences of a job.
func (j *job) run(ctx context.Context, r *proposing) {
	j.asked, j.made = j.deltas, map[string]bool{}
	if j.report.Err = j.askCriteria(ctx, r); j.report.Err != nil {
		j.deltas = nil
		return
	}
	done := 0
	for _, list := range evenly(j.criteria, maxCovered) {
		if j.report.Err = j.askCandidates(ctx, r, list); j.report.Err != nil {
			j.keepAnswered(j.criteria[done:])
			break
		}
		done += len(list)
	}
	if j.bad == nil {
		j.unmade()
	}
}

// evenly splits a list into the fewest parts of up to most members, of about equal length.
func evenly[T any](list []T, most int) [][]T {
	n := (len(list) + most - 1) / most
	parts := make([][]T, 0, n)
	for i := range n {
		parts = append(parts, list[i*len(list)/n:(i+1)*len(list)/n])
	}
	return parts
}

// keepAnswered keeps only the sentences of a job whose criteria were all answered.
func (j *job) keepAnswered(open []DeltaCriterion) {
	isOpen := func(d proviso.Delta) bool {
		return slices.ContainsFunc(open, func(c DeltaCriterion) bool { return c.Delta == d })
	}
	open = slices.Clone(open)
	j.deltas = slices.DeleteFunc(j.deltas, isOpen)
	j.criteria = slices.DeleteFunc(j.criteria, func(c DeltaCriterion) bool { return isOpen(c.Delta) })
	j.candidates = slices.DeleteFunc(j.candidates, func(c proviso.Candidate) bool { return isOpen(c.Delta) })
}

func (j *job) drop(candidate, criterion, format string, args ...any) {
	j.dropped = append(j.dropped, Dropped{Candidate: candidate, Criterion: criterion, Version: j.newest().Number, Reason: fmt.Sprintf(format, args...)})
}

// askCriteria asks what the sentences require of outputs.
func (j *job) askCriteria(ctx context.Context, r *proposing) error {
	sentences := make([]*value.Object, len(j.deltas))
	for i, d := range j.deltas {
		sentences[i] = value.ObjectOf("n", float64(i+1), "text", excerpt.Head(d.Text, delta.MaxSentence))
	}
	prompt := ask.Piece{Name: "prompt", Text: format.MiddleOut(j.newest().Text, ask.MaxPromptShown)}
	said := ask.Piece{Name: "sentences", Text: ask.JSONLines(sentences)}
	question, pieces := "criteria", []ask.Piece{prompt, {Name: "removed", Text: j.removed()}, said}
	if j.bad != nil {
		question, pieces = "uncaught", []ask.Piece{prompt, {Name: "outputs", Text: ask.JSONLines(r.outputs(r.shown(j)))}, {Name: "known", Text: ask.JSONLines(shownChecks(r.known))}, said}
	}
	d := ask.Begin(r.Model, question, criteriaReply(), 4096, pieces)
	defer func() { j.report.Spent.Add(d.Spent) }()
	var list []any
	read := reader("criteria", maxCriteria, &list)
	if err := d.Ask(ctx, read); err != nil {
		return err
	}
	wrong := j.readCriteria(list)
	if len(wrong) == 0 {
		return nil
	}
	problems := make([]*value.Object, len(wrong))
	for i, w := range wrong {
		problems[i] = value.ObjectOf("criterion", w.text, "problem", w.problem)
	}
	d.Again(ask.Piece{Name: "problems", Text: ask.JSONLines(problems)})
	if err := d.Ask(ctx, read); err != nil {
		if ctx.Err() != nil {
			return err
		}
		j.report.Notes = append(j.report.Notes, "what was wrong with criteria was not corrected: "+err.Error())
	} else {
		wrong = j.readCriteria(list)
	}
	for _, w := range wrong {
		j.drop("", w.text, "%s", w.problem)
	}
	return nil
}

// reader returns a function that reads the list under a key of an answer, with up to most
// members.
func reader(key string, most int, list *[]any) func(text string) error {
	return func(text string) (err error) {
		if _, *list, err = ask.ListIn(text, key); err == nil && len(*list) > most {
			err = fmt.Errorf("it has %d %s, more than %d", len(*list), key, most)
		}
		return err
	}
}

// removed returns the sentences that the versions removed, so that the model knows what was
// replaced.
func (j *job) removed() string {
	var b strings.Builder
	for _, c := range j.changes {
		for _, d := range c.Deltas {
			if !d.Added && !d.Moved && b.Len() < maxTogetherSize {
				b.WriteString(excerpt.Head(d.Text, delta.MaxSentence) + "\n")
			}
		}
	}
	return b.String()
}

// wrongCriterion is a criterion that cannot be used.
type wrongCriterion struct{ text, problem string }

// readCriteria returns the usable criteria of an answer, and the others.
func (j *job) readCriteria(said []any) []wrongCriterion {
	var wrong []wrongCriterion
	for _, e := range said {
		o, _ := e.(*value.Object)
		text := o.Text("criterion")
		text = strings.TrimSpace(text)
		if c, problem := j.criterion(o, text); problem == "" {
			if !slices.ContainsFunc(j.criteria, func(x DeltaCriterion) bool { return fold(x.Text) == fold(c.Text) && x.Delta == c.Delta }) {
				j.criteria = append(j.criteria, c)
			}
		} else {
			wrong = append(wrong, wrongCriterion{excerpt.Head(text, maxCriterion), problem})
		}
	}
	return wrong
}

// criterion reads one criterion; problem says why it cannot be used.
func (j *job) criterion(o *value.Object, text string) (c DeltaCriterion, problem string) {
	n, _ := o.At("n").(float64)
	quote := o.Text("quote")
	named := o.Text("category")
	vague, given := o.At("vague").(bool)
	switch {
	case text == "":
		return c, "criterion is empty"
	case len(text) > maxCriterion:
		return c, fmt.Sprintf("criterion has more than %d bytes", maxCriterion)
	case n != float64(int(n)) || n < 1 || int(n) > len(j.deltas):
		return c, fmt.Sprintf("n is not the number of a sentence; they are 1 to %d", len(j.deltas))
	case strings.TrimSpace(quote) == "":
		return c, "quote is empty"
	}
	category, ok := delta.CategoryNamed(named)
	if !ok {
		problem = fmt.Sprintf("there is no category %q", format.Excerpt(named))
		if near := document.Nearest(named, delta.Categories); near != "" {
			problem += "; the nearest is " + near
		}
		return c, problem
	}
	from := j.deltas[int(n)-1]
	words, ok := occurs(from.Text, quote)
	if !ok {
		problem = fmt.Sprintf("the quote does not occur in sentence %d", int(n))
		for i, d := range j.deltas {
			if _, there := occurs(d.Text, quote); there {
				problem += fmt.Sprintf("; it stands in sentence %d", i+1)
				break
			}
		}
		return c, problem
	}
	if category != delta.Exclusion && hides(from.Text, words) {
		category = delta.Exclusion
	}
	return DeltaCriterion{Criterion: proviso.Criterion{Text: text, Category: category}, Delta: from, Quote: words, Vague: vague || !given && category == delta.QualitativeCriteria}, ""
}

// occurs finds a quote in a text, ignoring white space, case and the style of quotation
// marks, and returns it in the text's own words.
func occurs(text, quote string) (string, bool) {
	words := strings.Fields(text)
	plain, want := fold(straight(text)), fold(straight(quote))
	at := strings.Index(plain, want)
	if at < 0 || want == "" {
		return "", false
	}
	joined := strings.Join(words, " ")
	if len(joined) == len(plain) {
		return strings.ToValidUTF8(joined[at:at+len(want)], ""), true
	}
	return strings.TrimSpace(quote), true // a letter whose lower case has another length
}

// straight replaces typographic quotation marks and dashes with ASCII ones.
func straight(text string) string {
	return strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "’", "'", "‘", "'", "–", "-", "—", "-", "\u00a0", " ").Replace(text)
}

// unmade lists the sentences without candidates.
func (j *job) unmade() {
	asked := map[string]string{}
	for _, c := range j.criteria {
		asked[c.Delta.Text] = c.Category
	}
	for _, d := range j.deltas {
		switch category, ok := asked[d.Text]; {
		case j.made[d.Text]:
		case ok:
			j.left = append(j.left, rules.Unproposed{Delta: d, Category: category, Reason: "nothing that the model proposed for it could be used"})
		default:
			j.left = append(j.left, rules.Unproposed{Delta: d, Category: "", Reason: "the model found nothing in it that an output could keep or break"})
		}
	}
}
