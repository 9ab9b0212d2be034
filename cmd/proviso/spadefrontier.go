package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/selection"
	"github.com/proviso-eval/proviso/spade/show"
)

// spadeFrontier holds the flags of spade frontier, which makes the choice of spade select at many
// points.
type spadeFrontier struct {
	choice       spadeSelect
	sizes        []string
	budgets      []string
	alphas, taus []float64
	result       resultFlags

	axes selection.Axes
}

// frontierSizes is the maximum number of candidates of a frontier without --sizes.
const frontierSizes = 20

func newSpadeFrontier(a *app) *cobra.Command {
	f := &spadeFrontier{}
	cmd := &cobra.Command{
		Use:   "frontier [FOLDER]",
		Short: "Show what smaller and cheaper sets of assertions would catch",
		Long: "frontier reads the files of `spade run` in FOLDER (spade if it is not given) and finds, for each\n" +
			"number of candidates, those that together catch the most bad outputs within tau. For each it\n" +
			"shows the bad outputs caught with the lower limit of their share, the good outputs failed with\n" +
			"the upper limit, and what the set costs and takes for one output in production. --budgets does\n" +
			"so for amounts of money, and --alphas for shares of bad outputs to catch.\n\n" +
			"Asking a model costs what it cost when the candidates were tried, or --judge-price; what asks no\n" +
			"model costs nothing. `spade select --budget` and `spade run --budget` select under a budget.\n\n" +
			"Exit codes: 0 shown, 2 a mistake in the command line or a file, 130 interrupted.",
		Args:    atMost(1),
		PreRunE: func(cmd *cobra.Command, args []string) error { return f.check(cmd, args) },
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.spadeFrontier(cmd.Context(), f) },
	}
	fs := cmd.Flags()
	c := &f.choice
	fs.StringVar(&c.matrix, "matrix", "", "`FILE` of the matrix (default matrix.csv of FOLDER)")
	fs.StringArrayVar(&c.implications, "implications", nil, "`FILE` of implications, for --method sub (default implications.csv of FOLDER); may be repeated")
	fs.StringVar(&c.set, "implications-set", "", "use only the rows with `NAME` in the column set")
	fs.StringVar(&c.candidates, "candidates", "", "`FILE` of the candidates' assertions (default candidates.yaml of FOLDER)")
	c.price.registerFile(fs)
	c.registerChoice(fs)
	fs.Lookup("method").Usage = "`METHOD` for --alphas: cov or sub"
	fs.Lookup("alpha").Hidden = true
	fs.StringSliceVar(&f.sizes, "sizes", nil, "`NUMBERS` of candidates, with commas between them (default 1 to 20, as long as more catch more)")
	fs.StringSliceVar(&f.budgets, "budgets", nil, "amounts in `USD` per output, with commas between them")
	sharesVar(fs, &f.alphas, "alphas", nil, "`SHARES` of bad outputs that must be caught, with commas between them")
	sharesVar(fs, &f.taus, "taus", nil, "`SHARES` of good outputs that may be failed, with commas between them, in place of --tau")
	f.result.register(fs, formatJSON, formatMarkdown, formatSVG)
	return cmd
}

// check finds the files in the folder, and reads the axes.
func (f *spadeFrontier) check(cmd *cobra.Command, args []string) error {
	f.result.find()
	if err := f.files(cmd, args); err != nil {
		return err
	}
	if err := f.choice.check(cmd); err != nil {
		return err
	}
	x := &f.axes
	for _, text := range f.sizes {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return badValue("--sizes", "whole numbers of at least 1, with commas between them", text, seeHelp(cmd))
		}
		x.Sizes = append(x.Sizes, n)
	}
	for _, text := range f.budgets {
		usd, err := parseUSD(text)
		if err != nil {
			return badValue("--budgets", "US dollars per output, such as 0.001,0.002", text, seeHelp(cmd))
		}
		x.Budgets = append(x.Budgets, usd)
	}
	x.Alphas, x.Taus = f.alphas, f.taus
	if len(x.Taus) == 0 {
		x.Taus = []float64{f.choice.Tau}
	}
	if len(x.Sizes)+len(x.Budgets)+len(x.Alphas) == 0 {
		x.UntilAllCaught = true
		for n := 1; n <= frontierSizes; n++ {
			x.Sizes = append(x.Sizes, n)
		}
	}
	return nil
}

// files finds the files in the folder that no flag names.
func (f *spadeFrontier) files(cmd *cobra.Command, args []string) error {
	c, dir := &f.choice, cmp.Or(argument(args), "spade")
	info, err := os.Stat(dir)
	there := err == nil && info.IsDir()
	if !there && (c.matrix == "" || len(args) == 1) {
		return usageError{fmt.Errorf("there is no folder %s", dir), "name the folder that spade run wrote, or the files with --matrix and --candidates; " + seeHelp(cmd)}
	}
	if c.matrix != "" && len(args) == 0 {
		return nil
	}
	if c.matrix == "" {
		c.matrix = filepath.Join(dir, spade.MatrixFile)
	}
	if c.candidates == "" {
		c.candidates = filepath.Join(dir, spade.CandidatesFile)
	}
	if file := filepath.Join(dir, spade.ImplicationsFile); len(c.implications) == 0 {
		if _, err := os.Stat(file); err == nil {
			c.implications, c.set = []string{file}, "final"
		}
	}
	return nil
}

func (a *app) spadeFrontier(ctx context.Context, f *spadeFrontier) error {
	c := &f.choice
	if err := notOver(f.result.out, append([]string{c.matrix, c.candidates, c.price.costs}, c.implications...)...); err != nil {
		return err
	}
	if len(f.axes.Budgets) > 0 && c.candidates == "" {
		return usageError{errors.New("--budgets needs --candidates: the matrix does not say what asks a model"), ""}
	}
	m, err := a.readMatrix(c.matrix)
	if err != nil {
		return err
	}
	implications, err := a.readImplications(c.implications, c.set, m.Names)
	if err != nil {
		return err
	}
	prices := selection.PricesOf(nil, m.Names, nil, nil, nil)
	if c.candidates != "" {
		candidates, err := a.readCandidates(c.candidates)
		if err != nil {
			return err
		}
		c.TakePriorities(candidates, m.Names)
		if prices, err = a.prices(&c.price, candidates, c.matrix, m.Names); err != nil {
			return err
		}
		o := c.Options
		if len(f.axes.Budgets) > 0 {
			o.Budget = &f.axes.Budgets[0]
		}
		if err := o.TakePrices(prices); err != nil {
			return err
		}
		c.Price = o.Price
	}
	t := show.Trades{Options: c.Options, Priced: c.candidates != "", Candidates: len(m.Names)}
	if t.List, t.Good, t.Bad, err = selection.Trades(ctx, m, implications, c.Options, f.axes, prices); err != nil {
		return a.orStopped(ctx, err)
	}
	data, err := a.tradesIn(f, t)
	if err != nil {
		return err
	}
	if err := a.result(f.result.out, data); err != nil || ctx.Err() == nil {
		return err
	}
	return a.interrupted(ctx, "")
}

func (a *app) tradesIn(f *spadeFrontier, t show.Trades) ([]byte, error) {
	switch f.result.format {
	case formatJSON:
		return t.JSON()
	case formatMarkdown:
		return t.Markdown(), nil
	case formatSVG:
		return t.SVG(), nil
	}
	return t.Text(f.result.screen(a)), nil
}

// priceFlags define what candidates cost in production, per output.
type priceFlags struct {
	each  map[string]float64
	judge *float64
	costs string // file of measured costs
}

// register adds the flags that all commands with prices have.
func (f *priceFlags) register(fs *pflag.FlagSet) {
	fs.Var(&flagValue{"", "NAME=USD", func(text string) error {
		i := strings.LastIndexByte(text, '=')
		if i < 1 {
			return fmt.Errorf("expected NAME=USD, found %q", text)
		}
		usd, err := parseUSD(text[i+1:])
		if err != nil {
			return err
		}
		if f.each == nil {
			f.each = map[string]float64{}
		}
		f.each[text[:i]] = usd
		return nil
	}}, "price", "what a candidate costs for one output in production, as `NAME=USD`, in place of what was measured; may be repeated")
	fs.Var(&flagValue{"", "USD", func(text string) error {
		usd, err := parseUSD(text)
		f.judge = &usd
		return err
	}}, "judge-price", "`USD` that an output costs with a candidate that asks a model, where that was not measured")
}

// registerFile adds the flag for the file of measured costs.
func (f *priceFlags) registerFile(fs *pflag.FlagSet) {
	fs.StringVar(&f.costs, "costs", "", "`FILE` of what candidates cost, which spade matrix and spade run write (default costs.json beside the matrix, if it exists)")
}

// budgetVar adds the flag for a budget in US dollars per output.
func budgetVar(fs *pflag.FlagSet, to **float64, usage string) {
	fs.Var(&flagValue{"", "USD", func(text string) error {
		usd, err := parseUSD(text)
		*to = &usd
		return err
	}}, "budget", usage)
}

// parseUSD reads an amount in US dollars, with or without the sign.
func parseUSD(text string) (float64, error) {
	usd, err := strconv.ParseFloat(strings.TrimPrefix(text, "$"), 64)
	if err != nil || !(usd >= 0) || math.IsInf(usd, 0) {
		return 0, fmt.Errorf("expected US dollars, such as 0.002, found %q", text)
	}
	return usd, nil
}

// prices returns what candidates cost. names are the names in the matrix of the file.
func (a *app) prices(f *priceFlags, candidates []proviso.Candidate, file string, names []string) (selection.Prices, error) {
	if err := selection.KnownNames("price", f.each, names); err != nil {
		return selection.Prices{}, err
	}
	name := f.costs
	if beside := filepath.Join(filepath.Dir(file), spade.CostsFile); name == "" && file != "-" {
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			name = beside
		}
	}
	var costs matrix.Costs
	if name != "" {
		read, err := readAs(a, name, holdsCosts, matrix.ReadCosts)
		if err != nil {
			return selection.Prices{}, err
		}
		costs = read.Of(candidates)
	}
	return selection.PricesOf(candidates, names, f.each, costs, f.judge), nil
}
