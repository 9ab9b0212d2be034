package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroup is a part of a long list of flags.
type flagGroup struct {
	title string
	flags []string
}

// evalGroups order the flags of eval by what they are for; flags in no group come last.
var evalGroups = []flagGroup{
	{"Suite", []string{"config", "tests", "vars", "prompts", "providers", "env-file", "model-outputs", "assertions", "prompt-prefix", "prompt-suffix", "skip-unsupported"}},
	{"Part of the suite", []string{"changed-since", "filter-pattern", "filter-first-n", "filter-range", "filter-sample", "filter-sample-seed", "filter-metadata",
		"filter-failing", "filter-errors-only", "filter-providers", "filter-targets", "filter-prompts"}},
	{"Result", []string{"output", "mutate", "fail-under", "no-table", "no-progress-bar", "verbose", "description"}},
	{"Run", []string{"max-concurrency", "delay", "repeat", "watch", "resume", "retry-errors", "run-dir", "no-write", "on", "project"}},
	{"Models and judge", []string{"judge", "grader", "max-cost", "no-cache", "record", "record-header", "replay", "redact"}},
	{"Trust and code", []string{"untrusted", "allow-env", "allow-host", "sandbox", "grant"}},
}

// gateGroups order the flags of gate: its own, then those of eval.
var gateGroups = append([]flagGroup{
	{"Base and head", []string{"base-ref", "baseline", "run", "flakiness"}},
	{"Rules, in place of those of the suite", []string{"must-pass", "min-score", "min", "margin", "alpha", "min-cases", "cost-limit", "cost-margin", "latency-p95", "latency-margin"}},
	{"Result of the gate", []string{"format", "markdown", "comment", "link", "cases", "inconclusive-exit"}},
}, evalGroups...)

// groupFlags makes the help of a command list its flags in groups, with examples
// before them.
func groupFlags(cmd *cobra.Command, groups []flagGroup, examples string) {
	cmd.Example = examples
	cmd.SetUsageFunc(func(c *cobra.Command) error {
		w := c.OutOrStdout()
		fmt.Fprintf(w, "Usage:\n  %s\n\nExamples:\n%s\n", c.UseLine(), c.Example)
		var named []string
		for _, g := range groups {
			named = append(named, g.flags...)
		}
		var others []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !slices.Contains(named, f.Name) {
				others = append(others, f.Name)
			}
		})
		for _, g := range append(slices.Clip(groups), flagGroup{"Others", others}) {
			part := pflag.NewFlagSet(g.title, pflag.ContinueOnError)
			part.SortFlags = false
			for _, name := range g.flags {
				if f := c.Flags().Lookup(name); f != nil {
					part.AddFlag(f)
				}
			}
			fmt.Fprintf(w, "\n%s:\n%s", g.title, part.FlagUsages())
		}
		return nil
	})
}
