package judge

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/value"
)

// grading is the grading of one question of a type with its own prompts: all promptfoo
// types that a model decides.
type grading struct {
	j    *Judge
	q    proviso.Question
	seat Seat // the model to call

	mu    sync.Mutex
	spent answer   // usage and cost of all calls so far
	asked int      // calls that were answered
	kept  int      // answered calls that came from a cache
	words []string // hashes or texts that identify the prompts
}

// verdict is the result of a grading, before negation.
type verdict struct {
	pass   bool
	score  float64
	reason string
}

// undecided adds a code to an error that has none.
func undecided(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return proviso.WithCode(proviso.Undecided, err)
}

// took returns a grade without a verdict: only usage, cost and judge identity.
func (g *grading) took() proviso.Grade {
	g.mu.Lock()
	defer g.mu.Unlock()
	return proviso.Grade{
		Usage: g.spent.Usage, Cost: g.spent.Cost, Cached: g.asked > 0 && g.asked == g.kept,
		Judge: g.identity(),
	}
}

// identity identifies the model and its prompts. The caller holds g.mu. All of proviso's
// own prompts share one hash, so that a run has few identities.
func (g *grading) identity() string {
	temperature, _ := g.j.temperature(g.seat)
	id := g.seat.Spec.ID
	if g.seat.Identity != "" { // Identity covers the rest
		id = g.j.o.Providers.Public(id)
	}
	key := []string{"graded 1", g.seat.Identity, id, value.FormatNumber(temperature)}
	key = append(key, slices.Compact(slices.Sorted(slices.Values(g.words)))...)
	return g.j.label(g.seat) + "#" + blobs.Key(key...)[:12]
}

func (g *grading) spend(a answer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.spent.Usage.Add(a.Usage)
	g.spent.Cost += a.Cost
	g.asked++
	if a.Cached {
		g.kept++
	}
}

// threshold returns the assertion's threshold, or the type's.
func (g *grading) threshold() float64 {
	if g.q.Threshold != nil {
		return *g.q.Threshold
	}
	kind, ok := check.Lookup(g.q.Type)
	if !ok {
		return 0
	}
	return kind.Default
}

// value returns the assertion's value as text: structures as JSON, a missing value as "".
func (g *grading) value() string {
	switch v := g.q.Value.(type) {
	case nil, value.Undefined:
		return ""
	default:
		return value.Text(v)
	}
}

// epsilon is JavaScript's Number.EPSILON, the tolerance of promptfoo's threshold.
const epsilon = 0x1p-52

// share returns the verdict for a score that must reach the threshold.
func (g *grading) share(name string, score float64, more string) verdict {
	threshold := g.threshold()
	v := verdict{pass: score >= threshold-epsilon, score: score}
	relation := ">="
	if !v.pass {
		relation = "<"
	}
	v.reason = name + " " + toFixed(score) + " is " + relation + " " + value.FormatNumber(threshold)
	if more != "" {
		v.reason += ": " + more
	}
	return v
}

// toFixed formats a score with two decimals.
func toFixed(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

// able returns the model that answers a question in a role. If the case's model lacks the
// ability, the default model is used. A model that the assertion itself names must have
// it. A model that cannot be opened is an error.
func (j *Judge) able(q proviso.Question, role Role) (Seat, error) {
	s, err := j.modelFor(q, role)
	if err != nil || has(s.Provider, role) {
		return s, err
	}
	if own := q.Assertion != nil && q.Assertion.Provider != nil; q.Grader != nil && !own {
		plain := q
		plain.Grader = nil
		if d, err := j.modelFor(plain, role); err == nil && has(d.Provider, role) {
			return d, nil
		}
	}
	return Seat{}, proviso.Errorf(proviso.Invalid, "%q needs a provider for %s, which %s is not; name one under provider: {%s: …}", q.Type, role, s.Provider.ID(), role)
}

// has reports whether a provider has the ability that a role requires.
func has(p proviso.Provider, role Role) bool {
	ok := p != nil
	switch role {
	case Embedding:
		_, ok = proviso.As[proviso.Embedder](p)
	case Classification:
		_, ok = proviso.As[proviso.Classifier](p)
	case Moderation:
		_, ok = proviso.As[proviso.Moderator](p)
	}
	return ok
}

// rolesOf returns the roles for which a type needs a model.
func rolesOf(typ string) []Role {
	kind, ok := check.Lookup(typ)
	if !ok {
		return []Role{Text}
	}
	var roles []Role
	for _, r := range [...]struct {
		need check.Needs
		role Role
	}{
		{check.NeedsJudge, Text}, {check.NeedsEmbedder, Embedding}, {check.NeedsClassifier, Classification}, {check.NeedsModerator, Moderation},
	} {
		if kind.Needs&r.need != 0 {
			roles = append(roles, r.role)
		}
	}
	return roles
}

// Prepare opens the models that grading q needs, and checks the prompt that replaces the
// judge's own. It joins several errors. It implements [proviso.Preparer].
func (j *Judge) Prepare(q proviso.Question) error {
	k := j.kindOf(q.Type)
	wrong := []error{j.checkRubric(q)}
	if k.Check != nil {
		wrong = append(wrong, k.Check(q))
	}
	if find := k.Model; find != nil {
		var err error
		if q.Grader, err = find(j, q); err != nil {
			return errors.Join(append(wrong, err)...)
		}
	}
	for _, role := range rolesOf(q.Type) {
		if _, err := j.able(q, role); err != nil {
			wrong = append(wrong, err)
		}
	}
	return errors.Join(wrong...)
}

// inConfig adds the pointer of the assertion's configuration to an error.
func inConfig(q proviso.Question, err error) error {
	var e *proviso.Error
	if errors.As(err, &e) {
		e.Pointer = q.Assertion.Pointer + "/config"
	}
	return err
}

var _ proviso.Preparer = (*Judge)(nil)

// usualMaterial estimates the bytes of a call besides the question: proviso's own prompt,
// and the output, which is not known in advance.
const usualMaterial = 2500

var _ proviso.Forecaster = (*Judge)(nil)

// Forecast implements [proviso.Forecaster]. It ignores repair calls and stored verdicts.
func (j *Judge) Forecast(qs []proviso.Question) []proviso.Forecast {
	var all []proviso.Forecast
	criteria, bytes := 0, 0
	for _, q := range qs {
		if q.Type == judged && q.Grader == nil {
			criteria += len(q.Criteria)
			bytes += sizeOf(q)
			continue
		}
		s, err := j.able(q, rolesOf(q.Type)[0])
		if err != nil {
			continue
		}
		calls := j.calls(q)
		all = append(all, proviso.Forecast{Provider: s.Provider, Calls: calls, Bytes: int64(calls * (usualMaterial + sizeOf(q)))})
	}
	if criteria == 0 {
		return all
	}
	for _, s := range j.o.Judges {
		calls := j.o.Votes * ((criteria + j.o.Chunk - 1) / j.o.Chunk)
		if j.o.Mode == Single {
			calls = j.o.Votes * len(qs)
		}
		all = append(all, proviso.Forecast{Provider: s.Provider, Calls: calls, Bytes: int64(calls*usualMaterial + j.o.Votes*bytes)})
	}
	return all
}

// calls returns the minimum number of calls for one question.
func (j *Judge) calls(q proviso.Question) int {
	if q.Type == judged {
		return j.o.Votes * ((len(q.Criteria) + j.o.Chunk - 1) / j.o.Chunk)
	}
	k := j.kindOf(q.Type)
	calls := max(1, k.Calls)
	if list, ok := q.Value.([]any); ok && k.PerValue {
		calls *= len(list)
	}
	return calls
}

// sizeOf returns the size of a question in bytes.
func sizeOf(q proviso.Question) int {
	n := len(q.Instruction)
	for _, c := range q.Criteria {
		n += len(c.Text)
	}
	switch v := q.Value.(type) {
	case nil, value.Undefined:
	default:
		n += len(value.Text(v))
	}
	return n
}
