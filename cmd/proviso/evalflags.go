package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/suite"
)

// suiteFlags select a suite and a part of it.
type suiteFlags struct {
	suite.Options   // selection of cases, and overrides of the suite
	configs         []string
	vars            string
	filterFailing   string
	filterErrors    string
	filterProviders string
	filterPrompts   string
	repeat          int
	trust           trustFlags
	code            codeFlags
	judge           judgeFlags
	file            string            // name of the suite in messages and reports; "" means its file
	seen            func(path string) // called with every file that is looked up; may be nil
	online          *evalFlags        // flags of an evaluation that may fetch remote cases; nil fetches nothing
}

func (f *suiteFlags) register(fs *pflag.FlagSet) {
	fs.StringArrayVarP(&f.configs, "config", "c", nil, "suite `FILE`; may be repeated, and the files are merged")
	fs.StringArrayVar(&f.EnvFiles, "env-file", nil, "`FILE` with environment variables (default .env)")
	fs.StringVarP(&f.vars, "vars", "v", "", "`FILE` with cases as CSV, JSON, JSON Lines or YAML, in place of the suite's")
	fs.StringVarP(&f.Tests, "tests", "t", "", "`FILE` with cases, in place of the suite's")
	fs.StringArrayVarP(&f.Prompts, "prompts", "p", nil, "prompt `FILE`, in place of the suite's prompts")
	fs.StringArrayVarP(&f.Providers, "providers", "r", nil, "provider `ID`, in place of the suite's providers")
	fs.StringVar(&f.ModelOutputs, "model-outputs", "", "`FILE` with recorded outputs to evaluate with --assertions")
	fs.StringVar(&f.Assertions, "assertions", "", "`FILE` with the assertions for --model-outputs")
	fs.StringVar(&f.PromptPrefix, "prompt-prefix", "", "`TEXT` put before every prompt")
	fs.StringVar(&f.PromptSuffix, "prompt-suffix", "", "`TEXT` put after every prompt")
	fs.StringVar(&f.Filter.Pattern, "filter-pattern", "", "only cases whose description matches `REGEX`")
	fs.StringVar(&f.Filter.Range, "filter-range", "", "only the cases `FROM:TO`, counted from 0, TO excluded")
	countVar(fs, &f.Filter.First, "filter-first-n", "n", 0, 1, "only the first `N` cases")
	countVar(fs, &f.Filter.Sample, "filter-sample", "", 0, 1, "only `N` cases drawn at random")
	fs.Var(&flagValue{"-1", "int64", f.setSeed}, "filter-sample-seed", "`SEED` of --filter-sample; the same seed draws the same cases")
	fs.StringArrayVar(&f.Filter.Metadata, "filter-metadata", nil, "only cases with the metadata `KEY=VALUE`")
	fs.StringVar(&f.filterFailing, "filter-failing", "", "only cases that did not pass in the JSON report `FILE`")
	fs.StringVar(&f.filterErrors, "filter-errors-only", "", "only cases that were errors in the JSON report `FILE`")
	fs.StringVar(&f.filterProviders, "filter-providers", "", "only providers whose id or label matches `REGEX`")
	fs.StringVar(&f.filterProviders, "filter-targets", "", "same as --filter-providers, for `REGEX`")
	fs.StringVar(&f.filterPrompts, "filter-prompts", "", "only prompts whose id or label matches `REGEX`")
	fs.BoolVar(&f.SkipUnsupported, "skip-unsupported", false, "run what is supported and leave the rest undecided")
	countVar(fs, &f.repeat, "repeat", "", 0, 1, "run every case `N` times")
	fs.StringVar(&f.Description, "description", "", "`TEXT` that names this run")
	f.judge.registerJudge(fs)
	f.code.register(fs)
	f.trust.register(fs)
}

// setSeed reads a seed. A negative number means no seed.
func (f *suiteFlags) setSeed(text string) error {
	n, err := strconv.ParseInt(text, 0, 64)
	if f.Filter.Seed = nil; n >= 0 {
		seed := uint64(n)
		f.Filter.Seed = &seed
	}
	return err
}

// evalFlags are the flags of eval.
type evalFlags struct {
	suiteFlags
	remoteFlags
	outputs     []string
	runDir      string
	concurrency int
	delay       int
	noTable     bool
	noWrite     bool
	noProgress  bool
	verbose     bool
	resume      string
	retryErrors bool
	failUnder   *float64 // nil if the flag is not given
	passRate    float64  // share of rows that must pass; passRateOf sets it
	watch       bool
	mutate      bool
	written     []output // the report files of this run
	progress    *progress
	models      modelFlags
	remote      *remote        // the run on a server; nil if it runs here
	asked       *engine.Engine // the engine that asks models
	traced      *tracing
	warn        bool   // report probable mistakes
	noKeys      bool   // a missing key is a warning
	dry         bool   // nothing will run
	commit      string // commit of the suite; "" means that of the working folder
}

func (f *evalFlags) register(fs *pflag.FlagSet) {
	f.suiteFlags.register(fs)
	fs.StringArrayVarP(&f.outputs, "output", "o", nil, "write a report to `FILE`, the format by its suffix; missing folders are made; may be repeated")
	fs.StringVar(&f.runDir, "run-dir", "", "`FOLDER` of the kept runs (default $XDG_STATE_HOME/proviso/runs)")
	countVar(fs, &f.concurrency, "max-concurrency", "j", 0, 1, "`N` rows at a time (default 4)")
	countVar(fs, &f.delay, "delay", "", 0, 0, "wait `MS` milliseconds after each row")
	fs.Var(shareValue("", func(share float64) { f.failUnder = &share }), "fail-under", "exit with 1 if less than this `SHARE` of the rows passes: 0 to 1, or N% (default 1)")
	fs.StringVar(&f.resume, "resume", "", "resume `RUN`, or the last one; finished rows are not run again")
	fs.Lookup("resume").NoOptDefVal = lastRun
	fs.BoolVar(&f.retryErrors, "retry-errors", false, "run the rows with errors again, of the run that --resume names, or else of the last one")
	fs.BoolVarP(&f.watch, "watch", "w", false, "run again whenever the suite or a file that it names changes")
	f.models.register(fs)
	fs.BoolVar(&f.noTable, "no-table", false, "print only the summary")
	fs.BoolVar(&f.noWrite, "no-write", false, "do not keep the run")
	fs.BoolVar(&f.noProgress, "no-progress-bar", false, "show no progress")
	fs.BoolVar(&f.verbose, "verbose", false, "print more details")
}

// check finds mistakes in the flags that cobra does not detect.
func (f *evalFlags) check() error {
	if f.noWrite && (f.resume != "" || f.retryErrors) {
		return usageError{fmt.Errorf("--no-write keeps no run, so there is none to resume"), "leave out --no-write, --resume or --retry-errors"}
	}
	if f.watch && (f.resume != "" || f.retryErrors) {
		return usageError{fmt.Errorf("--watch starts a new run each time, and --resume and --retry-errors continue one run"), "leave out one of them"}
	}
	if err := f.models.check(); err != nil {
		return err
	}
	if (f.ModelOutputs == "") != (f.Assertions == "") {
		return usageError{fmt.Errorf("--model-outputs and --assertions go together"), "see `proviso eval --help`"}
	}
	for _, re := range []struct{ flag, text string }{
		{"--filter-pattern", f.Filter.Pattern}, {"--filter-prompts", f.filterPrompts}, {"--filter-providers", f.filterProviders},
	} {
		if err := checkPattern(re.flag, re.text, "see `proviso eval --help`"); err != nil {
			return err
		}
	}
	if err := f.code.check(); err != nil {
		return err
	}
	return f.trust.check()
}

// merge applies settings of the suite that the command line does not set. A suite can start an
// endless command only where a person can end it.
func (f *evalFlags) merge(s *proviso.Suite, person bool) {
	f.watch = f.watch || s.Options.Watch && person && f.resume == "" && !f.retryErrors
	if f.concurrency == 0 {
		f.concurrency = s.Options.MaxConcurrency
	}
	if f.delay == 0 {
		f.delay = s.Options.DelayMS
	}
	f.models.noCache = f.models.noCache || s.Options.NoCache
	f.noProgress = f.noProgress || s.Options.NoProgress
	if s.Options.Table != nil && !*s.Options.Table {
		f.noTable = true
	}
	if s.Options.Write != nil && !*s.Options.Write {
		f.noWrite = true
	}
	if f.Description != "" {
		s.Description = f.Description
	}
}

func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }
