package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/duration"
	"github.com/proviso-eval/proviso/suite"
)

// flagValue is a flag that checks its value while the command line is parsed, so that every mistake
// names the flag, what it expects and what was found.
type flagValue struct {
	text string // the given text; before that, the default
	kind string // for pflag; the flag's usage names the value
	read func(text string) error
}

// Set reads the text.
func (v *flagValue) Set(text string) error {
	if err := v.read(text); err != nil {
		return err
	}
	v.text = text
	return nil
}

func (v *flagValue) String() string { return v.text }

func (v *flagValue) Type() string { return v.kind }

// badValue returns the mistake of a flag with an invalid value.
func badValue(flag, expected, found, hint string) error {
	if flag != "" {
		expected = flag + ": expected " + expected
	} else { // the message names the flag
		expected = "expected " + expected
	}
	return usageError{fmt.Errorf("%s, found %q", expected, found), hint}
}

// orList joins names with commas and "or".
func orList(names []string) string {
	n := len(names)
	if n < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
}

// flagMistake explains which flag cannot be read and what it expects, in the same words for every
// kind of flag.
func flagMistake(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	flag := invalid.GetFlag()
	cause := errors.Unwrap(err)
	if expected := expectedBy(flag.Value.Type()); expected != "" {
		if errors.Is(cause, strconv.ErrRange) {
			expected += " in range"
		}
		cause = fmt.Errorf("expected %s, found %q", expected, invalid.GetValue())
	}
	return fmt.Errorf("--%s: %w", flag.Name, cause)
}

// expectedBy describes the values of a flag kind of pflag; "" for the kinds in this file, whose
// errors contain that.
func expectedBy(kind string) string {
	switch kind {
	case "bool":
		return "true or false"
	case "duration":
		return durationForm
	case "float64":
		return "a number"
	case "int", "int64":
		return "a whole number"
	case "uint64":
		return "a whole number of at least 0"
	}
	return ""
}

// oneOf rejects an invalid flag value and names the nearest valid one.
func oneOf(flag, value string, valid []string) error {
	if slices.Contains(valid, value) {
		return nil
	}
	return badValue(flag, orList(valid), value, nearestOr(value, valid, "it may be left out"))
}

// nearestOr returns a hint with the nearest of the valid names, or another hint if none is near.
func nearestOr(name string, valid []string, otherwise string) string {
	return cmp.Or(strings.TrimPrefix(document.DidYouMean(name, valid), "; "), otherwise)
}

// choiceVar adds a flag whose value is one of the valid texts. The default need not be among them.
func choiceVar(fs *pflag.FlagSet, to *string, name, usual string, valid []string, usage string) {
	*to = usual
	fs.Var(&flagValue{usual, "string", func(text string) error {
		*to = text
		return oneOf("", text, valid)
	}}, name, usage)
}

// countVar adds a flag for a whole number that is not below least.
func countVar(fs *pflag.FlagSet, to *int, name, short string, usual, least int, usage string) {
	*to = usual
	fs.VarP(&flagValue{strconv.Itoa(usual), "N", func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < least {
			return fmt.Errorf("expected a whole number of at least %d, found %q", least, text)
		}
		*to = n
		return nil
	}}, name, short, usage)
}

// durationForm describes the value of a duration flag.
const durationForm = "a time with its unit, such as 30s, 5m, 2h or 7d"

// timeVar adds a flag for a duration. It must be positive if the default is.
func timeVar(fs *pflag.FlagSet, to *time.Duration, name string, usual time.Duration, usage string) {
	*to = usual
	shown := usual.String()
	if usual == 0 {
		shown = "" // the usage text describes the default
	}
	fs.Var(&flagValue{shown, "time", func(text string) error {
		d, err := duration.Parse(text)
		switch {
		case err != nil:
			return fmt.Errorf("expected %s, found %q", durationForm, text)
		case d < 0 || d == 0 && usual > 0:
			return fmt.Errorf("expected a longer time, found %q", text)
		}
		*to = d
		return nil
	}}, name, usage)
}

// shareVar adds a flag for a share: a number from 0 to 1, or N%.
func shareVar(fs *pflag.FlagSet, to *float64, name string, usual float64, usage string) {
	*to = usual
	fs.Var(shareValue(strconv.FormatFloat(usual, 'g', -1, 64), func(share float64) { *to = share }), name, usage)
}

// shareValue is the value of a flag that passes a share to keep. shown is its default.
func shareValue(shown string, keep func(float64)) pflag.Value {
	return &flagValue{shown, "share", func(text string) error {
		share, err := suite.ParseShare(text)
		if err == nil {
			keep(share)
		}
		return err
	}}
}

// sharesVar adds a flag for shares separated by commas; it may be repeated.
func sharesVar(fs *pflag.FlagSet, to *[]float64, name string, usual []float64, usage string) {
	*to = usual
	own := false
	fs.Var(&flagValue{strings.Trim(strings.ReplaceAll(fmt.Sprint(usual), " ", ","), "[]"), "shares", func(text string) error {
		var list []float64
		for part := range strings.SplitSeq(text, ",") {
			v, err := suite.ParseShare(part)
			if err != nil {
				return err
			}
			list = append(list, v)
		}
		if own {
			list = append(*to, list...)
		}
		*to, own = list, true
		return nil
	}}, name, usage)
}

// checkPattern rejects a flag value that is not a valid Go regular expression.
func checkPattern(flag, text, hint string) error {
	_, err := regexp.Compile(text)
	if err == nil {
		return nil
	}
	why := err.Error()
	var bad *syntax.Error
	if errors.As(err, &bad) {
		why = bad.Code.String() + " at " + strconv.Quote(bad.Expr)
	}
	return usageError{fmt.Errorf("%s: expected a regular expression, found %q (%s)", flag, text, why), hint}
}

// flagGroup is a part of a long list of flags.
type flagGroup struct {
	title string
	flags []string
}

// evalGroups group the flags of eval by purpose. Flags in no group come last.
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

// groupFlags makes a command's help list its flags in groups, with examples before them.
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
