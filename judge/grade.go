package judge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/value"
)

// judged is the type of assertions with criteria.
const judged = proviso.TypeJudge

// gradeCriteria answers one question of the type judge.
func gradeCriteria(ctx context.Context, j *Judge, q proviso.Question) (proviso.Grade, error) {
	g := j.GradeSet(ctx, []proviso.Question{q})[0]
	return g.Grade, g.Err
}

// groups returns the judged questions that can share calls: those about the same input
// and output for the same grader.
func groups(qs []proviso.Question) [][]int {
	var all [][]int
	for i, q := range qs {
		if q.Type != judged {
			continue
		}
		n := slices.IndexFunc(all, func(group []int) bool { return alike(qs[group[0]], q) })
		if n < 0 {
			n, all = len(all), append(all, nil)
		}
		all[n] = append(all[n], i)
	}
	return all
}

// alike reports whether two questions can share a call.
func alike(a, b proviso.Question) bool {
	return a.Input == b.Input && a.Output == b.Output && a.Background == b.Background && a.Sample == b.Sample && value.Stringify(a.Grader) == value.Stringify(b.Grader)
}

// gradeGroup answers the questions of one group.
func (j *Judge) gradeGroup(ctx context.Context, calls limit, qs []proviso.Question, group []int, out []proviso.Graded, known func(int, proviso.Graded)) {
	first := qs[group[0]]
	judges, err := j.judgesOf(first)
	if err == nil {
		err = tooLong(first)
	}
	if err != nil {
		for _, i := range group {
			out[i].Err = err
		}
		return
	}
	valid := func(text string) string { return strings.ToValidUTF8(text, string(utf8.RuneError)) }
	s := &session{
		j: j, judges: judges, calls: calls, sample: first.Sample, judge: j.identity(judges),
		subject: subject{valid(first.Input), valid(first.Output), valid(first.Background)},
	}
	s.quotes.output = s.output
	s.about = blobs.KeyIn(ctx, s.key()...)
	place := s.enter(qs, group, out)
	s.tells(place, known)
	s.poll(ctx)
	for _, i := range group {
		if n, ok := place[i]; ok {
			out[i].Grade, out[i].Err = s.grade(n)
		}
	}
}

// tooLong returns an error if the input or the output exceeds the limit.
func tooLong(q proviso.Question) error {
	for _, t := range [...]struct{ name, text string }{{"input", q.Input}, {"output", q.Output}, {"context", q.Background}} {
		if len(t.text) > MaxText {
			return proviso.Errorf(proviso.Limit, "the %s has %d bytes, and a judge reads at most %d", t.name, len(t.text), MaxText)
		}
	}
	return nil
}

// item is an assertion for the judge. Equal assertions share one item.
type item struct {
	asked
	key  string // hash of id, instruction, criteria and values
	name string // id used in calls: the item's own, unless another item has the same id
}

// session grades one group of questions.
type session struct {
	subject
	j      *Judge
	judges []Seat
	judge  string // joint identity of all judges
	about  string // hash of input and output
	sample proviso.Sample
	calls  limit
	items  []item
	quotes quoteChecker
	imitation
	votes []itemVote // ordered by item, then judge, then vote
	telling
}

// enter makes items from questions, sorted by a hash of their content, and returns the
// item index of each question. Invalid questions get their error at once.
func (s *session) enter(qs []proviso.Question, group []int, out []proviso.Graded) map[int]int {
	keys := map[int]string{}
	for _, i := range group {
		it, err := newItem(qs[i])
		if err != nil {
			out[i].Err = err
			continue
		}
		keys[i] = it.key
		at := slices.IndexFunc(s.items, func(other item) bool { return other.key == it.key })
		if at < 0 {
			s.items = append(s.items, it)
		} else {
			s.items[at].negated = s.items[at].negated || it.negated
		}
	}
	slices.SortFunc(s.items, func(a, b item) int { return cmp.Compare(a.key, b.key) })
	names := make([]asked, 0, len(s.items))
	for n := range s.items {
		s.items[n].name = uniqueID(s.items[n].id, names)
		names = append(names, asked{id: s.items[n].name})
	}
	s.nameValues()
	place := map[int]int{}
	for i, key := range keys {
		place[i] = slices.IndexFunc(s.items, func(it item) bool { return it.key == key })
	}
	return place
}

// newItem makes an item from a question.
func newItem(q proviso.Question) (item, error) {
	valid := func(text string) string {
		return strings.TrimSpace(strings.ToValidUTF8(text, string(utf8.RuneError)))
	}
	it := item{asked: asked{instruction: valid(q.Instruction), values: validValues(q.Values)}}
	if q.Assertion != nil {
		it.id = valid(q.Assertion.ID)
		it.negated = strings.HasPrefix(q.Assertion.Type, "not-")
	}
	for n, c := range q.Criteria {
		it.ns, it.texts = append(it.ns, n+1), append(it.texts, valid(c.Text))
	}
	if len(it.texts) == 0 || slices.Contains(it.texts, "") {
		return it, proviso.Errorf(proviso.Invalid, "there is no criterion to decide, or an empty one")
	}
	if err := it.limits(); err != nil {
		return it, err
	}
	parts := append([]string{"assertion 1", it.id, it.instruction}, it.texts...)
	if it.values.Len() > 0 {
		parts = append(parts, variablesJSON([]asked{it.asked}))
	}
	it.key = blobs.Key(parts...)
	if it.id == "" {
		it.id = "assertion-" + it.key[:8]
	}
	return it, nil
}

// limits applies the limits of a request to any assertion, including those of suites.
func (it *item) limits() error {
	over := func(what string, is, most int) error {
		if is <= most {
			return nil
		}
		return proviso.Errorf(proviso.Limit, "%s: %d, and at most %d are allowed", what, is, most)
	}
	return cmp.Or(
		over("bytes of an id", len(it.id), maxID),
		over("bytes of an instruction", len(it.instruction), maxInstruction),
		over("criteria of an assertion", len(it.texts), maxCriteria),
		over("bytes of the variables of an assertion", len(variablesJSON([]asked{it.asked})), MaxText),
		over("bytes of a criterion", len(slices.MaxFunc(it.texts, func(a, b string) int { return cmp.Compare(len(a), len(b)) })), maxCriterion),
	)
}

// grade combines the votes on an item.
func (s *session) grade(n int) (proviso.Grade, error) {
	g := proviso.Grade{Judge: s.judge, Cached: true}
	votes := s.votes[n*s.voteCount() : (n+1)*s.voteCount()]
	for i := range votes {
		b := &votes[i]
		g.Usage.Add(b.spent.Usage)
		g.Cost += b.spent.Cost
		g.Cached = g.Cached && b.cached()
	}
	var failure error
	met, unmet, unsure := 0, 0, 0
	for k, text := range s.items[n].texts {
		c, err := count(votes, k)
		c.Criterion = proviso.Criterion{Text: text}
		g.Criteria = append(g.Criteria, c)
		switch {
		case c.Status == proviso.Pass:
			met++
		case c.Status == proviso.Fail:
			unmet++
		case c.CannotTell:
			unsure++
		}
		if failure == nil {
			failure = err
		}
	}
	// One unmet criterion decides the assertion, even if other criteria are undecided.
	if failure != nil && unmet == 0 {
		// "Cannot tell" is an answer, which may come from the store.
		g.Cached = g.Cached && met+unsure == len(g.Criteria)
		if len(g.Criteria) > 1 {
			return g, proviso.Because(failure, codeOf(failure), "%d of %d criteria are undecided: %s", len(g.Criteria)-met, len(g.Criteria), failure)
		}
		return g, failure
	}
	g.Pass = unmet == 0
	g.Score = float64(met) / float64(len(g.Criteria))
	g.Reason, g.Evidence = explain(g.Criteria, g.Pass)
	return g, nil
}

// explain combines the reasons and the evidence of the criteria that decided an
// assertion.
func explain(criteria []proviso.CriterionVerdict, pass bool) (string, []proviso.Evidence) {
	decisive := proviso.Fail
	if pass {
		decisive = proviso.Pass
	}
	var reasons []string
	var evidence []proviso.Evidence
	for _, c := range criteria {
		if c.Status != decisive {
			continue
		}
		reasons = append(reasons, strings.TrimRight(c.Reasoning, ".!? "))
		for _, e := range c.Evidence {
			if !slices.Contains(evidence, e) {
				evidence = append(evidence, e)
			}
		}
	}
	reason := shorten(strings.Join(reasons, "; "), maxReason)
	if !strings.HasSuffix(reason, "…") {
		reason += "."
	}
	return reason, evidence
}

// count decides a criterion by majority vote. A majority is more than half of all
// requested votes: a tie, or too many failed calls, is an error. If more than half cannot
// tell, the criterion is undecided.
func count(votes []itemVote, k int) (proviso.CriterionVerdict, error) {
	var c proviso.CriterionVerdict
	var failure error
	for i := range votes {
		switch r := &votes[i].rulings[k]; {
		case r.err != nil:
			c.Votes.Failed++
			if failure == nil {
				failure = r.err
			}
		case r.says == saysMet:
			c.Votes.Met++
		case r.says == saysCannotTell:
			c.Votes.CannotTell++
		default:
			c.Votes.Unmet++
		}
	}
	need := len(votes)/2 + 1
	says := saysNothing
	switch {
	case c.Votes.Met >= need:
		c.Status, says = proviso.Pass, saysMet
	case c.Votes.Unmet >= need:
		c.Status, says = proviso.Fail, saysNotMet
	case c.Votes.CannotTell >= need:
		c.CannotTell, says = true, saysCannotTell
	default:
		if len(votes) > 1 {
			failure = proviso.Because(failure, proviso.Undecided, "%s", noMajority(c.Votes, failure))
		}
		c.Reasoning = failure.Error()
		return c, failure
	}
	for i := range votes { // use the reason of the first vote of the majority
		if r := &votes[i].rulings[k]; r.err == nil && r.says == says {
			c.Reasoning, c.Evidence, c.Note = r.reasoning, r.evidence, r.note
			break
		}
	}
	if agreed := max(c.Votes.Met, c.Votes.Unmet, c.Votes.CannotTell); agreed < len(votes) {
		c.Reasoning = fmt.Sprintf("%s (%d of %d votes).", strings.TrimRight(c.Reasoning, ". "), agreed, len(votes))
	}
	if c.CannotTell {
		return c, proviso.Errorf(proviso.Undecided, "the judge cannot tell: %s", c.Reasoning)
	}
	return c, nil
}

// noMajority describes how the votes are split.
func noMajority(v proviso.Votes, failure error) string {
	text := fmt.Sprintf("no majority of %d votes: %d met, %d not met, ", v.Total(), v.Met, v.Unmet)
	if v.CannotTell > 0 {
		text += fmt.Sprintf("%d cannot tell, ", v.CannotTell)
	}
	text += fmt.Sprintf("%d without a verdict", v.Failed)
	if failure != nil {
		text += ": " + failure.Error()
	}
	return text
}

// telling reports the answers of a session as they become known. The zero value reports
// nothing.
type telling struct {
	known     func(i int, g proviso.Graded) // nil disables reporting
	questions [][]int                       // indexes of the questions about each item
	open      []atomic.Int64                // outstanding votes on each item
}

// tells prepares to report the questions in place, which maps them to their items.
func (s *session) tells(place map[int]int, known func(i int, g proviso.Graded)) {
	if known == nil {
		return
	}
	s.known, s.questions, s.open = known, make([][]int, len(s.items)), make([]atomic.Int64, len(s.items))
	for i, n := range place {
		s.questions[n] = append(s.questions[n], i)
	}
	for n := range s.open {
		s.open[n].Store(int64(s.voteCount()))
	}
}

// voted counts a completed vote on an item, and reports the item after its last vote.
func (s *session) voted(n int) {
	if s.known == nil || s.open[n].Add(-1) != 0 {
		return
	}
	for _, i := range s.questions[n] {
		var g proviso.Graded
		g.Grade, g.Err = s.grade(n) // each question owns its grade
		s.known(i, g)
	}
}

// tellStored counts the votes that came from the store, before any call is made.
func (s *session) tellStored() {
	for i := range s.votes {
		if s.votes[i].stored {
			s.voted(i / s.voteCount())
		}
	}
}
