package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/spade"
	"github.com/proviso-eval/proviso/suite"
)

// spadeAsking is how a command of spade asks a model.
type spadeAsking struct {
	evalFlags // models and concurrency; the rest has no flag here
	model     string
}

// register adds the flags; does is what the model does.
func (f *spadeAsking) register(fs *pflag.FlagSet, does string) {
	fs.StringVar(&f.model, "model", "", "provider `ID` of the model that "+does+"; over "+judgeVariable)
	fs.IntVarP(&f.concurrency, "max-concurrency", "j", 0, "`N` questions at a time (default 4)")
	f.models.register(fs)
}

func (f *spadeAsking) check() error {
	if f.concurrency < 0 {
		return usageError{fmt.Errorf("-j %d: expected a number that is not negative", f.concurrency), "see `proviso spade propose --help`"}
	}
	return f.models.check()
}

// spadeModel opens the model and returns what ends it. Without one the error names
// the ways to say it, and hint, which is another way out.
func (a *app) spadeModel(ctx context.Context, f *spadeAsking, hint string) (*spade.Model, func(), error) {
	env, err := suite.WithEnvFiles(a.env, "", nil)
	if err != nil {
		return nil, nil, err
	}
	cassette := f.models.cassette(a.secrets)
	if _, err := f.models.replayed(ctx, cassette); err != nil {
		return nil, nil, err
	}
	code, templates := script.New(script.Options{}), template.New(template.Options{})
	end := func() {
		for _, c := range []io.Closer{code, templates} {
			_ = c.Close() // engines only free memory
		}
	}
	files := suite.NewFiles(".", f.trust.files())
	f.asked = a.newModels(&f.evalFlags, provider.Options{
		Files: files, Env: env, Client: f.client(env, cassette), Code: code, Templates: templates, Dir: ".",
	}, cassette)
	g := &judging{flags: judgeFlags{judge: f.model}, open: f.asked.open, provider: f.asked.options}
	who, err := g.panel()
	if err != nil {
		end()
		return nil, nil, noModel(hint)
	}
	p, err := f.asked.open(who[0])
	if err != nil {
		end()
		return nil, nil, a.nobodyAsked(err)
	}
	return &spade.Model{Provider: p, Spec: who[0]}, end, nil
}

// synthesised prepares what runs code that a model wrote: confined by the kernel and
// granted nothing, or not at all. It starts nothing.
func (a *app) synthesised(workers int) *codes {
	c := newCodes(func() (proviso.Code, error) {
		policy, err := sandbox.ParsePolicy(sandboxRequire)
		if err != nil {
			return nil, err
		}
		return sandbox.New(sandbox.Options{Policy: policy, Env: a.env, Workers: workers, Warn: a.warn}), nil
	})
	c.confined = true
	return c
}

// noModel says how to name a model.
func noModel(hint string) error {
	var keys []string
	example := ""
	for _, row := range defaultJudges(judge.Text) {
		keys = append(keys, row.key)
		if example == "" {
			example = row.provider
		}
	}
	ways := fmt.Sprintf("name a provider with --model, such as %s, or with %s in the environment, or set %s", example, judgeVariable, strings.Join(keys, " or "))
	return usageError{errors.New("no model is named"), ways + hint}
}

// sayAsked says what the questions to a model took.
func (a *app) sayAsked(f *spadeAsking, m *spade.Model, s spade.Spent) {
	if s.Calls > 0 {
		cost := ""
		if s.Cost > 0 {
			cost = fmt.Sprintf(", $%.4g", s.Cost)
		}
		fmt.Fprintf(a.err, "proviso: %s by %s, %s%s\n", plural(s.Calls, "answer"), printable(m.Label()),
			plural(int(s.Usage.Prompt+s.Usage.Completion), "token"), cost)
	}
	for _, line := range f.asked.summary() {
		fmt.Fprintln(a.err, "proviso: "+printable(line))
	}
}

// counter shows a person how far the questions are; done takes the line away.
func (a *app) counter() (tell func(answered, of int), done func()) {
	if !a.watchedByPerson() {
		return nil, func() {}
	}
	return func(answered, of int) {
			fmt.Fprintf(a.err, "\r%d of %s answered\x1b[K", answered, plural(of, "question"))
		},
		func() { fmt.Fprint(a.err, "\r\x1b[K") }
}

// shownError is an error on one line.
func shownError(err error) string {
	if err == nil {
		return ""
	}
	return report.Line(strings.ReplaceAll(err.Error(), "\n", "; "), 400)
}
