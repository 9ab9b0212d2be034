package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade"
)

// spadePropose is what spade propose is asked for.
type spadePropose struct {
	spadeSource
	rules, dropped, all bool
	format, out         string
}

const formatYAML = "yaml"

var proposeFormats = []string{formatTerminal, formatYAML, formatJSONL, formatJSON}

func newSpadePropose(a *app) *cobra.Command {
	f := &spadePropose{}
	cmd := &cobra.Command{
		Use:   "propose --rules [FOLDER|FILE]",
		Short: "Propose assertions for what each version of a prompt asked for",
		Long: "propose reads the versions of a prompt as `spade deltas` does and makes assertions of what\n" +
			"they added: quantities, formats, quoted phrases that an answer must or must not have, how it\n" +
			"begins and ends. It asks no model. What it cannot turn into a check it lists, and says why.\n\n" +
			"The YAML that it writes is an assertion set: a suite can name it under assertions.",
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			endings := map[string]string{".yaml": formatYAML, ".yml": formatYAML, ".jsonl": formatJSONL, ".json": formatJSON}
			if f.format, err = formatOf(f.format, f.out, proposeFormats, endings); err != nil {
				return err
			}
			if !f.rules {
				return usageError{errors.New("propose works by rules only"), "add --rules"}
			}
			if err := f.check(cmd, args); err != nil {
				return err
			}
			return a.spadePropose(cmd.Context(), f, args)
		},
	}
	f.register(cmd.Flags())
	fs := cmd.Flags()
	fs.BoolVar(&f.rules, "rules", false, "propose by rules, without a model")
	fs.BoolVar(&f.dropped, "dropped", false, "also propose for what the last version does not say any more")
	fs.BoolVar(&f.all, "all", false, "on the terminal, list everything that no check was made of")
	fs.StringVar(&f.format, "format", "", "`FORMAT`: terminal, yaml, jsonl or json; by the ending of -o, else terminal")
	fs.StringVarP(&f.out, "output", "o", "", "write to `FILE`, not to standard output")
	return cmd
}

func (a *app) spadePropose(ctx context.Context, f *spadePropose, args []string) error {
	h, err := a.history(ctx, &f.spadeSource, args)
	if err != nil {
		return err
	}
	templates := template.New(template.Options{})
	defer templates.Close()
	p, err := spade.ProposeByRules(ctx, h, spade.RuleOptions{Compiler: check.New(check.Options{Templates: templates}), Dropped: f.dropped})
	if err != nil {
		return a.orStopped(ctx, err)
	}
	var data []byte
	switch f.format {
	case formatYAML:
		data = spade.CandidatesYAML(p.Candidates, []string{
			fmt.Sprintf("Candidates that proviso spade propose made of %s by rules.", plural(len(h.Changes), "version")),
			"A suite takes them with: assertions: file://THIS FILE",
		})
	case formatJSONL:
		data = spade.CandidatesJSONL(p.Candidates)
	case formatJSON:
		if data, err = p.JSON(); err != nil {
			return err
		}
	default:
		o := a.terminal(true)
		if f.out != "" {
			o.Color = false
		}
		data = proposalText(p, o, f.all)
	}
	if err := a.result(f.out, data); err != nil {
		return err
	}
	if f.out != "" {
		fmt.Fprintf(a.err, "proviso: %s in %s; no check was made of %s\n", plural(len(p.Candidates), "candidate"), printable(f.out), plural(len(p.Unproposed), "sentence"))
	}
	return nil
}

// shownUnproposed is how many sentences without a check the terminal lists.
const shownUnproposed = 15

// proposalText shows a proposal to a person.
func proposalText(p *spade.Proposal, o report.TerminalOptions, all bool) []byte {
	var b bytes.Buffer
	width := max(o.Width, 60)
	paint := func(color, text string) string {
		if !o.Color {
			return text
		}
		return "\x1b[" + color + "m" + text + "\x1b[0m"
	}
	fmt.Fprintf(&b, "%s\n", paint("1", plural(len(p.Candidates), "candidate")))
	for i := range p.Candidates {
		c := &p.Candidates[i]
		fmt.Fprintf(&b, "\n  %s  %s\n", paint("32", report.Line(c.Name, 60)), paint("2", c.Category))
		fmt.Fprintf(&b, "    %s\n", report.Line(c.Description, width-4))
		fmt.Fprintf(&b, "    %s\n", paint("2", fmt.Sprintf("version %d, line %d: %s", c.Delta.Version, c.Delta.Line, report.Line(c.Delta.Text, width-30))))
	}
	if len(p.Unproposed) == 0 {
		return b.Bytes()
	}
	fmt.Fprintf(&b, "\n%s\n", paint("1", fmt.Sprintf("No check was made of %s", plural(len(p.Unproposed), "sentence"))))
	for i, u := range p.Unproposed {
		if i == shownUnproposed && !all {
			fmt.Fprintf(&b, "  … and %d more (--all)\n", len(p.Unproposed)-i)
			break
		}
		fmt.Fprintf(&b, "  %s %s\n", paint("33", fmt.Sprintf("v%d:%d", u.Delta.Version, u.Delta.Line)), report.Line(u.Delta.Text, width-12))
		about := u.Reason
		if u.Category != "" && u.Category != spade.OtherCategory {
			about = u.Category + ": " + about
		}
		fmt.Fprintf(&b, "      %s\n", paint("2", report.Line(strings.TrimSpace(about), width-6)))
	}
	return b.Bytes()
}
