package judge

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/internal/segment"
	"github.com/proviso-eval/proviso/internal/shape"
	"github.com/proviso-eval/proviso/value"
)

// The metrics context-recall, context-relevance and context-faithfulness are those of
// RAGAS (Es et al. 2023, arXiv 2309.15217): shares of statements and passages.

// passages returns the context as one text.
func (g *grading) passages() string { return strings.Join(g.q.Context, "\n") }

// statement is a fact and whether the passages support it.
type statement struct {
	text      string
	supported bool
}

// decideRecall decides context-recall: the share of the statements in the expected
// answer that the context supports.
func decideRecall(ctx context.Context, g *grading) (verdict, error) {
	one := shape.Object("statement", shape.Of("string"), "supported", shape.Of("boolean"))
	list, err := ask(ctx, g, step{
		own: "context-recall", pieces: []piece{{"context", g.passages()}, {"expected", g.value()}},
		reply: shape.Reply("statements", "statements", shape.List(one)), custom: g.q.Rubric,
		vars: func() *value.Object {
			return givenVars(g.q.Vars, true, "context", g.passages(), "groundTruth", g.q.Value)
		},
	}, func(reply string) ([]statement, error) {
		if g.q.Rubric != nil {
			if list := attributed(reply); len(list) > 0 {
				return list, nil
			}
		}
		return readStatements(reply, "statements")
	})
	if err != nil {
		return verdict{}, err
	}
	score, missing := supportedShare(list)
	return g.share("Recall", score, missing), nil
}

// supportedShare returns the share of supported statements, and a text that lists the
// unsupported ones.
func supportedShare(list []statement) (score float64, missing string) {
	const shown = 3
	var without []string
	for _, s := range list {
		if s.supported {
			score++
		} else {
			without = append(without, s.text)
		}
	}
	if n := len(without); n > 0 {
		missing = "not supported: " + strings.Join(without[:min(n, shown)], " / ")
		if n > shown {
			missing += fmt.Sprintf(" and %d more", n-shown)
		}
	}
	return score / float64(len(list)), missing
}

// readStatements reads a list of {statement, supported}.
func readStatements(reply, key string) ([]statement, error) {
	o, err := gradedObject(reply, key)
	if err != nil {
		return nil, err
	}
	list, _ := o.At(key).([]any)
	if len(list) == 0 {
		return nil, errors.New(key + " is not a list with something in it")
	}
	out := make([]statement, len(list))
	for i, e := range list {
		s, _ := e.(*value.Object)
		text := s.Text("statement")
		supported, ok := truth(s.At("supported"))
		if !ok || strings.TrimSpace(text) == "" {
			return nil, fmt.Errorf("%s %d has not both a statement, and true or false for supported", key, i+1)
		}
		out[i] = statement{strings.TrimSpace(text), supported}
	}
	return out, nil
}

// attributed reads lines that end in [Attributed] or [Not Attributed], the format of
// prompts written for promptfoo.
func attributed(reply string) []statement {
	var list []statement
	for line := range strings.SplitSeq(reply, "\n") {
		lower := strings.ToLower(line)
		not := strings.Contains(lower, "[not attributed]")
		if not || strings.Contains(lower, "[attributed]") {
			list = append(list, statement{strings.TrimSpace(line), !not})
		}
	}
	return list
}

// decideContext decides context-relevance: the share of the context that the question
// needs. It counts passages if the context is a list, otherwise lines, or sentences if
// there is only one line.
func decideContext(ctx context.Context, g *grading) (verdict, error) {
	query := g.q.Vars.Text("query")
	units := unitsOf(g.q.Context)
	if len(units) == 0 {
		return verdict{}, proviso.Errorf(proviso.Undecided, "the context is empty")
	}
	helping, err := ask(ctx, g, step{
		own: "context-relevance", pieces: []piece{{"query", query}, {"context", numbered(units)}},
		reply: shape.Reply("relevant", "relevant", shape.List(shape.Of("integer"))), custom: g.q.Rubric,
		vars: func() *value.Object { return givenVars(nil, true, "context", g.passages(), "query", query) },
	}, func(reply string) (int, error) {
		if g.q.Rubric != nil {
			return quoted(reply, units, len(g.q.Context) > 1)
		}
		return readNumbers(reply, len(units))
	})
	if err != nil {
		return verdict{}, err
	}
	v := g.share("Context relevance", float64(helping)/float64(len(units)), "")
	v.reason += fmt.Sprintf(" (%d of %d parts of the context)", helping, len(units))
	return v, nil
}

// unitsOf splits a context into the units to count.
func unitsOf(passages []string) []string {
	if len(passages) != 1 {
		return passages
	}
	if lines := segment.Lines(passages[0]); len(lines) > 1 {
		return lines
	}
	return segment.Sentences(passages[0])
}

// readNumbers counts the distinct numbers from 1 to n in a reply.
func readNumbers(reply string, n int) (int, error) {
	o, err := gradedObject(reply, "relevant")
	if err != nil {
		return 0, err
	}
	list, ok := o.At("relevant").([]any)
	if !ok {
		return 0, errors.New("relevant is not a list of numbers")
	}
	seen := map[float64]bool{}
	for _, e := range list {
		f, ok := e.(float64)
		if !ok || f < 1 || f > float64(n) || f != float64(int(f)) {
			return 0, fmt.Errorf("it names a part that is not there, only 1 to %d: %s", n, shown(value.Stringify(e)))
		}
		seen[f] = true
	}
	return len(seen), nil
}

// quoted counts the parts that a reply repeats, the format of prompts written for
// promptfoo. "Insufficient Information" means that there are none.
func quoted(reply string, units []string, lines bool) (int, error) {
	if strings.Contains(strings.ToLower(reply), "insufficient information") {
		return 0, nil
	}
	parts := unitsOf([]string{reply})
	if lines {
		parts = segment.Lines(reply)
	}
	whole := folded(strings.Join(units, " "))
	distinct := map[string]bool{}
	held := false
	for _, s := range parts {
		s = folded(listMark.Get().ReplaceAllString(s, ""))
		distinct[s] = true
		held = held || s != "" && strings.Contains(whole, s)
	}
	delete(distinct, "")
	if !held {
		return 0, errors.New("it repeats nothing of the context, and does not say \"Insufficient Information\"")
	}
	return min(len(distinct), len(units)), nil
}

var listMark = pattern.Of(`^\s*(?:\d+[.)]|[-*•])\s*`)

// folded returns a text in lower case with single spaces.
func folded(text string) string { return strings.Join(strings.Fields(strings.ToLower(text)), " ") }

// decideFaithfulness decides context-faithfulness: the share of the statements in the
// output that follow from the context.
func decideFaithfulness(ctx context.Context, g *grading) (verdict, error) {
	query := g.q.Vars.Text("query")
	statements, err := ask(ctx, g, step{
		own: "context-faithfulness-statements", pieces: []piece{{"query", query}, {"output", g.q.Output}},
		reply: shape.Reply("statements", "statements", shape.List(shape.Of("string"))), custom: rubricStep(g.q, 0),
		vars: func() *value.Object {
			return givenVars(g.q.Vars, true, "question", query, "answer", parsedOr(g.q.Output))
		},
	}, func(reply string) ([]string, error) { return readLines(reply, rubricStep(g.q, 0) != nil) })
	if err != nil {
		return verdict{}, err
	}
	if len(statements) == 0 {
		return verdict{}, proviso.Errorf(proviso.Undecided, "the output states nothing that the context could support")
	}
	list := make([]any, len(statements))
	for i, s := range statements {
		list[i] = s
	}
	verdicts, err := ask(ctx, g, step{
		own: "context-faithfulness", pieces: []piece{{"context", g.passages()}, {"statements", numbered(statements)}},
		reply:  shape.Reply("verdicts", "verdicts", shape.List(shape.Object("n", shape.Of("integer"), "reason", shape.Of("string"), "supported", shape.Of("boolean")))),
		custom: rubricStep(g.q, 1), vars: func() *value.Object { return givenVars(g.q.Vars, true, "context", g.passages(), "statements", list) },
	}, func(reply string) ([]statement, error) {
		return readVerdicts(reply, statements, rubricStep(g.q, 1) != nil)
	})
	if err != nil {
		return verdict{}, err
	}
	score, missing := supportedShare(verdicts)
	return g.share("Faithfulness", score, missing), nil
}

// readLines reads a list of statements. With lines, which is for prompts from the suite,
// it also accepts one statement per line.
func readLines(reply string, lines bool) ([]string, error) {
	if o, err := gradedObject(reply, "statements"); err == nil {
		return textsIn(o.At("statements"))
	} else if !lines || duplicate(err) != nil {
		return nil, err
	}
	return segment.Lines(reply), nil
}

// readVerdicts reads a verdict for each statement.
func readVerdicts(reply string, statements []string, words bool) ([]statement, error) {
	o, err := gradedObject(reply, "verdicts")
	if err != nil {
		if words && duplicate(err) == nil {
			return readWords(reply, statements)
		}
		return nil, err
	}
	list, _ := o.At("verdicts").([]any)
	out := make([]statement, len(statements))
	seen := make([]bool, len(statements))
	for i, e := range list {
		v, _ := e.(*value.Object)
		n, ok := v.At("n").(float64)
		if !v.Has("n") && len(list) == len(statements) {
			n, ok = float64(i+1), true // without numbers, in order
		}
		supported, decided := truth(v.At("supported"))
		if !ok || n < 1 || n > float64(len(statements)) || n != float64(int(n)) || !decided || seen[int(n)-1] {
			return nil, fmt.Errorf("verdict %d is not one on a statement from 1 to %d, or the second on it", i+1, len(statements))
		}
		out[int(n)-1], seen[int(n)-1] = statement{statements[int(n)-1], supported}, true
	}
	for i := range seen {
		if !seen[i] {
			return nil, fmt.Errorf("there is no verdict on statement %d", i+1)
		}
	}
	return out, nil
}

// readWords reads "verdict: yes", or a final line of verdicts, the formats of prompts
// written for promptfoo.
func readWords(reply string, statements []string) ([]statement, error) {
	lower := strings.ToLower(reply)
	found := spoken.Get().FindAllStringSubmatch(lower, -1)
	const final = "final verdict for each statement in order:"
	if i := strings.LastIndex(lower, final); i >= 0 {
		found = yesOrNo.Get().FindAllStringSubmatch(lower[i+len(final):], -1)
	}
	if len(found) == 0 {
		return nil, errors.New("there are no verdicts in it")
	}
	if len(found) != len(statements) {
		return nil, fmt.Errorf("there are %d verdicts on %d statements", len(found), len(statements))
	}
	out := make([]statement, len(statements))
	for i, s := range statements {
		out[i] = statement{s, found[i][1] == "yes"}
	}
	return out, nil
}

var (
	spoken  = pattern.Of(`verdict:\s*\W*(yes|no)\b`)
	yesOrNo = pattern.Of(`\b(yes|no)\b`)
)
