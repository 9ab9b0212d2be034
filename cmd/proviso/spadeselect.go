package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/candidate/python"
	"github.com/proviso-eval/proviso/spade/selection"
	"github.com/proviso-eval/proviso/spade/show"
	"github.com/proviso-eval/proviso/spade/solve"
)

// spadeSelect holds the flags of spade select.
type spadeSelect struct {
	selection.Options
	matrix       string
	implications []string
	set          string
	costs        []string
	judgeCost    int
	candidates   string
	each         bool
	result       resultFlags
	grants       []string
	price        priceFlags
}

func newSpadeSelect(a *app) *cobra.Command {
	f := &spadeSelect{}
	cmd := &cobra.Command{
		Use:   "select",
		Short: "Pick the fewest candidates that catch the bad outputs and spare the good ones",
		Long: "select reads a matrix of candidates and labelled outputs (CSV with id, label and a column\n" +
			"for each candidate) and picks candidates. --method says which:\n\n" +
			"  all    every candidate\n" +
			"  base   every candidate that fails at most the share tau of the good outputs\n" +
			"  cov    the fewest that together fail at least alpha of the bad outputs and at most tau of\n" +
			"         the good ones\n" +
			"  sub    as cov, but as many of the others as possible must be implied by selected ones\n" +
			"  none   without labelled outputs: one candidate of each group that no other implies\n\n" +
			"The selection is proven to be optimal; if the search reaches its limit first, the report\n" +
			"says how far from the optimum it can be.\n\n" +
			"Exit codes: 0 selected, 1 no selection is within the thresholds, 2 a mistake in the command\n" +
			"line or a file, 3 undecided cells leave the answer open, or the search reached its limit\n" +
			"before it found a selection, 130 interrupted.",
		Args:    atMost(0),
		PreRunE: func(cmd *cobra.Command, _ []string) error { return f.check(cmd) },
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.spadeSelect(cmd.Context(), f) },
	}
	f.register(cmd.Flags())
	return cmd
}

func (f *spadeSelect) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.matrix, "matrix", "", "`FILE` of the matrix: CSV with id, label and a column for each candidate")
	fs.StringArrayVar(&f.implications, "implications", nil, "`FILE` of implications: CSV with the columns a and b; may be repeated")
	fs.StringVar(&f.set, "implications-set", "", "use only the rows with `NAME` in the column set")
	f.registerChoice(fs)
	fs.IntVar(&f.judgeCost, "judge-cost", 0, "cost `N` of selecting a candidate that asks a model; needs --candidates")
	f.price.registerFile(fs)
	fs.StringVar(&f.candidates, "candidates", "", "`FILE` of the candidates' assertions, with their pins, bans and costs: for --format suite or python, and --judge-cost")
	fs.BoolVar(&f.each, "default-test", false, "with --format suite: write under defaultTest instead of an assertion set")
	f.result.register(fs, formatJSON, formatMarkdown, formatSuite, formatPython)
	fs.Lookup("format").Usage = "`FORMAT`: terminal, json, markdown, suite or python (functions in the form of the paper); default by the suffix of -o, else terminal"
	registerPackages(fs, &f.grants, "with --format suite or python: write that the Python needs `ACCESS`, which is packages")
}

// registerChoice adds the flags that define the best selection.
func (f *spadeSelect) registerChoice(fs *pflag.FlagSet) {
	fs.StringVar(&f.Method, "method", "sub", "`METHOD`: all, base, cov, sub or none")
	shareVar(fs, &f.Alpha, "alpha", 0.6, "smallest `SHARE` of the bad outputs that the selection must catch")
	shareVar(fs, &f.Tau, "tau", 0.25, "largest `SHARE` of the good outputs that the selection may fail")
	fs.StringVar(&f.Undecided, "undecided", selection.Bound, "`HOW` an undecided cell counts: bound (not caught if the output is bad, failed if it is good), fail or ignore (as a pass)")
	fs.BoolVar(&f.Close, "close", false, "add the implications that follow from others")
	fs.BoolVar(&f.DropContradicted, "drop-contradicted", false, "leave out implications that an example contradicts")
	fs.StringArrayVar(&f.Keep, "pin", nil, "always select the candidate `NAME`; may be repeated")
	fs.StringArrayVar(&f.Ban, "ban", nil, "never select the candidate `NAME`; may be repeated")
	fs.StringArrayVar(&f.costs, "cost", nil, "cost of selecting a candidate, as `NAME=N` (1 if not given); may be repeated")
	budgetVar(fs, &f.Budget, "what the selected may cost together for one output in production, in `USD`, such as 0.002; asking a model costs, the rest does not")
	f.price.register(fs)
	fs.Float64Var(&f.FFRConfidence, "ffr-confidence", 0, "compare tau with the upper bound of the false failure rate at this `CONFIDENCE`, such as 0.9")
	fs.Int64Var(&f.Work, "work", 0, fmt.Sprintf("stop the search after `N` steps (default %d, about half a minute)", solve.DefaultWork))
}

// check rejects flags that exclude each other, and reads the costs.
func (f *spadeSelect) check(cmd *cobra.Command) error {
	f.result.find()
	see := seeHelp(cmd)
	changed := cmd.Flags().Changed
	switch {
	case f.matrix == "":
		return missingFlag(cmd, "matrix", "name the CSV file of the matrix")
	case f.set != "" && len(f.implications) == 0:
		return usageError{errors.New("--implications-set needs --implications"), see}
	case f.writes() && f.candidates == "":
		return usageError{errors.New("--format " + f.result.format + " needs --candidates: the matrix has names, not assertions"), see}
	case len(f.grants) > 0 && !f.writes():
		return usageError{errors.New("--grant is for --format suite and --format python"), see}
	case f.each && f.result.format != formatSuite:
		return usageError{errors.New("--default-test is for --format suite"), see}
	case changed("judge-cost") && (f.candidates == "" || f.judgeCost < 1):
		return usageError{errors.New("--judge-cost needs --candidates and a cost of at least 1"), see}
	case f.Budget != nil && f.candidates == "":
		return usageError{errors.New("--budget needs --candidates: the matrix does not say what asks a model"), see}
	case f.candidates == "" && (changed("price") || changed("judge-price") || changed("costs")):
		return usageError{errors.New("--price, --judge-price and --costs need --candidates"), see}
	case f.Work < 0:
		return badValue("--work", "a whole number of at least 0", strconv.FormatInt(f.Work, 10), see)
	}
	for _, text := range f.costs {
		i := strings.LastIndexByte(text, '=')
		if i < 1 {
			return badValue("--cost", "NAME=N", text, see)
		}
		n, err := strconv.Atoi(text[i+1:])
		if err != nil {
			return badValue("--cost", "NAME=N with a whole number", text, see)
		}
		if f.Cost == nil {
			f.Cost = map[string]int{}
		}
		f.Cost[text[:i]] = n
	}
	return errors.Join(f.Valid(), checkPackages(f.grants))
}

// writes reports whether the selected assertions are written.
func (f *spadeSelect) writes() bool {
	return f.result.format == formatSuite || f.result.format == formatPython
}

func (a *app) spadeSelect(ctx context.Context, f *spadeSelect) error {
	if err := notOver(f.result.out, append([]string{f.matrix, f.candidates}, f.implications...)...); err != nil {
		return err
	}
	s, candidates, err := a.selection(ctx, f)
	if err != nil {
		return err
	}
	if f.result.format != formatJSON && s.Matrix.Unlabeled > 0 && f.Method != "none" {
		a.warn(plural.Of(s.Matrix.Unlabeled, "row") + " without a label left out")
	}
	data, err := a.rendered(f, s, candidates)
	if err != nil {
		return err
	}
	if f.writes() && f.result.out != "" && !s.Found() {
		a.sayUnwritten(f.result.out)
	} else if err := a.result(f.result.out, data); err != nil {
		return err
	}
	return a.exitOf(ctx, s)
}

// selection reads the files and selects. The candidates come from their file if one is named.
func (a *app) selection(ctx context.Context, f *spadeSelect) (s show.Selection, candidates []proviso.Candidate, err error) {
	m, err := a.readMatrix(f.matrix)
	if err != nil {
		return s, nil, err
	}
	if s.Implications, err = a.readImplications(f.implications, f.set, m.Names); err != nil {
		return s, nil, err
	}
	if f.candidates != "" {
		if candidates, err = a.readCandidates(f.candidates); err != nil {
			return s, nil, err
		}
		f.TakePriorities(candidates, m.Names)
		f.CostOfJudged(candidates, m.Names, f.judgeCost)
		prices, err := a.prices(&f.price, candidates, f.matrix, m.Names)
		if err == nil {
			err = f.TakePrices(prices)
		}
		if err != nil {
			return s, nil, err
		}
	}
	began := time.Now()
	if s.Selection, err = selection.Select(ctx, m, s.Implications, f.Options); err != nil {
		return s, nil, a.orStopped(ctx, err)
	}
	s.Took = time.Since(began)
	if err := s.Bind(ctx); err != nil {
		return s, nil, a.orStopped(ctx, err)
	}
	return s, candidates, nil
}

// orStopped returns the error of a search that ended without a result.
func (a *app) orStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return a.interrupted(ctx, "")
	}
	return err
}

func (a *app) exitOf(ctx context.Context, s show.Selection) error {
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(a.err, "proviso: interrupted; the best selection so far was shown")
		return exitError{exitInterrupted}
	case s.Open() || s.Answer.Status == solve.Unknown:
		return exitError{exitUndecided}
	case s.Answer.Status == solve.Infeasible:
		return exitError{exitFailed}
	}
	return nil
}

func (a *app) rendered(f *spadeSelect, s show.Selection, candidates []proviso.Candidate) ([]byte, error) {
	switch f.result.format {
	case formatJSON:
		return s.JSON()
	case formatMarkdown:
		return show.SelectionMarkdown(s), nil
	case formatSuite:
		if !s.Found() {
			a.sayVerdict(s)
		}
		data, err := s.Suite(candidates, f.each)
		return f.granted(data), err
	case formatPython:
		return a.selectedPython(f, s, candidates)
	}
	return show.SelectionText(s, f.result.screen(a)), nil
}

// granted adds the packages that its Python needs to a suite or a file of assertions.
func (f *spadeSelect) granted(data []byte) []byte {
	switch {
	case len(f.grants) == 0:
		return data
	case f.each:
		return append(data, "sandbox: {packages: true}\n"...)
	}
	return append([]byte("# Its Python needs installed packages: --grant packages.\n"), data...)
}

// selectedPython returns the selection as functions in the paper's form, and prints which
// candidates do not have such a form.
func (a *app) selectedPython(f *spadeSelect, s show.Selection, candidates []proviso.Candidate) ([]byte, error) {
	if !s.Found() {
		a.sayVerdict(s)
	} else if _, err := s.Fragment(candidates, false); err != nil {
		return nil, err // the error names the candidates without an assertion
	}
	selected := s.Selected()
	list := slices.DeleteFunc(slices.Clone(candidates), func(c proviso.Candidate) bool { return !slices.Contains(selected, c.Name) })
	data, left := python.File(list, []string{"Selected by proviso spade: " + plural.Of(len(list), "candidate") + "."})
	for _, line := range left {
		a.warn("left out of the Python: " + line)
	}
	return f.granted(data), nil
}

func (a *app) sayVerdict(s show.Selection) {
	fmt.Fprintln(a.err, "proviso: "+strings.Join(show.Verdict(s), "\nproviso: "))
}

// readImplications reads files of implications, and prints the mistakes of the first file that has
// any.
func (a *app) readImplications(files []string, set string, names []string) (all []candidate.Implication, err error) {
	for _, name := range files {
		list, err := streamAs(a, name, holdsImplications, func(name string, file io.Reader) ([]candidate.Implication, proviso.Mistakes) {
			return candidate.ReadImplications(name, file, set, names)
		})
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}
