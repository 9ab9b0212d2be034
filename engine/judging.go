package engine

import (
	"cmp"
	_ "embed" // judges.json
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/judge/criteria"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// judgeFile lists the default judge models: for each ability, the first row whose key is
// set is used.
//
//go:embed judges.json
var judgeFile string

// DefaultJudge is a model that grades if the environment variable Key is set.
type DefaultJudge struct{ Key, Provider string }

// DefaultJudges returns the default models for an ability, in order of preference.
func DefaultJudges(role judge.Role) []DefaultJudge {
	v, _ := value.ParseJSON(judgeFile) // a test parses it
	o, _ := v.(*value.Object)
	list, _ := o.At(string(role)).([]any)
	var rows []DefaultJudge
	for _, e := range list {
		row, _ := e.(*value.Object)
		key := row.Text("key")
		id := row.Text("provider")
		rows = append(rows, DefaultJudge{key, id})
	}
	return rows
}

// JudgeVariable is the environment variable that names the judge if neither the options
// nor the suite do.
const JudgeVariable = "PROVISO_JUDGE"

// judging makes the judge of an engine.
type judging struct {
	*Engine
	missing error // why there is no judge for questions that name no grader
}

// judge makes the judge. If its provider cannot be opened, or there is none, the judge answers
// only questions that name their own grader; [judge.Judge.Prepare] returns an error for the
// others.
func (g *judging) judge() (*judge.Judge, error) {
	spec := proviso.JudgeSpec{}
	if g.suite != nil {
		spec = g.suite.Judge
	}
	o := &g.o.Judge
	opts := judge.Options{
		Open: g.openGrader, Providers: provider.Facts(), Store: g.models.verdicts, Concurrency: o.Concurrency,
		Mode: judge.Mode(spec.Mode), Votes: spec.Votes, Chunk: spec.Chunk, Temperature: spec.Temperature, Canaries: spec.Canaries || o.Canaries,
		Check: check.Options{
			Code: g.code, Files: g.files, Templates: g.templates, Client: g.client, Env: g.env, Expand: criteria.Expand,
			CommandTools: g.tools(), Engines: g.checks,
		},
	}
	if o.Mode != "" {
		opts.Mode = o.Mode
	}
	if o.Votes > 0 {
		opts.Votes = o.Votes
	}
	if opts.Grader = o.Grader; opts.Grader == nil {
		opts.Judges, g.missing = g.openJudges()
	}
	return judge.New(opts)
}

// openJudges opens the judge, or the judges of a panel.
func (g *judging) openJudges() ([]judge.Seat, error) {
	g.needs.ask()
	who, err := g.Judges()
	if err != nil {
		return nil, err
	}
	var seats []judge.Seat
	for _, p := range who {
		seat, err := g.openJudge(p)
		if err != nil {
			return nil, err
		}
		seats = append(seats, seat)
	}
	return seats, nil
}

// Judges returns the models that grade, without opening them: those of the options, the suite
// or the variable, or the first default model whose key is set.
func (e *Engine) Judges() ([]proviso.ProviderSpec, error) {
	named := e.o.Judge.Name
	if e.suite != nil && named == "" {
		if len(e.suite.Judge.Panel) > 0 {
			return e.suite.Judge.Panel, nil
		}
		named = e.suite.Options.Grader
	}
	if named == "" {
		named, _ = e.providers.Env.Lookup(JudgeVariable)
	}
	if named != "" {
		return []proviso.ProviderSpec{e.named(named)}, nil
	}
	p, err := e.byKey(judge.Text)
	if err != nil {
		return nil, err
	}
	return []proviso.ProviderSpec{p}, nil
}

// named returns the provider for a name: a provider of the suite with that label,
// including its settings, or the name as an id.
func (e *Engine) named(name string) proviso.ProviderSpec {
	if e.suite != nil {
		for _, p := range e.suite.Providers {
			if p.Label == name {
				return p
			}
		}
	}
	return proviso.ProviderSpec{ID: name}
}

// unknownJudges returns a mistake for each judge of the options or the suite that is not a
// provider, whether or not an assertion needs it. The environment is shared by many suites, so
// a judge that it names matters only to suites that need one.
func (e *Engine) unknownJudges() (list proviso.Mistakes) {
	o := &e.o.Judge
	if o.Off || o.Grader != nil || e.o.Engines.Open != nil {
		return nil
	}
	who := e.suite.Judge.Panel
	if o.Name != "" {
		who = []proviso.ProviderSpec{e.named(o.Name)}
	}
	for _, spec := range who {
		own := slices.ContainsFunc(e.o.Engines.Providers, func(p proviso.Provider) bool { return p.ID() == spec.ID })
		var unknown *proviso.Error
		if own || !errors.As(provider.Known(spec), &unknown) {
			continue
		}
		m := e.mistakeOf(unknown)
		m.Skips = false // a skipped provider is never the judge
		m.Place.File = cmp.Or(m.Place.File, o.Flag, "Options.Judge.Name")
		list = append(list, m)
	}
	return list
}

// judgeOption names what sets the judge besides the suite and the environment, for a message: a
// flag, or the option of a Go program.
func (e *Engine) judgeOption() string {
	if e.o.Judge.Flag != "" {
		return e.o.Judge.Flag + ", "
	}
	if e.o.Policy.Trusted {
		return "Options.Judge, "
	}
	return ""
}

// byKey returns the first default model for an ability whose key is set.
func (e *Engine) byKey(role judge.Role) (proviso.ProviderSpec, error) {
	rows := DefaultJudges(role)
	var keys []string
	for _, row := range rows {
		keys = append(keys, row.Key)
		if key, _ := e.providers.Env.Lookup(row.Key); key != "" {
			return proviso.ProviderSpec{ID: row.Provider}, nil
		}
	}
	if e.providers.Keyless && len(rows) > 0 {
		return proviso.ProviderSpec{ID: rows[0].Provider}, nil
	}
	if role == judge.Text {
		e.needs.add(NeedsJudge, false)
		return proviso.ProviderSpec{}, proviso.Because(provider.ErrNoKey, proviso.Unavailable,
			"no judge model is configured: set one with %sjudge: in the suite, or %s in the environment, such as %s; the default is the model of the first key that is set of %s",
			e.judgeOption(), JudgeVariable, rows[0].Provider, strings.Join(keys, ", "))
	}
	if len(rows) == 0 {
		return proviso.ProviderSpec{}, proviso.Because(provider.ErrNoKey, proviso.Unavailable, "no provider is configured for %s: set provider on the assertion", role)
	}
	e.needs.add(keysOf(role), false)
	return proviso.ProviderSpec{}, proviso.Because(provider.ErrNoKey, proviso.Unavailable, "no provider is configured for %s: set provider on the assertion, or set %s", role, strings.Join(keys, " or "))
}

// openGrader opens the grader that an assertion or a case names, or the default model
// for an ability that the judge lacks.
func (g *judging) openGrader(grader any, role judge.Role) (judge.Seat, error) {
	if grader == nil && role == judge.Text && g.missing != nil {
		return judge.Seat{}, g.missing
	}
	spec, err := g.graderOf(grader, role)
	if err != nil {
		return judge.Seat{}, err
	}
	return g.openJudge(spec)
}

func (g *judging) graderOf(grader any, role judge.Role) (proviso.ProviderSpec, error) {
	switch v := grader.(type) {
	case nil:
		return g.byKey(role)
	case string:
		return g.named(v), nil
	case *value.Object:
		if id, ok := v.At("id").(string); ok {
			spec := g.named(id)
			if config, ok := v.At("config").(*value.Object); ok {
				spec.Config = config
			}
			if env, ok := v.At("env").(*value.Object); ok {
				spec.Env = env
			}
			return spec, nil
		}
		return g.graderFor(v, role)
	}
	return proviso.ProviderSpec{}, proviso.Errorf(proviso.Invalid, "a grader is a provider's id, {id, config}, or a map from text, embedding, classification and moderation to these, not %s", value.Stringify(grader))
}

// graderFor looks up the grader for an ability in a map.
func (g *judging) graderFor(roles *value.Object, role judge.Role) (proviso.ProviderSpec, error) {
	known := []string{string(judge.Text), string(judge.Embedding), string(judge.Classification), string(judge.Moderation)}
	for key := range roles.All() {
		if !slices.Contains(known, key) {
			return proviso.ProviderSpec{}, &proviso.Error{Code: proviso.Invalid, Message: fmt.Sprintf("unknown key %q of a grader", key), Valid: append(known, "id", "config")}
		}
	}
	if inner := roles.At(string(role)); inner != nil {
		if o, ok := inner.(*value.Object); ok && !o.Has("id") {
			return proviso.ProviderSpec{}, proviso.Errorf(proviso.Invalid, "the grader for %s needs an id", role)
		}
		return g.graderOf(inner, role)
	}
	if role == judge.Text {
		who, err := g.Judges()
		if err != nil {
			return proviso.ProviderSpec{}, err
		}
		return who[0], nil
	}
	return g.byKey(role)
}

// openJudge opens a provider as a judge. The operator's engine opens a judge that the operator
// chose; a request without a suite cannot choose any other judge.
func (g *judging) openJudge(spec proviso.ProviderSpec) (judge.Seat, error) {
	by, open := g.Engine, g.open
	if op := g.o.Engines.Operator; op != nil {
		switch {
		case g.operators(spec):
			by, open = op, op.judgeFor
		case g.suite == nil:
			return judge.Seat{}, proviso.Errorf(proviso.Refused, "%s is not the judge of this server", spec.ID)
		}
	}
	p, err := open(spec)
	if by != g.Engine {
		missing := errors.Is(err, provider.ErrNoKey)
		g.needs.add(judgeNeed(spec), !missing)
		var e *proviso.Error
		if missing && g.providers.Keyless && errors.As(err, &e) {
			warning := *e
			warning.Warning, err = true, &warning
		}
	}
	if err != nil {
		return judge.Seat{}, err
	}
	return judge.Seat{Provider: p, Spec: spec, Identity: provider.PublicIdentity(spec, by.providers)}, nil
}

// operators reports whether the operator chose this exact provider as a judge: in the options,
// with the variable, or as a default model.
func (e *Engine) operators(spec proviso.ProviderSpec) bool {
	if spec.Config.Len() > 0 || spec.Env.Len() > 0 || spec.Transform != "" {
		return false
	}
	if spec.ID == e.o.Judge.Name {
		return true
	}
	if named, _ := e.o.Engines.Operator.providers.Env.Lookup(JudgeVariable); named == spec.ID {
		return true
	}
	for _, role := range []judge.Role{judge.Text, judge.Embedding, judge.Classification, judge.Moderation} {
		for _, row := range DefaultJudges(role) {
			if row.Provider == spec.ID {
				return true
			}
		}
	}
	return false
}
