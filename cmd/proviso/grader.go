package main

import (
	_ "embed" // judges.json
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/provider"
)

// judgeFile says which model grades where nobody does: for each ability the first
// row whose key is set.
//
//go:embed judges.json
var judgeFile string

// defaultJudge is a row of judges.json.
type defaultJudge struct{ key, provider string }

// defaultJudges returns the rows for an ability.
func defaultJudges(role judge.Role) []defaultJudge {
	v, _ := proviso.ParseJSON(judgeFile) // its test reads it
	o, _ := v.(*proviso.Object)
	list, _ := o.At(string(role)).([]any)
	var rows []defaultJudge
	for _, e := range list {
		row, _ := e.(*proviso.Object)
		key, _ := row.At("key").(string)
		id, _ := row.At("provider").(string)
		rows = append(rows, defaultJudge{key, id})
	}
	return rows
}

// judgeVariable names the judge where neither flag nor suite does.
const judgeVariable = "PROVISO_JUDGE"

// judgeFlags say who judges and how, over what a suite says.
type judgeFlags struct {
	judge    string
	votes    int
	mode     string
	canaries bool
}

// registerJudge adds the flag that names the judge, under both of its names.
func (f *judgeFlags) registerJudge(fs *pflag.FlagSet) {
	fs.StringVar(&f.judge, "judge", "", "provider `ID` that grades, or the label of one of the suite's; over judge of the suite and "+judgeVariable)
	fs.StringVar(&f.judge, "grader", "", "same as --judge, for `ID`")
}

// registerManner adds the flags that say how the judge is asked.
func (f *judgeFlags) registerManner(fs *pflag.FlagSet) {
	fs.StringVar(&f.mode, "mode", "", "`MODE` of asking: batch (assertions share calls, the default) or single (a call for each)")
	fs.IntVar(&f.votes, "votes", 0, "ask the judge `N` times; the majority decides")
	fs.BoolVar(&f.canaries, "canaries", false, "ask questions with a known answer as well, to notice a judge that was talked over")
}

// check finds mistakes in the flags.
func (f *judgeFlags) check() error {
	switch {
	case f.votes < 0:
		return usageError{fmt.Errorf("--votes %d: expected a number of at least 1", f.votes), "see `proviso judge --help`"}
	case f.mode != "" && f.mode != string(judge.Batch) && f.mode != string(judge.Single):
		return usageError{fmt.Errorf("--mode %q: expected batch or single", f.mode), "see `proviso judge --help`"}
	}
	return nil
}

// judging is what it takes to make judges.
type judging struct {
	flags judgeFlags
	// suite says who judges and which providers have labels; nil if there is none.
	suite *proviso.Suite
	// open opens a provider with what goes around it; provider tells what it may
	// use, where the names of keys are looked up, and what identifies it.
	open     func(proviso.ProviderSpec) (proviso.Provider, error)
	provider provider.Options
	// store keeps verdicts; nil keeps none.
	store       *blobs.Store
	concurrency int

	missing error // why there is no judge for questions that name none
}

// verdicts is where verdicts are kept, beside the answers of models; nil where
// these are not.
func (a *app) verdicts(m *models) *blobs.Store {
	if m.cache == nil {
		return nil
	}
	return blobs.Open(a.verdictDir())
}

func (a *app) verdictDir() string { return filepath.Join(filepath.Dir(a.cacheDir()), "verdicts") }

// graderFor prepares who judges the assertions of a suite. A suite that is only
// looked at needs no key.
func (a *app) graderFor(s *loaded, f *evalFlags) *lazyJudge {
	g := &judging{flags: f.judge, suite: s.Suite, open: f.asked.open, provider: f.asked.options, store: a.verdicts(f.asked)}
	if f.noKeys {
		g.provider.Keyless = true
		g.open = func(spec proviso.ProviderSpec) (proviso.Provider, error) { return provider.Open(spec, g.provider) }
	}
	return g.lazy()
}

// judge makes the judge. Where its provider cannot be opened, or nobody names one,
// only questions that name their own grader are answered; [judge.Judge.Prepare]
// says so of the others.
func (g *judging) judge(o check.Options) (*judge.Judge, error) {
	spec := proviso.JudgeSpec{}
	if g.suite != nil {
		spec = g.suite.Judge
	}
	opts := judge.Options{
		Open: g.seat, Store: g.store, Check: o, Concurrency: g.concurrency,
		Mode: judge.Mode(spec.Mode), Votes: spec.Votes, Chunk: spec.Chunk, Temperature: spec.Temperature, Canaries: spec.Canaries || g.flags.canaries,
	}
	if g.flags.mode != "" {
		opts.Mode = judge.Mode(g.flags.mode)
	}
	if g.flags.votes > 0 {
		opts.Votes = g.flags.votes
	}
	opts.Judges, g.missing = g.seats()
	return judge.New(opts)
}

// seats opens the judge, or the judges of a panel.
func (g *judging) seats() ([]judge.Seat, error) {
	who, err := g.panel()
	if err != nil {
		return nil, err
	}
	var seats []judge.Seat
	for _, p := range who {
		seat, err := g.sit(p)
		if err != nil {
			return nil, err
		}
		seats = append(seats, seat)
	}
	return seats, nil
}

// panel finds who judges: the flag, the suite, the variable, or the first model
// whose key is there.
func (g *judging) panel() ([]proviso.ProviderSpec, error) {
	named := g.flags.judge
	if g.suite != nil && named == "" {
		if len(g.suite.Judge.Panel) > 0 {
			return g.suite.Judge.Panel, nil
		}
		named = g.suite.Options.Grader
	}
	if named == "" && g.provider.Env != nil {
		named, _ = g.provider.Env.Lookup(judgeVariable)
	}
	if named != "" {
		return []proviso.ProviderSpec{g.named(named)}, nil
	}
	p, err := g.byKey(judge.Text)
	if err != nil {
		return nil, err
	}
	return []proviso.ProviderSpec{p}, nil
}

// named returns the provider of a name: one of the suite's by its label, or by
// its id, so that it keeps its settings.
func (g *judging) named(name string) proviso.ProviderSpec {
	if g.suite != nil {
		for _, p := range g.suite.Providers {
			if p.Label == name {
				return p
			}
		}
	}
	return proviso.ProviderSpec{ID: name}
}

// byKey returns the model for an ability whose key is there.
func (g *judging) byKey(role judge.Role) (proviso.ProviderSpec, error) {
	rows := defaultJudges(role)
	var keys []string
	for _, row := range rows {
		keys = append(keys, row.key)
		if g.provider.Env == nil {
			continue
		}
		if key, _ := g.provider.Env.Lookup(row.key); key != "" {
			return proviso.ProviderSpec{ID: row.provider}, nil
		}
	}
	if g.provider.Keyless && len(rows) > 0 {
		return proviso.ProviderSpec{ID: rows[0].provider}, nil
	}
	if role == judge.Text {
		return proviso.ProviderSpec{}, proviso.Because(provider.ErrNoKey, proviso.Unavailable,
			"no judge model is configured: set one with --judge, judge: in the suite, or %s in the environment, such as %s; the default is the model of the first key that is set of %s",
			judgeVariable, rows[0].provider, strings.Join(keys, ", "))
	}
	if len(rows) == 0 {
		return proviso.ProviderSpec{}, proviso.Because(provider.ErrNoKey, proviso.Unavailable, "no provider is configured for %s: set provider on the assertion", role)
	}
	return proviso.ProviderSpec{}, proviso.Because(provider.ErrNoKey, proviso.Unavailable, "no provider is configured for %s: set provider on the assertion, or set %s", role, strings.Join(keys, " or "))
}

// seat opens the grader that an assertion or a case names, or the model for an
// ability that the judge has not.
func (g *judging) seat(grader any, role judge.Role) (judge.Seat, error) {
	if grader == nil && role == judge.Text && g.missing != nil {
		return judge.Seat{}, g.missing
	}
	spec, err := g.graderOf(grader, role)
	if err != nil {
		return judge.Seat{}, err
	}
	return g.sit(spec)
}

func (g *judging) graderOf(grader any, role judge.Role) (proviso.ProviderSpec, error) {
	switch v := grader.(type) {
	case nil:
		return g.byKey(role)
	case string:
		return g.named(v), nil
	case *proviso.Object:
		if id, ok := v.At("id").(string); ok {
			spec := g.named(id)
			if config, ok := v.At("config").(*proviso.Object); ok {
				spec.Config = config
			}
			if env, ok := v.At("env").(*proviso.Object); ok {
				spec.Env = env
			}
			return spec, nil
		}
		return g.graderFor(v, role)
	}
	return proviso.ProviderSpec{}, proviso.Errorf(proviso.Invalid, "a grader is a provider's id, {id, config}, or a map from text, embedding, classification and moderation to these, not %s", proviso.Stringify(grader))
}

// graderFor looks an ability up in a map of graders.
func (g *judging) graderFor(roles *proviso.Object, role judge.Role) (proviso.ProviderSpec, error) {
	known := []string{string(judge.Text), string(judge.Embedding), string(judge.Classification), string(judge.Moderation)}
	for key := range roles.All() {
		if !slices.Contains(known, key) {
			return proviso.ProviderSpec{}, &proviso.Error{Code: proviso.Invalid, Message: fmt.Sprintf("unknown key %q of a grader", key), Valid: append(known, "id", "config")}
		}
	}
	if inner := roles.At(string(role)); inner != nil {
		if o, ok := inner.(*proviso.Object); ok && !o.Has("id") {
			return proviso.ProviderSpec{}, proviso.Errorf(proviso.Invalid, "the grader for %s needs an id", role)
		}
		return g.graderOf(inner, role)
	}
	if role == judge.Text {
		who, err := g.panel()
		if err != nil {
			return proviso.ProviderSpec{}, err
		}
		return who[0], nil
	}
	return g.byKey(role)
}

// sit opens a provider for a seat.
func (g *judging) sit(spec proviso.ProviderSpec) (judge.Seat, error) {
	p, err := g.open(spec)
	if err != nil {
		return judge.Seat{}, err
	}
	return judge.Seat{Provider: p, Spec: spec, Identity: provider.Identity(spec, g.provider)}, nil
}
