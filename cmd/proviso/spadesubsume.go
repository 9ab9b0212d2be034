package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/show"
	"github.com/proviso-eval/proviso/spade/subsume"
	"github.com/proviso-eval/proviso/suite"
)

// spadeSubsume holds the flags of spade subsume.
type spadeSubsume struct {
	spadeAsking
	candidates, matrix string
	implications       []string
	set                string
	tau                float64
	hasTau             bool
	proofs             bool
	review             int
	reviews, examples  string
	result             resultFlags
}

func newSpadeSubsume(a *app) *cobra.Command {
	f := &spadeSubsume{}
	cmd := &cobra.Command{
		Use:   "subsume",
		Short: "Find which candidate implies which, by proof and by asking a judge",
		Long: "subsume finds pairs of candidates where whatever passes the first passes the second, so that\n" +
			"the second adds nothing to the first. What follows from the types of the assertions is\n" +
			"proven; a judge is asked for the rest, and once more about each pair that it names. Pairs\n" +
			"that an output of the matrix contradicts are dropped, and what follows from the others is\n" +
			"added.\n\n" +
			"The CSV that it writes has a column set; `spade select --implications` reads it:\n\n" +
			"  proven  proven pairs\n" +
			"  judged  pairs that the judge named and confirmed, and no output contradicts\n" +
			"  raw     all claimed pairs\n" +
			"  final   the pairs that are left, and those that follow from them\n\n" +
			"--review shows you some of the pairs, and counts how many of each source are right.\n" +
			"Answers are a line each: y, n, skip, undo, quit.\n\n" +
			"Exit codes: 0 done, 2 a mistake in the command line, a file or an answer, 3 the judge did not\n" +
			"answer all questions (the rest is written), 130 interrupted.",
		Args:    atMost(0),
		PreRunE: func(cmd *cobra.Command, _ []string) error { return f.check(cmd) },
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.spadeSubsume(cmd.Context(), f) },
	}
	f.register(cmd.Flags())
	return cmd
}

func (f *spadeSubsume) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.candidates, "candidates", "", "`FILE` of the candidates: YAML, JSON or JSON Lines")
	fs.StringVar(&f.matrix, "matrix", "", "`FILE` of the matrix, whose outputs may contradict a pair")
	shareVar(fs, &f.tau, "tau", 0, "with --matrix: leave out candidates that fail more than this `SHARE` of the good outputs")
	fs.StringArrayVar(&f.implications, "implications", nil, "CSV `FILE` of claimed pairs (columns a and b), filtered like those of the judge; may be repeated")
	fs.StringVar(&f.set, "implications-set", "", "use only the rows with `NAME` in the column set")
	fs.StringVar(&f.model, "judge", "", "provider `ID` of the judge model; overrides "+engine.JudgeVariable)
	fs.StringVar(&f.model, "grader", "", "same as --judge, for `ID`")
	fs.BoolVar(&f.proofs, "proofs", false, "use proofs only; asks no model")
	countVar(fs, &f.concurrency, "max-concurrency", "j", 0, 1, "`N` questions at a time (default 4)")
	f.models.register(fs)
	countVar(fs, &f.review, "review", "", 0, 1, "show `N` of the pairs and ask you whether they are right")
	fs.StringVar(&f.reviews, "reviews", "", "JSON Lines `FILE` to add answers to (default beside -o, else reviews.jsonl)")
	fs.StringVar(&f.examples, "examples", "", "with --review: `FILE` of the outputs of the matrix, shown as examples")
	f.result.register(fs, formatCSV, formatJSON)
}

// check rejects flags that exclude each other.
func (f *spadeSubsume) check(cmd *cobra.Command) error {
	f.result.find()
	see := seeHelp(cmd)
	f.hasTau = cmd.Flags().Changed("tau")
	switch {
	case f.candidates == "" && (len(f.implications) == 0 || f.matrix == ""):
		return missingFlag(cmd, "candidates", "name the file that `spade propose` wrote; without it --implications and --matrix are needed, and only filtered")
	case f.hasTau && f.matrix == "":
		return usageError{errors.New("--tau needs --matrix, which says how often a candidate fails good outputs"), see}
	case f.set != "" && len(f.implications) == 0:
		return usageError{errors.New("--implications-set is for --implications"), see}
	case f.proofs && f.model != "":
		return usageError{errors.New("--proofs and --judge exclude each other"), see}
	case f.review == 0 && (f.reviews != "" || f.examples != ""):
		return usageError{errors.New("--reviews and --examples are for --review"), see}
	}
	if f.reviews == "" {
		f.reviews = "reviews.jsonl"
		if f.result.toFile() {
			f.reviews = strings.TrimSuffix(f.result.out, filepath.Ext(f.result.out)) + ".reviews.jsonl"
		}
	}
	return f.spadeAsking.check()
}

func (a *app) spadeSubsume(ctx context.Context, f *spadeSubsume) error {
	if err := notOver(f.result.out, f.candidates, f.matrix, f.examples); err != nil {
		return err
	}
	o := subsume.Options{Concurrency: f.concurrency}
	if f.hasTau {
		o.Tau = &f.tau
	}
	list, err := a.subsumed(f, &o)
	if err != nil {
		return err
	}
	var end closers
	defer end.close()
	if list != nil && !f.proofs {
		if err := a.subsumeJudge(ctx, &end, f, &o); err != nil {
			return err
		}
	}
	if err := a.proofEngine(ctx, &end, f.candidates, &f.trust, &o); err != nil {
		return err
	}
	var cleared func()
	o.Progress, cleared = a.counter()
	s, err := subsume.Find(ctx, list, o)
	cleared()
	if err != nil {
		return a.orStopped(ctx, err)
	}
	if err := a.writeSubsumption(f, s, o.Judge); err != nil {
		return err
	}
	a.sayImplications(f, s, o.Judge)
	a.warnOfProofs(s)
	if f.review > 0 {
		if err := a.reviewPairs(ctx, f, s); err != nil {
			return err
		}
	}
	if a.sayUnanswered(s); len(s.Unanswered) > 0 {
		return exitError{exitUndecided}
	}
	return nil
}

// proofEngine opens an engine that reads files beside the candidates and asks no model.
func (a *app) proofEngine(ctx context.Context, end *closers, candidates string, trust *trustFlags, o *subsume.Options) error {
	e, err := a.textEngine(ctx, end, suite.NewFiles(filepath.Dir(candidates), trust.files()), 0)
	if err != nil {
		return err
	}
	if !trust.untrusted {
		o.Code = e.Code()
	}
	o.Compiler = e.Compiler(func(c *check.Options) {
		files := c.Files
		textOnly(c)
		c.Files = files
	})
	return nil
}

// warnUnlabelled counts the rows of a matrix that are not used.
func (a *app) warnUnlabelled(m *matrix.Matrix) {
	if m.Unlabeled > 0 {
		a.warn(plural.Of(m.Unlabeled, "row") + " without a label left out")
	}
}

// sayImplications prints the result and the usage on one line.
func (a *app) sayImplications(f *spadeSubsume, s *subsume.Subsumption, judge *ask.Model) {
	if f.result.out != "" || f.result.format != formatTerminal {
		fmt.Fprintln(a.err, "proviso: "+show.SubsumptionLine(s))
	}
	if judge != nil {
		a.sayAsked(&f.spadeAsking, judge, s.Spent)
	}
}

// subsumed reads the input files.
func (a *app) subsumed(f *spadeSubsume, o *subsume.Options) ([]proviso.Candidate, error) {
	var list []proviso.Candidate
	var names []string
	var err error
	if f.candidates != "" {
		if list, err = a.readCandidates(f.candidates); err != nil {
			return nil, err
		}
		if len(list) == 0 {
			return nil, proviso.Errorf(proviso.Invalid, "%s has no candidates", shownName(f.candidates))
		}
		for i := range list {
			names = append(names, list[i].Name)
		}
	}
	if f.matrix != "" {
		if o.Matrix, err = a.readMatrix(f.matrix); err != nil {
			return nil, err
		}
		if list == nil {
			names = o.Matrix.Names
		}
		a.warnUnlabelled(o.Matrix)
	}
	o.Given, err = a.readImplications(f.implications, f.set, names)
	return list, err
}

// subsumeJudge opens the judge. Without a judge, it prints that there are only proofs.
func (a *app) subsumeJudge(ctx context.Context, end *closers, f *spadeSubsume, o *subsume.Options) (err error) {
	o.Judge, err = a.spadeModel(ctx, end, &f.spadeAsking, "")
	var nobody usageError
	if errors.As(err, &nobody) && f.model == "" && f.models.replay == "" && f.models.record == "" {
		fmt.Fprintf(a.err, "proviso: no judge model is configured (--judge, or %s), so only what can be proven is found\n", engine.JudgeVariable)
		return nil
	}
	return err
}

// writeSubsumption streams the result, because the number of pairs can be the square of the number
// of candidates.
func (a *app) writeSubsumption(f *spadeSubsume, s *subsume.Subsumption, m *ask.Model) error {
	write := s.CSV
	switch f.result.format {
	case formatJSON:
		write = func(w io.Writer) error { return s.JSON(w, m) }
	case formatTerminal:
		return a.result(f.result.out, show.Subsumption(s, f.result.screen(a)))
	}
	return a.resultBy(f.result.out, write)
}

// warnOfProofs warns that outputs contradict proofs, which means that the matrix belongs to other
// candidates or outputs.
func (a *app) warnOfProofs(s *subsume.Subsumption) {
	n := 0
	for i := range s.Pairs {
		if p := &s.Pairs[i]; p.Source == subsume.FromProof && p.Outcome == subsume.Contradicted {
			n++
		}
	}
	if n > 0 {
		a.warn(fmt.Sprintf("the matrix contradicts %s by proof: it may be of other candidates, or of a judge who did not answer the same question the same way", plural.Of(n, "implication")))
	}
}

// sayUnanswered names the questions without an answer.
func (a *app) sayUnanswered(s *subsume.Subsumption) {
	if len(s.Unanswered) == 0 {
		return
	}
	for _, u := range s.Unanswered {
		fmt.Fprintf(a.err, "proviso: %s was not answered: %s\n", question(u), shownError(u.Err))
	}
	fmt.Fprintln(a.err, "proviso: the rest is done; the same command asks again what is missing")
}

// question describes a question to the judge.
func question(u subsume.Unanswered) string {
	about := fmt.Sprintf("about %s: %s", plural.Of(len(u.Candidates), "candidate"), show.Names(u.Candidates, show.MaxNames))
	if u.Step == "confirm" {
		return "the second question " + about
	}
	return "a question " + about
}
