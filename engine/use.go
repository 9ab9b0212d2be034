package engine

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/judge/criteria"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/suite"
)

// Plan opens the providers of the suite and compiles every assertion. The mistakes
// include warnings; the plan can run if Mistakes.Err is nil.
func (e *Engine) Plan(ctx context.Context, t run.Task) (*run.Plan, proviso.Mistakes) {
	if e.suite == nil {
		return nil, proviso.Mistakes{{Code: proviso.Internal, Message: "a plan needs a suite"}}
	}
	n := &e.o.Engines
	included := run.NewIncluded(e.include().Read)
	o := run.Options{
		Engines: run.Engines{
			Code: e.code, Files: e.files, Env: e.env, Templates: e.templates, Metrics: e.metrics, Checks: e.checks,
			PromptTemplates: e.templates.Including(included.Read), Included: included,
			Grader: e.Grader(), Judge: e.JudgedBy, Spans: n.Spans, CommandTools: e.tools(),
			Client: e.client, Secrets: e.secrets, Open: e.openForSuite,
		},
		Limits: e.o.Limits.Limits, Observers: e.o.Observers.Observers, Task: t,
		Version: e.o.Version, Untrusted: !e.o.Policy.Trusted,
		LaxSchemas:   suite.Switch(e.env, "PROMPTFOO_DISABLE_AJV_STRICT_MODE"),
		PlainPrompts: suite.Switch(e.env, "PROMPTFOO_DISABLE_TEMPLATING"),
		PlainJSON:    suite.Switch(e.env, "PROMPTFOO_DISABLE_JSON_AUTOESCAPE"),
	}
	if n.Cassette != nil {
		o.Unrecorded = n.Cassette.Err
	}
	before := e.mistakes.take()
	p, list := run.New(ctx, e.suite, o)
	own(e, "plan", p)
	return p, slices.Concat(before, e.unknownJudges(), list, e.mistakes.take())
}

// include reads the files that prompts include.
func (e *Engine) include() suite.Include {
	files, ok := e.files.(*suite.Files)
	if !ok {
		files = suite.NewFiles(e.dir, e.o.Policy.Files())
	}
	return suite.Include{Files: files, Granted: slices.Concat(e.suite.Sandbox.Read, e.o.Policy.Grants.Read)}
}

// openForSuite opens a provider, and records its id if it calls a model.
func (e *Engine) openForSuite(spec proviso.ProviderSpec) (proviso.Provider, error) {
	p, err := e.open(spec)
	id := spec.ID
	switch {
	case errors.Is(err, provider.ErrNoKey) && e.o.Keyless: // another process has the key
	case err != nil || provider.Computes(p):
		return p, err
	default:
		id = p.ID()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Contains(e.asked, id) {
		e.asked = append(e.asked, id)
	}
	return p, err
}

// Asked returns the ids of the providers that the engine's plans call.
func (e *Engine) Asked() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.asked)
}

// Judge returns the judge. It succeeds even if a model cannot be opened: see
// [judge.Judge.Prepare].
func (e *Engine) Judge() (*judge.Judge, error) { return e.grader.get() }

// Grader returns the grader, or nil if the judge is off. It opens a model for the first
// question, so that a suite without judged assertions needs no key.
func (e *Engine) Grader() proviso.Grader {
	if e.o.Judge.Off {
		return nil
	}
	if own := e.o.Judge.Grader; own != nil {
		return own
	}
	return e.grader
}

// JudgedBy returns the identity of the judge, or "" if it has not been needed yet.
func (e *Engine) JudgedBy() string {
	if own := e.o.Judge.Grader; own != nil {
		identity, _ := own.(interface{ Identity() string })
		if identity == nil {
			return ""
		}
		return identity.Identity()
	}
	return e.grader.identity()
}

// Evaluate decides every assertion of a request. The error is [judge.Mistakes] if the
// request is invalid; undecided assertions are part of the response.
func (e *Engine) Evaluate(ctx context.Context, r *judge.Request) (*judge.Response, error) {
	j, err := e.Judge()
	if err != nil {
		return nil, err
	}
	return j.Evaluate(ctx, r)
}

// Check compiles every assertion of a request, without calling a model. It returns the same
// errors for invalid requests as [Engine.Evaluate].
func (e *Engine) Check(ctx context.Context, r *judge.Request) error {
	j, err := e.Judge()
	if err != nil {
		return err
	}
	return j.Check(ctx, r)
}

// Identity returns the identity of the judge that [Engine.Evaluate] uses.
func (e *Engine) Identity() string {
	j, err := e.Judge()
	if err != nil {
		return ""
	}
	return j.Identity()
}

// Compiler returns a new compiler for assertions, which the engine closes. change, if
// not nil, may restrict its options.
func (e *Engine) Compiler(change func(*check.Options)) *check.Compiler {
	o := e.checkOptions()
	if change != nil {
		change(&o)
	}
	return own(e, "compiler", check.New(o))
}

// checkOptions returns the options of compilers for assertions.
func (e *Engine) checkOptions() check.Options {
	return check.Options{
		Code: e.code, Files: e.files, Templates: e.templates, Grader: e.Grader(), Spans: e.o.Engines.Spans, CommandTools: e.tools(),
		Client: e.client, Env: e.env, Expand: criteria.Expand, Engines: e.checks, Providers: provider.Facts(),
	}
}

// Templates returns the template engine: nunjucks, with the filters of the suite.
func (e *Engine) Templates() run.Templates { return e.templates }

// Code returns the code runner, which refuses code if the policy does.
func (e *Engine) Code() proviso.Code { return e.code }

// Client returns the HTTP client, which enforces the policy.
func (e *Engine) Client() *http.Client { return e.client }

// Env returns the environment of providers and of proviso itself.
func (e *Engine) Env() proviso.Env { return e.env }

// mistakes collects mistakes from several goroutines: some providers are opened during a
// run.
type mistakes struct {
	mu   sync.Mutex
	list proviso.Mistakes
}

func (m *mistakes) add(one proviso.Mistake) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list = append(m.list, one)
}

// take returns the collected mistakes and clears the list.
func (m *mistakes) take() proviso.Mistakes {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.list
	m.list = nil
	return list
}
