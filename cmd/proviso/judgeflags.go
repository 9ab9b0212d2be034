package main

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/judge"
)

// judgeFlags select and configure the judge. They take precedence over the suite.
type judgeFlags struct {
	judge    string
	votes    int
	mode     string
	canaries bool
	off      bool // no judge is asked, and none is needed
}

// registerJudge adds the flag that selects the judge, under both of its names.
func (f *judgeFlags) registerJudge(fs *pflag.FlagSet) {
	fs.StringVar(&f.judge, "judge", "", "provider `ID` of the judge model, or the label of a provider of the suite; overrides judge: of the suite and "+engine.JudgeVariable)
	fs.StringVar(&f.judge, "grader", "", "same as --judge, for `ID`")
}

// registerManner adds the flags that configure how the judge is asked.
func (f *judgeFlags) registerManner(fs *pflag.FlagSet) {
	choiceVar(fs, &f.mode, "mode", "", []string{string(judge.Batch), string(judge.Single)}, "`MODE` of the calls: batch (assertions share calls, the default) or single (one call for each assertion)")
	countVar(fs, &f.votes, "votes", "", 0, 1, "ask the judge `N` times; the majority decides")
	fs.BoolVar(&f.canaries, "canaries", false, "add questions with a known answer, to notice a prompt injection")
}

// noGrader leaves every judged assertion undecided.
type noGrader struct{}

// Grade implements proviso.Grader.
func (noGrader) Grade(context.Context, proviso.Question) (proviso.Grade, error) {
	return proviso.Grade{}, proviso.Errorf(proviso.Unavailable, "no judge is asked")
}
