// Package subsume finds which candidate implies which: by proof where the assertion types
// allow it, and by asking a judge model about the rest. Start at [Find].
package subsume

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/candidate/python"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/solve"
	"github.com/proviso-eval/proviso/value"
)

// Source is the origin of an implication.
type Source string

// The sources of implications.
const (
	FromProof   Source = "proof"
	FromJudge   Source = "judge"
	FromFile    Source = "file"    // claimed in a file
	FromClosure Source = "closure" // follows from others
)

// Outcome is the result of checking an implication.
type Outcome string

// The outcomes.
const (
	Kept         Outcome = "kept"
	Contradicted Outcome = "contradicted" // an example passes a and fails b
	Unreliable   Outcome = "ffr"          // the false failure rate of either candidate is above tau
	Refuted      Outcome = "refuted"      // a text passes a and fails b
	Denied       Outcome = "denied"       // the judge withdrew it in the second question
	Unconfirmed  Outcome = "unconfirmed"  // the judge did not answer the second question
)

// Pair is an implication with its evidence: whatever passes A passes B.
type Pair struct {
	A, B    int // indices of the candidates
	Source  Source
	Outcome Outcome
	Proof   ProofKind // kind of the proof
	Via     int       // for a closure: a candidate that A implies and that implies B
	Said    string    // the judge's reason for naming it, or ""
	Answer  string    // the judge's reasoning in the second question, or ""
	Against []int     // examples that contradict it, at most 20
	Text    string    // for a refuted pair: a text that passes A and fails B
}

// maxCandidates bounds how many candidates are compared pairwise.
const maxCandidates = 5000

// Options configure how implications are found and which are kept.
type Options struct {
	// Compiler decides single outputs for proofs; nil reads no files and asks no model.
	Compiler *check.Compiler
	// Code parses Python to compare functions by their syntax trees; nil compares texts.
	Code proviso.Code
	// Matrix holds the examples that can contradict implications; it may be nil.
	Matrix *matrix.Matrix
	// Tau, if not nil, drops implications where either candidate has a false failure rate
	// above it. It needs a matrix.
	Tau *float64
	// Given are claimed implications; they are filtered like those of a judge.
	Given []candidate.Implication

	// Judge is the model that is asked about what cannot be proven; it may be nil.
	Judge *ask.Model
	// Concurrency is the number of questions in flight; 0 means 4.
	Concurrency int
	// Progress is called with the number of answered questions, one call at a time. It
	// may be nil.
	Progress func(answered, of int)
}

// Subsumption holds which candidate implies which.
type Subsumption struct {
	Names   []string
	Pairs   []Pair  // all claimed or derived pairs, by A, then B
	Classes [][]int // candidates that imply each other, among the kept pairs

	Eligible   int // candidates within tau; all without tau
	Unsure     int // comparisons that were abandoned because of their cost
	Questions  int // questions to the judge, not counting repairs
	Unanswered []Unanswered
	Spent      ask.Spent

	matrix *matrix.Matrix
	prover *Prover
}

// Unanswered is a question without a usable answer from the judge.
type Unanswered struct {
	Step       string   // find or confirm
	Candidates []string // candidates that the question is about
	Err        error
}

// Find finds which candidate implies which: by proof where the assertion types allow it, and
// by asking a judge about the rest. Then it drops what examples contradict and adds what
// follows from the rest. Without candidates, the names are those of the matrix, and Find only
// checks given implications. It records unanswered questions, and the rest of the result is
// valid. An error names all mistakes in the candidates and options. If ctx ends, Find returns
// the error of ctx.
func Find(ctx context.Context, list []proviso.Candidate, o Options) (*Subsumption, error) {
	s := &Subsumption{matrix: o.Matrix}
	for i := range list {
		s.Names = append(s.Names, list[i].Name)
	}
	if list == nil && o.Matrix != nil {
		s.Names = o.Matrix.Names
	}
	if err := s.valid(list, o); err != nil {
		return nil, err
	}
	f, err := newFilter(s.Names, o.Matrix, o.Tau)
	if err != nil {
		return nil, err
	}
	s.Eligible = len(s.Names) - f.unreliable
	known := newPairSet(len(s.Names))
	add := func(p Pair) {
		known.add(p.A, p.B)
		s.Pairs = append(s.Pairs, p)
	}
	if list != nil {
		if err := s.prove(ctx, list, o.Compiler, readTrees(ctx, list, o.Code), f, add); err != nil {
			return nil, err
		}
	}
	if err := s.given(o.Given, f, known, add); err != nil {
		return nil, err
	}
	if o.Judge != nil && list != nil {
		q := &questions{s: s, list: list, model: o.Judge, filter: f, known: known, limit: o.Concurrency, progress: o.Progress}
		for _, p := range q.ask(ctx) {
			add(p)
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	s.close(f)
	return s, nil
}

// valid checks the names.
func (s *Subsumption) valid(list []proviso.Candidate, o Options) error {
	if len(s.Names) == 0 {
		return proviso.Errorf(proviso.Invalid, "there are no candidates")
	}
	if len(s.Names) > maxCandidates {
		return proviso.Errorf(proviso.Limit, "there are %d candidates; at most %d are compared with each other", len(s.Names), maxCandidates)
	}
	if t := o.Tau; t != nil && !(*t >= 0 && *t <= 1) {
		return proviso.Errorf(proviso.Invalid, "tau is %v; a share from 0 to 1 is expected", *t)
	}
	if o.Tau != nil && o.Matrix == nil {
		return proviso.Errorf(proviso.Invalid, "tau needs a matrix, which says how often a candidate fails good outputs")
	}
	seen := map[string]bool{}
	var wrong []string
	for _, name := range s.Names {
		if seen[name] {
			wrong = append(wrong, fmt.Sprintf("two candidates are called %q", name))
		}
		seen[name] = true
	}
	for i := range list {
		if list[i].Assertion == nil {
			wrong = append(wrong, fmt.Sprintf("%s has no assertion", list[i].Name))
		}
	}
	if len(wrong) > 0 {
		return proviso.Errorf(proviso.Invalid, "%s", strings.Join(wrong, "\n"))
	}
	return nil
}

// Close frees the resources of the proofs. The results stay readable.
func (s *Subsumption) Close() error {
	if s.prover == nil {
		return nil
	}
	return s.prover.Close()
}

// prove adds the implications that can be proven.
func (s *Subsumption) prove(ctx context.Context, list []proviso.Candidate, c *check.Compiler, trees pythonTrees, f *filter, add func(Pair)) error {
	own := c == nil
	if own {
		c = check.New(check.Options{})
	}
	if err := compiles(list, c); err != nil {
		return err
	}
	s.prover = newProver(list, c, trees)
	s.prover.own = own
	type proof struct {
		b    int32
		kind ProofKind
	}
	proofs := make([][]proof, len(list)) // small entries, because there may be very many
	count := 0
	for a := range list {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for b := range list {
			if kind := s.prover.Proves(a, b); kind != "" {
				proofs[a] = append(proofs[a], proof{int32(b), kind})
				count++
			}
		}
	}
	s.Pairs = make([]Pair, 0, count)
	for a, of := range proofs {
		for _, one := range of {
			p := Pair{A: a, B: int(one.b), Source: FromProof, Proof: one.kind}
			f.judge(&p)
			add(p)
		}
	}
	s.Unsure = s.prover.unsure
	return nil
}

// compiles checks that candidates can be decided at all, apart from what this machine or
// version lacks.
func compiles(list []proviso.Candidate, c *check.Compiler) error {
	var wrong []string
	for i := range list {
		if _, ok := python.Of(list[i].Assertion); ok {
			continue
		}
		_, mistakes := c.Compile([]*proviso.Assertion{list[i].Assertion})
		for _, e := range mistakes {
			if e.Code != proviso.Unsupported && e.Code != proviso.Unavailable {
				wrong = append(wrong, fmt.Sprintf("%s: %v", list[i].Name, e))
			}
		}
	}
	if len(wrong) > 0 {
		return proviso.Errorf(proviso.Invalid, "%s", strings.Join(wrong, "\n"))
	}
	return nil
}

// given adds the claimed implications.
func (s *Subsumption) given(list []candidate.Implication, f *filter, known *pairSet, add func(Pair)) error {
	at := map[string]int{}
	for i, name := range s.Names {
		at[name] = i
	}
	for _, imp := range list {
		var ends [2]int
		for k, name := range [...]string{imp.A, imp.B} {
			i, ok := at[name]
			if !ok {
				return proviso.Errorf(proviso.Invalid, "an implication names %q, which is not a candidate%s", name, format.DidYouMean(name, s.Names))
			}
			ends[k] = i
		}
		if ends[0] == ends[1] || known.has(ends[0], ends[1]) {
			continue
		}
		p := Pair{A: ends[0], B: ends[1], Source: FromFile}
		f.judge(&p)
		add(p)
	}
	return nil
}

// close adds what follows from the kept pairs, and finds the classes.
func (s *Subsumption) close(f *filter) {
	order := func(p, q Pair) int { return cmp.Or(p.A-q.A, p.B-q.B) }
	slices.SortFunc(s.Pairs, order)
	claimed := len(s.Pairs)
	for _, p := range follows(len(s.Names), s.final()) {
		f.judge(&p)
		i, ok := slices.BinarySearchFunc(s.Pairs[:claimed], p, order)
		switch {
		case !ok:
			s.Pairs = append(s.Pairs, p)
		case p.Outcome == Kept: // it was dropped, but also follows from others
			p.Said, p.Answer, p.Text = s.Pairs[i].Said, s.Pairs[i].Answer, s.Pairs[i].Text
			s.Pairs[i] = p
		}
	}
	slices.SortFunc(s.Pairs, order)
	members := map[int][]int{}
	for i, class := range solve.Classes(len(s.Names), s.final()) {
		members[class] = append(members[class], i)
	}
	for _, list := range members {
		if len(list) > 1 {
			s.Classes = append(s.Classes, list)
		}
	}
	slices.SortFunc(s.Classes, slices.Compare)
}

func (s *Subsumption) final() [][2]int {
	var list [][2]int
	for _, p := range s.Pairs {
		if p.Outcome == Kept {
			list = append(list, [2]int{p.A, p.B})
		}
	}
	return list
}

// columnsOf finds the column of each name in a matrix.
func columnsOf(names []string, m *matrix.Matrix) ([]int, error) {
	at := map[string]int{}
	for j, name := range m.Names {
		at[name] = j
	}
	list := make([]int, len(names))
	var missing []string
	for i, name := range names {
		j, ok := at[name]
		if !ok {
			missing = append(missing, value.Stringify(name)+format.DidYouMean(name, m.Names))
		}
		list[i] = j
	}
	if len(missing) == 0 {
		return list, nil
	}
	const most = 10
	if n := len(missing); n > most {
		missing = append(missing[:most], fmt.Sprintf("and %d more", n-most))
	}
	return nil, proviso.Errorf(proviso.Invalid, "the matrix has no column for %s", strings.Join(missing, ", "))
}
