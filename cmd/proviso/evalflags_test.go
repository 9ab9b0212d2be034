package main

import (
	"testing"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
)

// TestMerge: the command line has priority over the suite.
func TestMerge(t *testing.T) {
	t.Parallel()
	no := false
	suite := proviso.Options{MaxConcurrency: 7, DelayMS: 5, NoCache: true, NoProgress: true, Table: &no, Write: &no, Watch: true}
	for name, tt := range map[string]struct {
		flags  evalFlags
		suite  proviso.Options
		person bool
		want   evalFlags
	}{
		"nothing":              {evalFlags{}, proviso.Options{}, true, evalFlags{}},
		"the suite":            {evalFlags{}, suite, true, evalFlags{concurrency: 7, delay: 5, models: modelFlags{noCache: true}, noProgress: true, noTable: true, noWrite: true, watch: true}},
		"both":                 {evalFlags{concurrency: 2, delay: 1}, suite, true, evalFlags{concurrency: 2, delay: 1, models: modelFlags{noCache: true}, noProgress: true, noTable: true, noWrite: true, watch: true}},
		"nobody to end it":     {evalFlags{}, proviso.Options{Watch: true}, false, evalFlags{}},
		"--watch all the same": {evalFlags{watch: true}, proviso.Options{}, false, evalFlags{watch: true}},
		"one run to go on":     {evalFlags{resume: "last"}, proviso.Options{Watch: true}, true, evalFlags{resume: "last"}},
	} {
		got := tt.flags
		got.merge(&proviso.Suite{Options: tt.suite}, tt.person)
		for what, same := range map[string]bool{
			"concurrency": got.concurrency == tt.want.concurrency, "delay": got.delay == tt.want.delay, "cache": got.models.noCache == tt.want.models.noCache,
			"progress": got.noProgress == tt.want.noProgress, "table": got.noTable == tt.want.noTable, "write": got.noWrite == tt.want.noWrite, "watch": got.watch == tt.want.watch,
		} {
			if !same {
				t.Errorf("%s: %s is wrong", name, what)
			}
		}
	}
}

// TestEvalGroups: the groups in the help contain every existing flag exactly once, except --help.
func TestEvalGroups(t *testing.T) {
	t.Parallel()
	cmd := newEval(newApp(stdio{}))
	named := map[string]int{}
	for _, g := range evalGroups {
		for _, name := range g.flags {
			named[name]++
			if cmd.Flags().Lookup(name) == nil {
				t.Errorf("%s: there is no flag %s", g.title, name)
			}
		}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if named[f.Name] != 1 {
			t.Errorf("--%s is in %d groups", f.Name, named[f.Name])
		}
	})
}
