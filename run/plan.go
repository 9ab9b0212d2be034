// Package run executes suites: it turns a suite into a [Plan], in which every
// provider is open and every assertion compiled, and a plan into rows. Start at
// [New]; it finds every mistake of a suite before the first call.
package run

import (
	"cmp"
	"context"
	"crypto/sha256"
	"hash"
	"regexp"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/judge/criteria"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// Plan is a suite that is ready to run. It must not be used concurrently.
type Plan struct {
	Suite *proviso.Suite
	// Cases is the number of cases, Rows the number of their rows. In a Dry plan each of the
	// Generators counts as one case.
	Cases, Rows, Generators int
	Warnings                proviso.Mistakes

	o          Options
	content    hash.Hash // hash of the run's content, without the judge
	cases      hash.Hash // hash of the cases alone
	compiler   *check.Compiler
	columns    []column
	opened     map[string]proviso.Provider
	scripts    map[string]*check.Transform
	functions  functions
	hooks      []*hook
	metricCode map[string]proviso.Function // of derived metrics that are functions, by name
	demands    map[string]*Demand
	waits      bool // rows may wait for a model, an endpoint or a judge
	traced     bool // rows need the spans of their traces
	inOrder    bool // rows depend on earlier rows, so they run one at a time
	serial     bool // some cases run first, one at a time
	kept       kept // the cases, if there are few
	mistakes   proviso.Mistakes
	dropped    int               // mistakes beyond maxMistakes
	noted      map[string]*noted // by message: cases share assertions
}

// column is one prompt for one provider.
type column struct {
	index     int
	prompt    *proviso.Prompt
	spec      *proviso.ProviderSpec
	provider  proviso.Provider
	transform *check.Transform
	code      promptCode // writes the prompt; nil if it is a template
	broken    error      // why its rows are undecided

	uses         []string // names of variables in the prompt
	conversation bool     // the prompt uses earlier turns
}

// New opens the providers of the suite and compiles every assertion. The
// mistakes include warnings; the plan can run if Mistakes.Err is nil.
// [Plan.Close] ends it.
func New(ctx context.Context, s *proviso.Suite, o Options) (*Plan, proviso.Mistakes) {
	if err := o.missing(); err != nil {
		return &Plan{Suite: s}, proviso.Mistakes{{Code: err.Code, Message: err.Message}}
	}
	if o.Concurrency <= 0 {
		o.Concurrency = defaultConcurrency
	}
	content := contentOf(s)
	seen := newHashedFiles(o.Files, content)
	o.Files = seen
	defer seen.close()
	p := &Plan{
		Suite: s, o: o, content: content, cases: sha256.New(), opened: map[string]proviso.Provider{}, scripts: map[string]*check.Transform{}, noted: map[string]*noted{},
		compiler: check.New(check.Options{
			Code: o.Code, Files: o.Files, Templates: o.Templates, Grader: o.Grader, Spans: o.Spans, CommandTools: o.CommandTools,
			Client: o.Client, Env: o.Env, Engines: o.Checks, LaxSchemas: o.LaxSchemas, Frozen: true, Lenient: s.Lenient, Expand: criteria.Expand,
			Providers: provider.Facts(),
		}),
	}
	p.expandCases(ctx)
	p.openHooks()
	p.openColumns()
	p.checkDerived()
	p.checkCases(ctx)
	if len(p.hooks) > 0 && p.mistakes.Err() == nil && !o.Dry {
		p.beforeAll(ctx)
	}
	if p.mistakes.Err() == nil && p.Rows == 0 && s.Unseen == 0 {
		p.mistake(proviso.Errorf(proviso.Invalid, "no test is selected: the suite has no cases, or the filters leave none"))
	}
	_, _ = p.content.Write(o.Included.sum()) // writing to a hash never fails
	slices.SortStableFunc(p.mistakes, func(a, b proviso.Mistake) int {
		return cmp.Or(cmp.Compare(a.Place.File, b.Place.File), cmp.Compare(a.Place.Line, b.Place.Line))
	})
	if p.dropped > 0 {
		p.mistakes = append(p.mistakes, proviso.MoreMistakes(p.dropped, p.lastWarning() >= 0))
	}
	return p, p.mistakes
}

// Close releases what the plan compiled. The plan can no longer run. The engines in the options
// stay open; their owner closes them.
func (p *Plan) Close() error {
	if p.compiler == nil { // engines were missing
		return nil
	}
	return p.compiler.Close()
}

// openColumns opens every provider and pairs it with its prompts, providers
// first, which is the column order of promptfoo.
func (p *Plan) openColumns() {
	for i := range p.Suite.Providers {
		spec := &p.Suite.Providers[i]
		if !selected(p.o.Providers, spec.ID, spec.Label) {
			continue
		}
		base := column{spec: spec}
		base.provider, base.broken = p.open(*spec)
		p.waits = p.waits || !provider.Computes(base.provider)
		if base.broken != nil {
			p.mistake(base.broken)
		}
		if spec.Transform != "" {
			t, err := p.transform(spec.Transform)
			if err != nil {
				p.mistake(proviso.WithPointer(spec.Pointer+"/transform", err))
				if base.broken == nil {
					base.broken = err // the provider's raw answer is not the output to be decided
				}
			}
			base.transform = t
		}
		p.addColumns(base)
	}
	if len(p.columns) == 0 && p.mistakes.Err() == nil {
		p.mistake(p.nothingLeft())
	}
}

// selected reports whether a filter selects an id and label.
func selected(filter *regexp.Regexp, id, label string) bool {
	return filter == nil || filter.MatchString(id) || filter.MatchString(label)
}

// nothingLeft returns why there is no prompt with a provider.
func (p *Plan) nothingLeft() error {
	none := func(what string, filter *regexp.Regexp, names []string) error {
		return proviso.Errorf(proviso.Invalid, "no %s matches the filter %q; the %ss are %s", what, filter, what, excerpt.Bytes(strings.Join(names, ", "), 200))
	}
	var names []string
	found := false
	for _, x := range p.Suite.Providers {
		names, found = append(names, cmp.Or(x.Label, x.ID)), found || selected(p.o.Providers, x.ID, x.Label)
	}
	if !found && p.o.Providers != nil {
		return none("provider", p.o.Providers, names)
	}
	names, found = nil, false
	for _, x := range p.Suite.Prompts {
		names, found = append(names, excerpt.Bytes(x.Label, 60)), found || selected(p.o.Prompts, x.ID, x.Label)
	}
	if !found && p.o.Prompts != nil {
		return none("prompt", p.o.Prompts, names)
	}
	return proviso.Errorf(proviso.Invalid, "no prompt and provider are left to run: see the list prompts of each provider, and the filters")
}

func (p *Plan) addColumns(base column) {
	for i := range p.Suite.Prompts {
		prompt := &p.Suite.Prompts[i]
		if len(base.spec.Prompts) > 0 && !matches(base.spec.Prompts, prompt.Label, prompt.ID) {
			continue
		}
		if !selected(p.o.Prompts, prompt.ID, prompt.Label) {
			continue
		}
		c := base
		c.index, c.prompt = len(p.columns), prompt
		p.waits = p.waits || anyWaits(prompt.Assert)
		c.conversation = conversational(prompt.Raw)
		p.inOrder = p.inOrder || c.conversation
		if prompt.Script != nil {
			p.openPromptCode(&c)
		} else if !p.o.PlainPrompts {
			p.checkPrompt(&c)
		}
		p.columns = append(p.columns, c)
	}
}

// openPromptCode opens the code that writes the prompt of a column.
func (p *Plan) openPromptCode(c *column) {
	g := c.prompt.Script
	code, err := p.promptCode(c.prompt)
	if err != nil {
		err = proviso.WithPointer(g.Pointer, err)
		c.broken = err
		p.mistake(err)
		return
	}
	c.code = code
	p.waits = true
	if data, err := p.o.Files.ReadFile(g.File); err == nil { // a command is not a file
		c.conversation = conversational(string(data))
		p.inOrder = p.inOrder || c.conversation
	}
}

// open opens a provider once for each id and configuration.
func (p *Plan) open(spec proviso.ProviderSpec) (proviso.Provider, error) {
	key := spec.ID + " " + value.Stringify(spec.Config) + value.Stringify(spec.Env)
	if got, ok := p.opened[key]; ok {
		return got, nil
	}
	got, err := p.o.Open(spec)
	if err == nil {
		p.opened[key] = got
	}
	return got, err
}

// transform compiles each transform once.
func (p *Plan) transform(text string) (*check.Transform, error) {
	if t, ok := p.scripts[text]; ok {
		return t, nil
	}
	t, err := p.compiler.Transform(text)
	if err == nil {
		p.scripts[text] = t
	}
	return t, err
}

// matches reports whether one of the filters names the label or the id.
func matches(filters []string, label, id string) bool {
	return slices.ContainsFunc(filters, func(f string) bool {
		return suite.MatchName(f, label) || suite.MatchName(f, id)
	})
}

// short shortens a text of the suite for a message.
func short(s string) string { return excerpt.Runes(s, 40) }
