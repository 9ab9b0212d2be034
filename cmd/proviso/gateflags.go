package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/suite"
)

// gateFlags are the flags of gate. Most of them are those of eval, because gate runs a
// suite as eval does.
type gateFlags struct {
	evalFlags
	rules            ruleFlags
	baseline         string
	baseRef          string
	headRun          string
	changedSince     string
	format           string
	markdown         string
	comment          bool
	link             string
	cases            int
	inconclusiveExit bool
	flakiness        bool
}

// notOfGate are the flags of eval that gate does not have.
var notOfGate = []string{"fail-under", "no-table", "resume", "retry-errors", "watch"}

func (f *gateFlags) register(fs *pflag.FlagSet) {
	nameVar(fs, &f.baseline, "baseline", "compare with `RUN`: an id, last, a run file, a baseline file, or a folder that holds one of them")
	nameVar(fs, &f.baseRef, "base-ref", "compare with the suite and the prompts of the commit `REF` in git, such as origin/main; runs both sides")
	nameVar(fs, &f.headRun, "run", "decide on the kept `RUN` instead of running the suite")
	choiceVar(fs, &f.format, "format", formatTerminal, gateFormats, "print the result as `FORMAT`: "+strings.Join(gateFormats, ", "))
	fs.StringVar(&f.markdown, "markdown", "", "also write the result as Markdown to `FILE`, for a comment")
	fs.BoolVar(&f.comment, "comment", false, "post the result as the comment on the pull or merge request of this CI job, or update it there")
	fs.Var(&flagValue{"", "URL", f.setLink}, "link", "put a link to the head run into the result: its `URL` on a server, as proviso push prints it")
	countVar(fs, &f.cases, "cases", "", 10, 1, "show at most `N` cases with their outputs")
	fs.BoolVar(&f.inconclusiveExit, "inconclusive-exit", false, "exit with 4 instead of 0 if there are too few cases to decide")
	fs.BoolVar(&f.flakiness, "flakiness", false, "run the base a second time and show how often each assertion flips without any change")
	registerChanged(fs, &f.changedSince)
	f.rules.register(fs)
	eval := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.evalFlags.register(eval)
	eval.VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains(notOfGate, flag.Name) {
			fs.AddFlag(flag)
		}
	})
}

// check finds mistakes in the flags that cobra does not detect.
func (f *gateFlags) check() error {
	usage := func(message string) error {
		return usageError{errors.New(message), "see `proviso gate --help`"}
	}
	switch {
	case f.baseline != "" && f.baseRef != "":
		return usage("--baseline and --base-ref exclude each other: each names the base")
	case f.headRun != "" && f.baseRef != "":
		return usage("--run and --base-ref exclude each other: a commit is compared with a run of this suite; --baseline names a run")
	case f.headRun != "" && f.flakiness:
		return usage("--run and --flakiness exclude each other: a kept run cannot be run a second time")
	case f.headRun != "" && f.changedSince != "":
		return usage("--run and --changed-since exclude each other: a kept run is not run again")
	case f.changedSince != "" && len(f.configs) > 1 && f.markdown != "":
		return usage("--markdown would be written by several suites: with --changed-since each -c is a separate suite")
	case f.headRun != "" && len(f.outputs) > 0:
		return usage("--run and -o exclude each other: `proviso show -o` writes reports of a kept run")
	}
	return f.evalFlags.check()
}

// nameVar adds a flag for a name. An empty name, as from an unset variable in a CI job, is a
// mistake: without a base the gate would decide something else.
func nameVar(fs *pflag.FlagSet, to *string, name, usage string) {
	fs.Var(&flagValue{"", "name", func(text string) error {
		if *to = text; text == "" {
			return errors.New("expected a name, found none")
		}
		return nil
	}}, name, usage)
}

// ruleFlags are the rules of the gate as flags. Each replaces one rule of the suite. A field is nil
// if its flag is not given.
type ruleFlags proviso.GateRules

func (f *ruleFlags) register(fs *pflag.FlagSet) {
	share := func(to **float64, name, usage string) {
		fs.Var(shareValue("", func(v float64) { *to = &v }), name, usage)
	}
	amount := func(to **float64, name, unit, usage string) {
		fs.Var(&flagValue{"", unit, func(text string) error {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || !(v > 0) || math.IsInf(v, 0) {
				return fmt.Errorf("expected a number above 0, found %q", text)
			}
			*to = &v
			return nil
		}}, name, usage)
	}
	within := func(to **float64, below float64, expected, name, usage string) {
		fs.Var(&flagValue{"", "share", func(text string) error {
			v, err := suite.ParseShare(text)
			if err == nil && !(v > 0 && v < below) {
				err = fmt.Errorf("expected %s, found %q", expected, text)
			}
			*to = &v
			return err
		}}, name, usage)
	}
	within(&f.Margin, math.Inf(1), "more than 0", "margin", "how far the score of the suite may fall: a `SHARE`, 0 to 1, or N% (default 3%)")
	within(&f.Alpha, 0.5, "more than 0 and less than 0.5", "alpha", "chance of a false \"fail\": a `SHARE` (default 5%)")
	fs.StringArrayVar(&f.MustPass, "must-pass", nil, "the assertion `NAME`, an id or a metric, must pass in every case; may be repeated")
	fs.Var(&flagValue{"", "N", f.setMinCases}, "min-cases", "a pass needs `N` pairs of cases (default 50)")
	share(&f.MinScore, "min-score", "fail if the score of the suite is below `SHARE`, whatever the base is")
	fs.Var(&flagValue{"", "rule", f.setMin}, "min", "`NAME=SHARE`: fail if the pass rate of an assertion is below the share; may be repeated")
	amount(&f.Cost.Max, "cost-limit", "USD", "fail if a row costs more than `USD` on average")
	share(&f.Cost.Margin, "cost-margin", "fail if the median cost of a row rises by more than `SHARE`")
	amount(&f.Latency.P95, "latency-p95", "MS", "fail if the 95th percentile of the latency is not under `MS` milliseconds")
	share(&f.Latency.Margin, "latency-margin", "fail if the median latency of a row rises by more than `SHARE`")
}

func (f *ruleFlags) setMinCases(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return fmt.Errorf("expected a whole number of at least 1, found %q", text)
	}
	f.MinCases = &n
	return nil
}

func (f *ruleFlags) setMin(text string) error {
	i := strings.LastIndexByte(text, '=')
	if i <= 0 {
		return fmt.Errorf("expected NAME=SHARE, such as tone=90%%, found %q", text)
	}
	share, err := suite.ParseShare(text[i+1:])
	if f.Assertions == nil {
		f.Assertions = map[string]proviso.AssertionRule{}
	}
	f.Assertions[text[:i]] = proviso.AssertionRule{Min: &share}
	return err
}

// over returns the rules of a suite with those of the command line replaced.
func (f *ruleFlags) over(own *proviso.GateRules) proviso.GateRules {
	rules := proviso.GateRules{}
	if own != nil {
		rules = *own
	}
	for to, flag := range map[**float64]*float64{
		&rules.Margin: f.Margin, &rules.Alpha: f.Alpha, &rules.MinScore: f.MinScore, &rules.Cost.Max: f.Cost.Max,
		&rules.Cost.Margin: f.Cost.Margin, &rules.Latency.P95: f.Latency.P95, &rules.Latency.Margin: f.Latency.Margin,
	} {
		if flag != nil {
			*to = flag
		}
	}
	if len(f.MustPass) > 0 {
		rules.MustPass = f.MustPass
	}
	if f.MinCases != nil {
		rules.MinCases = f.MinCases
	}
	if len(f.Assertions) > 0 {
		all := maps.Clone(f.Assertions)
		for name, rule := range rules.Assertions {
			rule.Min = cmp.Or(all[name].Min, rule.Min)
			all[name] = rule
		}
		rules.Assertions = all
	}
	return rules
}

func named(rules *proviso.GateRules) []string {
	list := slices.Concat(rules.MustPass, slices.Collect(maps.Keys(rules.Assertions)))
	slices.Sort(list)
	return slices.Compact(list)
}
