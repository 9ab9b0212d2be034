package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/judge/attack"
	"github.com/proviso-eval/proviso/judge/criteria"
	"github.com/proviso-eval/proviso/judge/lint"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

// judgeCommand holds the flags of judge.
type judgeCommand struct {
	evalFlags   // models, judge and trust; the other fields have no flag here
	threshold   float64
	hasLimit    bool
	allowErrors bool
	format      string
	templates   bool
	lint        bool
	lintRun     string // a kept run whose assertions are checked
	attack      bool
	attackSets  []string
	attackKinds []string
}

func newJudge(a *app) *cobra.Command {
	f := &judgeCommand{}
	cmd := &cobra.Command{
		Use:   "judge [FILE|-]",
		Short: "Decide whether one output keeps assertions: JSON in, JSON out",
		Long: "judge reads a request from FILE, or from standard input, and has a model decide every\n" +
			"assertion about one output:\n\n" +
			`  {"agent_input": "…", "agent_output": "…",` + "\n" +
			`   "assertions": [{"id": "…", "instruction": "…", "criteria": ["…"]}]}` + "\n\n" +
			"Exit codes: 0 the threshold is met, 1 it is missed, 2 the request or the command line is\n" +
			"wrong and no model was asked, 3 errors left it undecided, 130 interrupted.",
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.hasLimit = cmd.Flags().Changed("threshold")
			return a.judge(cmd.Context(), f, args)
		},
	}
	f.register(cmd.Flags())
	return cmd
}

func (f *judgeCommand) register(fs *pflag.FlagSet) {
	f.judge.registerJudge(fs)
	f.judge.registerManner(fs)
	shareVar(fs, &f.threshold, "threshold", 1, "`SHARE` of the assertions that must pass; overrides that of the request; with --attack, of the attempts that must fail")
	fs.BoolVar(&f.allowErrors, "allow-errors", false, "compute the score from the decided assertions alone")
	choiceVar(fs, &f.format, "format", "", []string{formatJSON, formatText}, "`FORMAT` of the output: json or text (default json for a request, else text)")
	fs.BoolVar(&f.templates, "templates", false, "list the shipped criteria with their parameters; asks no model")
	fs.BoolVar(&f.lint, "lint", false, "point out probable mistakes in the wording of the assertions; asks no model")
	fs.StringVar(&f.lintRun, "run", "", "with --lint: check the assertions of a kept `RUN` (its id or the beginning of it, last, its file, or its address on a server), and show how often its judge could not decide")
	fs.BoolVar(&f.attack, "attack", false, "try the shipped prompt injections on the judge and count those that succeed")
	fs.StringArrayVar(&f.attackSets, "attack-set", nil, "with --attack: only attempts of this `SET`, v1 or v2; may be repeated")
	fs.StringArrayVar(&f.attackKinds, "attack-kind", nil, "with --attack: only attempts of this `KIND`; may be repeated")
	countVar(fs, &f.concurrency, "max-concurrency", "j", 0, 1, "`N` calls at a time (default 4)")
	f.models.register(fs)
	f.code.register(fs)
	f.trust.register(fs)
}

// check finds mistakes in the flags that cobra does not detect.
func (f *judgeCommand) check(args []string) error {
	see := "see `proviso judge --help`"
	doing := 0
	for _, on := range []bool{f.templates, f.lint, f.attack} {
		if on {
			doing++
		}
	}
	switch {
	case doing > 1:
		return usageError{fmt.Errorf("--templates, --lint and --attack exclude each other"), see}
	case (f.templates || f.attack) && len(args) > 0:
		return usageError{fmt.Errorf("unexpected argument %q: --templates and --attack read no request", args[0]), see}
	case f.lintRun != "" && !f.lint:
		return usageError{fmt.Errorf("--run goes with --lint"), see}
	case f.lintRun != "" && len(args) > 0:
		return usageError{fmt.Errorf("unexpected argument %q: --run reads no request", args[0]), see}
	case len(f.attackSets) > 0 && !f.attack:
		return usageError{fmt.Errorf("--attack-set goes with --attack"), see}
	case len(f.attackKinds) > 0 && !f.attack:
		return usageError{fmt.Errorf("--attack-kind goes with --attack"), see}
	}
	return errors.Join(f.models.check(), f.code.check(), f.trust.check())
}

// judge runs what the flags request.
func (a *app) judge(ctx context.Context, f *judgeCommand, args []string) error {
	if err := f.check(args); err != nil {
		return err
	}
	switch {
	case f.templates:
		return a.judgeTemplates(f.format)
	case f.attack:
		return a.judgeAttack(ctx, f)
	case f.lintRun != "":
		return a.judgeLintRun(ctx, f.lintRun, f.format)
	}
	name := cmp.Or(argument(args), "-")
	req, doc, err := a.request(name)
	if err != nil {
		return err
	}
	if f.lint {
		return a.judgeLint(req, doc, f.format)
	}
	if f.hasLimit {
		req.Threshold = &f.threshold
	}
	req.AllowErrors = req.AllowErrors || f.allowErrors
	var end closers
	defer end.close()
	j, err := a.oneJudge(ctx, &end, f, filepath.Dir(name))
	if err != nil {
		return err
	}
	if asksJudge(req) {
		if err := j.Prepare(proviso.Question{Type: proviso.TypeJudge}); err != nil {
			return a.noModelAsked(err)
		}
	}
	resp, err := j.Evaluate(ctx, req)
	if ctx.Err() != nil {
		return a.interrupted(ctx, "no verdict")
	}
	if err != nil {
		return a.requestMistakes(doc, err)
	}
	a.sayModels(f.asked)
	if err := a.printResponse(req, resp, f.format); err != nil {
		return proviso.WithCode(proviso.Unavailable, err)
	}
	return exitWith(responseCode(resp))
}

// asksJudge reports whether a request needs a model at all.
func asksJudge(req *judge.Request) bool {
	for i := range req.Assertions {
		for _, c := range req.Assertions[i].Criteria {
			parts, _ := criteria.Expand(proviso.Criterion{Text: c.Text, Template: c.Template, Params: c.Params}, "")
			if slices.ContainsFunc(parts, func(p criteria.Part) bool { return p.Check == nil }) {
				return true
			}
		}
	}
	return false
}

// request reads a request and prints its mistakes with their positions.
func (a *app) request(name string) (*judge.Request, *document.Document, error) {
	shown := shownName(name)
	data, err := a.readBounded(name, holdsRequest, judge.MaxBody)
	if proviso.CodeOf(err) == proviso.Limit { // the request is wrong, not undecided
		err = proviso.Errorf(proviso.Invalid, "%w", err)
	}
	if err != nil {
		return nil, nil, err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil, usageError{fmt.Errorf("%s holds no request", shown), "a request is a JSON object with agent_input, agent_output and assertions: see `proviso judge --help`"}
	}
	doc, err := document.ParseJSON(shown, data)
	var syntax *document.SyntaxError
	if errors.As(err, &syntax) {
		return nil, nil, a.mistakes(proviso.Mistakes{{Place: syntax.Place, Code: proviso.Invalid, Message: syntax.Message}})
	}
	if err != nil {
		return nil, nil, proviso.Errorf(proviso.Invalid, "%w", err)
	}
	req, err := judge.ReadRequest(data)
	if err != nil {
		return nil, nil, a.requestMistakes(doc, err)
	}
	return req, doc, nil
}

// requestMistakes prints the mistakes in a request and returns any other error.
func (a *app) requestMistakes(doc *document.Document, err error) error {
	var wrong judge.Mistakes
	if !errors.As(err, &wrong) {
		return proviso.WithCode(proviso.Unavailable, err)
	}
	var list proviso.Mistakes
	for _, e := range wrong {
		list = append(list, mistakeIn(doc, e.Pointer, e))
	}
	return a.mistakes(inOrder(list))
}

// mistakeIn returns an error as a mistake at a pointer of a document.
func mistakeIn(doc *document.Document, pointer string, e *proviso.Error) proviso.Mistake {
	m := proviso.Mistake{Place: doc.Place(pointer), Code: e.Code, Message: e.Error()}
	if strings.HasPrefix(e.Message, "unknown field") || strings.HasPrefix(e.Message, "the name of a watch") { // the mistake is about the key
		m.Place = doc.KeyPlace(pointer)
	}
	if quoted := strings.Split(e.Message, "\""); len(quoted) > 2 && !strings.Contains(e.Message, "did you mean") {
		m.Nearest = document.Nearest(quoted[1], e.Valid)
	}
	return m
}

// noModelAsked ends a command that has no judge.
func (a *app) noModelAsked(err error) error {
	fmt.Fprintf(a.err, "proviso: %s; no model was asked\n", printable(err.Error()))
	return exitError{exitUsage}
}

// oneJudge opens the judge of a command without a suite.
func (a *app) oneJudge(ctx context.Context, end *closers, f *judgeCommand, dir string) (*judge.Judge, error) {
	e, err := a.openEngine(ctx, end, &f.evalFlags, dir, func(o *engine.Options) (err error) {
		o.Policy, err = f.code.policy(o.Policy)
		return err
	})
	if err != nil {
		return nil, err
	}
	j, err := e.Judge()
	if err != nil {
		return nil, a.noModelAsked(err)
	}
	return j, nil
}

// responseCode returns the exit code of an evaluation.
func responseCode(resp *judge.Response) int {
	switch {
	case resp.PassedThreshold:
		return exitOK
	case resp.Status == proviso.Errored.String():
		return exitUndecided
	}
	return exitFailed
}

// printResponse writes the response. As JSON, it writes the same bytes as POST /v1/evaluate.
func (a *app) printResponse(req *judge.Request, resp *judge.Response, format string) error {
	if format == formatText {
		_, err := io.WriteString(a.out, resp.Text(req, a.terminal(true)))
		return err
	}
	return value.WriteJSON(a.out, resp, "")
}

// judgeTemplates lists the shipped criteria.
func (a *app) judgeTemplates(format string) error {
	if format == formatJSON {
		return value.WriteJSON(a.out, criteria.Templates(), "")
	}
	_, err := io.WriteString(a.out, criteria.Text(criteria.Templates()))
	return err
}

// judgeAttack tries prompt injections against the judge.
func (a *app) judgeAttack(ctx context.Context, f *judgeCommand) error {
	var end closers
	defer end.close()
	j, err := a.oneJudge(ctx, &end, f, ".")
	if err != nil {
		return err
	}
	if err := j.Prepare(proviso.Question{Type: proviso.TypeJudge}); err != nil {
		return a.noModelAsked(err)
	}
	p := a.newProgress(0, false)
	report, err := attack.Run(ctx, j, attack.Options{Sets: f.attackSets, Kinds: f.attackKinds, Concurrency: f.concurrency, Tick: func(done, total int) {
		if p != nil {
			p.rows = total
			p.tick(proviso.Totals{Passed: done})
		}
	}})
	p.end()
	var e *proviso.Error
	switch {
	case ctx.Err() != nil:
		return a.interrupted(ctx, "no report")
	case errors.As(err, &e) && len(e.Valid) > 0:
		return usageError{err, "expected " + strings.Join(e.Valid, ", ")}
	case err != nil:
		return proviso.WithCode(proviso.Unavailable, err)
	}
	a.sayModels(f.asked)
	if f.format == formatJSON {
		err = value.WriteJSON(a.out, report, "")
	} else {
		_, err = io.WriteString(a.out, report.Text())
	}
	if err != nil {
		return proviso.WithCode(proviso.Unavailable, err)
	}
	return exitWith(attackCode(report, f.threshold))
}

// attackCode compares the share of withstood attempts with a threshold. Attempts without a verdict
// count as withstood.
func attackCode(r *attack.Report, threshold float64) int {
	switch {
	case r.Attempts > 0 && float64(r.Attempts-r.Succeeded) < threshold*float64(r.Attempts):
		return exitFailed
	case r.Errors > 0 || r.LeftOut > 0:
		return exitUndecided
	}
	return exitOK
}

// judgeLintRun reports probable mistakes in the judged assertions of a kept run.
func (a *app) judgeLintRun(ctx context.Context, name, format string) error {
	r, err := a.openRun(ctx, "", name)
	if err != nil {
		return err
	}
	defer r.Close()
	found, unread, err := lint.Run(r.Reader)
	if err != nil {
		return err
	}
	for _, l := range found {
		if format != formatJSON {
			fmt.Fprintf(a.err, "%s%s: warning: %s\n", printable(l.Assertion), printable(l.Pointer), printable(report.OneLine(l.Text())))
		}
	}
	return a.linted(found, len(found), unread, "the judged assertions of the run", format)
}

// linted ends a search for mistakes that found n of them. Any finding gives exit code 1, so that a
// build can fail on it.
func (a *app) linted(found any, n int, unread, what, format string) error {
	if unread != "" {
		fmt.Fprintln(a.err, "proviso: "+unread)
	}
	if format == formatJSON {
		if err := value.WriteJSON(a.out, found, ""); err != nil {
			return proviso.WithCode(proviso.Unavailable, err)
		}
	} else if n == 0 && unread == "" {
		fmt.Fprintln(a.out, "nothing to say about "+what)
	}
	if n > 0 {
		return exitError{exitFailed}
	}
	return nil
}

// lintJSON is a finding in the form of --format json.
type lintJSON struct {
	Rule       string `json:"rule"`
	Pointer    string `json:"pointer"`
	Line       int    `json:"line"`
	Column     int    `json:"column"`
	Message    string `json:"message"`
	Suggestion string `json:"suggestion,omitempty"`
}

// judgeLint reports probable mistakes in the wording of a request's assertions.
func (a *app) judgeLint(req *judge.Request, doc *document.Document, format string) error {
	found := []lintJSON{}
	list, _ := req.Decode() // requests with mistakes were rejected before
	for _, x := range list {
		for _, l := range lint.Assertion(x) {
			at := doc.Place(l.Pointer)
			found = append(found, lintJSON{l.Rule, l.Pointer, at.Line, at.Column, l.Message, l.Suggestion})
			if format != formatJSON {
				a.mistake("warning", proviso.Mistake{Place: at, Message: l.Text(), Warning: true})
			}
		}
	}
	return a.linted(found, len(found), lint.Unread(list), plural.Of(len(req.Assertions), "assertion"), format)
}
