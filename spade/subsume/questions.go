package subsume

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/shape"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/value"
)

// Limits of the questions about implications.
const (
	window      = 40       // candidates per question
	windowStep  = 20       // new candidates in the next question
	windowBytes = 96 << 10 // bytes of candidates per question
	maxShown    = 4 << 10  // bytes shown of a candidate's check
	maxSays     = 600      // bytes shown of a candidate's description
	maxNamed    = 400      // pairs per answer
	confirmed   = 12       // pairs per confirming question
	findTokens  = 8192
	confirmMost = 4096
)

// questions asks a judge which candidate implies which, as in the paper: once for the pairs in
// a list of candidates, and once more for each pair that the judge named.
//
// A list that does not fit into one question is ordered so that similar candidates are close,
// and split into windows that overlap by half. The number of questions grows with the number
// of candidates, not of pairs; dissimilar candidates are never compared.
type questions struct {
	s        *Subsumption
	list     []proviso.Candidate
	model    *ask.Model
	filter   *filter
	known    *pairSet // pairs that need no question
	limit    int
	progress func(answered, of int)

	mu       sync.Mutex
	answered int
	of       int
}

// question is one question with its result.
type question struct {
	of    []int  // candidates
	pairs []Pair // pairs that the answer named, or that the question is about
	spent ask.Spent
	err   error
}

// ask returns the pairs that the judge named, with their outcomes.
func (q *questions) ask(ctx context.Context) []Pair {
	finds := q.windows()
	q.each(ctx, finds, q.find)
	q.s.count("find", finds, q.list)
	var pairs, open []Pair
	for _, one := range finds {
		for _, p := range one.pairs {
			if q.known.has(p.A, p.B) {
				continue
			}
			q.known.add(p.A, p.B)
			q.filter.judge(&p)
			if p.Outcome == Kept {
				if text, ok := q.s.prover.Refutes(p.A, p.B); ok {
					p.Outcome, p.Text = Refuted, text
				}
			}
			if p.Outcome == Kept {
				open = append(open, p)
			} else {
				pairs = append(pairs, p)
			}
		}
	}
	var confirms []*question
	for chunk := range slices.Chunk(open, confirmed) {
		one := &question{pairs: chunk}
		for _, p := range chunk {
			one.of = append(one.of, p.A, p.B)
		}
		slices.Sort(one.of)
		one.of = slices.Compact(one.of)
		confirms = append(confirms, one)
	}
	q.each(ctx, confirms, q.confirm)
	q.s.count("confirm", confirms, q.list)
	for _, one := range confirms {
		pairs = append(pairs, one.pairs...)
	}
	return pairs
}

// each asks questions concurrently. A question that ctx cut off has its error.
func (q *questions) each(ctx context.Context, list []*question, put func(context.Context, *question)) {
	q.of += len(list)
	_ = ask.Each(ctx, len(list), q.limit, func(ctx context.Context, i int) error {
		put(ctx, list[i])
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.answered++; q.progress != nil {
			q.progress(q.answered, q.of)
		}
		return nil
	})
}

// count adds up usage and records the unanswered questions.
func (s *Subsumption) count(step string, list []*question, candidates []proviso.Candidate) {
	for _, one := range list {
		s.Questions++
		s.Spent.Add(one.spent)
		if one.err == nil {
			continue
		}
		failed := Unanswered{Step: step, Err: one.err}
		for _, i := range one.of {
			failed.Candidates = append(failed.Candidates, candidates[i].Name)
		}
		s.Unanswered = append(s.Unanswered, failed)
	}
}

// find asks which of a list of candidates imply each other.
func (q *questions) find(ctx context.Context, one *question) {
	if one.err = ctx.Err(); one.err != nil {
		return
	}
	d := ask.Begin(q.model, "subsume-find", findReply(), findTokens, []ask.Piece{{Name: "checks", Text: q.checks(one.of)}})
	at := map[string]int{}
	for _, i := range one.of {
		at[q.list[i].Name] = i
	}
	one.err = d.Ask(ctx, func(text string) error {
		var err error
		one.pairs, err = readFound(text, at)
		return err
	})
	if one.spent = d.Spent; one.err != nil {
		one.pairs = nil
	}
}

// readFound reads pairs. It skips a pair with an unknown name. If all pairs have such names,
// the answer is about something else, and invalid.
func readFound(text string, at map[string]int) ([]Pair, error) {
	_, list, err := ask.ListIn(text, "pairs")
	if err != nil {
		return nil, err
	}
	if len(list) > maxNamed {
		return nil, fmt.Errorf("it names %d pairs, more than the %d that are read", len(list), maxNamed)
	}
	var pairs []Pair
	var unknown error
	seen, known := map[[2]int]bool{}, false
	for _, v := range list {
		o, _ := v.(*value.Object)
		ends, err := endsOf(o, at)
		if err != nil {
			unknown = err
			continue
		}
		known = true
		if ends[0] == ends[1] || seen[ends] {
			continue
		}
		seen[ends] = true
		why := o.Text("why")
		pairs = append(pairs, Pair{A: ends[0], B: ends[1], Source: FromJudge, Said: oneLine(why, "it gave no reason")})
	}
	if !known && unknown != nil {
		return nil, unknown
	}
	return pairs, nil
}

// endsOf returns the two candidates of a pair.
func endsOf(o *value.Object, at map[string]int) (ends [2]int, err error) {
	for k, key := range [...]string{"a", "b"} {
		name, ok := o.At(key).(string)
		if !ok {
			return ends, fmt.Errorf("a pair lacks %q", key)
		}
		if ends[k], ok = at[name]; !ok {
			return ends, fmt.Errorf("a pair names a check that is not in the list: %s", value.Stringify(name))
		}
	}
	return ends, nil
}

// oneLine shortens a model's text to one line.
func oneLine(text, none string) string {
	if text = format.Excerpt(text); text == "" {
		return none
	}
	return text
}

// confirm asks again about named pairs.
func (q *questions) confirm(ctx context.Context, one *question) {
	for i := range one.pairs {
		one.pairs[i].Outcome = Unconfirmed
	}
	if one.err = ctx.Err(); one.err != nil {
		return
	}
	claims := make([]*value.Object, len(one.pairs))
	for i, p := range one.pairs {
		claims[i] = value.ObjectOf("n", float64(i+1), "a", q.list[p.A].Name, "b", q.list[p.B].Name)
	}
	d := ask.Begin(q.model, "subsume-confirm", confirmReply(), confirmMost, []ask.Piece{{Name: "checks", Text: q.checks(one.of)}, {Name: "claims", Text: ask.JSONLines(claims)}})
	var answers []confirmation
	one.err = d.Ask(ctx, func(text string) error {
		var err error
		answers, err = readConfirmed(text, len(one.pairs))
		return err
	})
	if one.spent = d.Spent; one.err != nil {
		return
	}
	for i, a := range answers {
		p := &one.pairs[i]
		p.Outcome, p.Answer = Denied, a.why
		if a.implied {
			p.Outcome = Kept
		}
	}
}

type confirmation struct {
	implied bool
	why     string
}

// readConfirmed reads the verdicts on n claims: each exactly once, and true or false. A
// positive verdict with a counterexample makes the answer invalid.
func readConfirmed(text string, n int) ([]confirmation, error) {
	_, list, err := ask.ListIn(text, "claims")
	if err != nil {
		return nil, err
	}
	answers, seen := make([]confirmation, n), make([]bool, n)
	for _, v := range list {
		o, _ := v.(*value.Object)
		f, ok := o.At("n").(float64)
		i := int(f) - 1
		if !ok || f != float64(i+1) || i < 0 || i >= n {
			return nil, fmt.Errorf("a claim has no number from 1 to %d", n)
		}
		if seen[i] {
			return nil, fmt.Errorf("claim %d stands there twice", i+1)
		}
		implied, ok := o.At("implied").(bool)
		if !ok {
			return nil, fmt.Errorf("claim %d has no verdict: implied is true or false", i+1)
		}
		counter := o.Text("counterexample")
		if implied && strings.TrimSpace(counter) != "" {
			return nil, fmt.Errorf("claim %d is said to be implied and has a counterexample", i+1)
		}
		why := o.Text("reasoning")
		why = oneLine(why, "it gave no reason")
		if counter != "" {
			why = oneLine(why+" Counterexample: "+value.Stringify(excerpt.Head(counter, 200)), "")
		}
		seen[i], answers[i] = true, confirmation{implied, why}
	}
	if i := slices.Index(seen, false); i >= 0 {
		return nil, fmt.Errorf("claim %d is missing", i+1)
	}
	return answers, nil
}

func findReply() *proviso.Reply {
	pair := shape.Object("a", shape.Of("string"), "b", shape.Of("string"), "why", shape.Of("string"))
	return shape.Reply("implications", "pairs", shape.List(pair))
}

func confirmReply() *proviso.Reply {
	claim := shape.Object("n", shape.Of("integer"), "counterexample", shape.Of("string"), "reasoning", shape.Of("string"), "implied", shape.Of("boolean"))
	return shape.Reply("verdicts", "claims", shape.List(claim))
}
