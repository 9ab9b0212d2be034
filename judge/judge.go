// Package judge grades outputs with models: it writes the prompt, calls the model,
// parses the answer strictly, counts the votes and reports the cost. Start at [New].
// [Evaluate] implements POST /v1/evaluate as a function; [Judge.Grade] and
// [Judge.GradeSet] are for package check.
//
// This package computes whether an assertion passes from the verdicts on its criteria.
// A reply without a verdict is an error, never a pass.
package judge

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/value"
)

// Mode determines how assertions are divided among calls.
type Mode string

// The modes.
const (
	Batch  Mode = "batch"  // assertions share calls, up to Options.Chunk criteria each
	Single Mode = "single" // each assertion has its own call
)

// Role is the ability that a model needs.
type Role string

// The roles.
const (
	Text           Role = "text"
	Embedding      Role = "embedding"
	Classification Role = "classification"
	Moderation     Role = "moderation"
)

// Seat is one judge model.
type Seat struct {
	Provider proviso.Provider
	// Spec is the specification of Provider. A temperature in its configuration is kept;
	// otherwise the judge uses 0.
	Spec proviso.ProviderSpec
	// Identity describes Provider and its configuration without secrets, as
	// provider.Identity does.
	Identity string
}

// Options configure a [Judge]. Budgets and caches are decorators of the providers.
type Options struct {
	// Grader, if not nil, answers all questions of [Judge.Evaluate] in place of Judges.
	Grader proviso.Grader
	// Judges answer the questions that do not name a grader: one judge, or a panel whose
	// votes are counted together.
	Judges []Seat
	// Open opens the grader that an assertion or a case names (an id, an object {id,
	// config}, or a map from roles to these). With a nil grader, it opens the default
	// model for a role that Judges do not cover. If Open is nil, both are refused. The
	// Judge keeps the models that Open returns.
	Open func(grader any, role Role) (Seat, error)
	// Providers are the facts about providers. The types that need a model with web
	// search, or an agent, accept only providers in this table.
	Providers proviso.Providers

	Mode        Mode
	Chunk       int      // maximum criteria per call; 8 if 0
	Votes       int      // votes per judge; 1 if 0
	Temperature *float64 // overrides the judges' own; nil uses theirs, or 0
	Canaries    bool     // add questions with a known answer, to detect prompt injection
	Concurrency int      // calls in flight for one set of questions; 4 if 0

	// Store caches verdicts; nil disables caching.
	Store proviso.Cache

	Threshold *float64 // threshold for Evaluate, unless the request has one; 1 if nil
	// Check holds the options of the deterministic checks in Evaluate. The Judge replaces
	// its Grader. Evaluate renders no templates: Check.Templates is for suite prompts
	// that replace the judge's own.
	Check check.Options
}

// Judge grades outputs. It is safe for concurrent use.
type Judge struct {
	o   Options
	own *check.Engines // nil if the options supplied engines

	kinds []judgedType

	mu     sync.Mutex
	opened map[string]opened // graders that questions name
	files  sync.Map          // contents of prompt files by name, so that a run sees one version of each
}

var _ proviso.EachGrader = (*Judge)(nil)

// Bounds and defaults of [Options].
const (
	defaultChunk       = 8
	defaultConcurrency = 4
	maxVotes           = 25
	maxPanel           = 9
)

// New returns a judge, or an error if the options are invalid. The caller must call
// [Judge.Close].
func New(o Options) (*Judge, error) {
	bad := func(format string, args ...any) (*Judge, error) {
		return nil, proviso.Errorf(proviso.Invalid, format, args...)
	}
	switch o.Mode {
	case "":
		o.Mode = Batch
	case Batch, Single:
	default:
		return nil, &proviso.Error{Code: proviso.Invalid, Message: "unknown mode \"" + string(o.Mode) + "\"", Valid: []string{string(Batch), string(Single)}}
	}
	if o.Chunk < 0 || o.Chunk > maxCriteria {
		return bad("a call holds 1 to %d criteria, not %d", maxCriteria, o.Chunk)
	}
	if o.Votes < 0 || o.Votes > maxVotes {
		return bad("a judge has 1 to %d votes, not %d", maxVotes, o.Votes)
	}
	if len(o.Judges) > maxPanel {
		return bad("a panel has at most %d judges, not %d", maxPanel, len(o.Judges))
	}
	if t := o.Threshold; t != nil && !(*t >= 0 && *t <= 1) {
		return bad("the threshold must be a number from 0 to 1, not %s", value.FormatNumber(*t))
	}
	if t := o.Temperature; t != nil && !(*t >= 0 && *t <= 2) {
		return bad("the temperature is a number from 0 to 2, not %s", value.FormatNumber(*t))
	}
	o.Chunk, o.Votes = or(o.Chunk, defaultChunk), or(o.Votes, 1)
	o.Concurrency = or(max(o.Concurrency, 0), defaultConcurrency)
	j := &Judge{o: o, kinds: kinds(), opened: map[string]opened{}}
	if o.Check.Engines == nil {
		j.own = check.NewEngines()
		j.o.Check.Engines = j.own
	}
	seen := map[string]bool{}
	for _, s := range o.Judges {
		switch key := j.judgeKey(s); {
		case s.Provider == nil:
			return bad("a judge has no provider")
		case seen[key]:
			return bad("the panel has the judge %s twice; votes ask one several times", j.label(s))
		default:
			seen[key] = true
		}
	}
	return j, nil
}

// Close frees the engines of checks, unless the options supplied them. The judge must not
// be used afterwards.
func (j *Judge) Close() error {
	if j.own == nil {
		return nil
	}
	return j.own.Close()
}

func or(n, def int) int {
	if n == 0 {
		return def
	}
	return n
}

// Grade answers one question.
func (j *Judge) Grade(ctx context.Context, q proviso.Question) (proviso.Grade, error) {
	grade := j.kindOf(q.Type).Grade
	if grade == nil {
		return proviso.Grade{}, proviso.Errorf(proviso.Unsupported, "the judge does not grade %q", q.Type)
	}
	return grade(ctx, j, q)
}

// GradeSet answers questions and returns the grades in the same order. Assertions of the
// type judge about the same input and output share calls; all other questions are asked
// in parallel.
func (j *Judge) GradeSet(ctx context.Context, qs []proviso.Question) []proviso.Graded {
	return j.GradeEach(ctx, qs, nil)
}

// GradeEach is [Judge.GradeSet]. It also calls known for each answer as soon as all its
// votes are complete. known may be nil.
func (j *Judge) GradeEach(ctx context.Context, qs []proviso.Question, known func(i int, g proviso.Graded)) []proviso.Graded {
	out := make([]proviso.Graded, len(qs))
	calls := newLimit(j.o.Concurrency)
	var tasks []func()
	for _, group := range groups(qs) {
		tasks = append(tasks, func() { j.gradeGroup(ctx, calls, qs, group, out, known) })
	}
	for i, q := range qs {
		if q.Type != judged {
			tasks = append(tasks, func() {
				calls.do(func() { out[i].Grade, out[i].Err = j.Grade(ctx, q) })
				if known != nil {
					known(i, out[i])
				}
			})
		}
	}
	together(tasks)
	return out
}

// Evaluate decides every assertion of a request with a new judge that has options o.
func Evaluate(ctx context.Context, r *Request, o Options) (*Response, error) {
	j, err := New(o)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	return j.Evaluate(ctx, r)
}

// judgeKey is a hash of everything that determines a verdict besides the question: the
// model and its configuration, the temperature, the prompt and the mode. It is part of
// the key of stored verdicts.
func (j *Judge) judgeKey(s Seat) string {
	identity := s.Identity
	if identity == "" {
		identity = s.Spec.ID + " " + value.Stringify(proviso.Keyless(s.Spec.Config))
	}
	temperature := "its own"
	if t, ok := j.temperature(s); ok {
		temperature = value.FormatNumber(t)
	}
	mode := string(j.o.Mode) + " " + strconv.Itoa(j.o.Chunk)
	return blobs.Key("judge 1", identity, temperature, promptVersion(), mode, strconv.FormatBool(j.o.Canaries))
}

// Identity returns the judge's name for reports: its model, and a hash of model,
// parameters, prompt, mode and votes. It is empty if the options name no judge.
func (j *Judge) Identity() string { return j.identity(j.o.Judges) }

// identity returns the joint identity of a panel of judges.
func (j *Judge) identity(judges []Seat) string {
	if len(judges) == 0 {
		return ""
	}
	names := make([]string, len(judges))
	parts := []string{strconv.Itoa(j.o.Votes)}
	for i, s := range judges {
		names[i] = j.label(s)
		parts = append(parts, j.judgeKey(s))
	}
	return strings.Join(names, "+") + "#" + blobs.Key(parts...)[:12]
}

// judgesOf returns the judges for a question: the grader that it names, or the judges in
// the options.
func (j *Judge) judgesOf(q proviso.Question) ([]Seat, error) {
	if q.Grader == nil && len(j.o.Judges) > 0 {
		return j.o.Judges, nil
	}
	s, err := j.able(q, Text)
	if err != nil {
		return nil, err
	}
	return []Seat{s}, nil
}

// AskLLM answers a yes-or-no question about an output. It implements the function
// ask_llm(prompt, response, question) for code in assertions. A nil grader is an
// error.
func AskLLM(ctx context.Context, grader proviso.Grader, prompt, response, question string) (bool, error) {
	if grader == nil {
		return false, proviso.Errorf(proviso.Unavailable, "no judge model is configured")
	}
	g, err := grader.Grade(ctx, proviso.Question{
		Type: proviso.TypeJudge, Assertion: &proviso.Assertion{ID: "ask_llm", Type: proviso.TypeJudge}, Input: prompt, Output: response,
		Criteria: []proviso.Criterion{{Text: question}},
	})
	return g.Pass, err
}
