package spade_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/spade"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/internal/spadetest"
	"github.com/proviso-eval/proviso/spade/propose"
	"github.com/proviso-eval/proviso/spade/selection"
	"github.com/proviso-eval/proviso/spade/trial"
)

var prompts = []string{
	"Summarise the ticket.",
	"Summarise the ticket.\nUse at most 5 words.",
	"Summarise the ticket.\nUse at most 5 words.\nNever say \"sorry\".",
}

func historyOf(t testing.TB, texts ...string) *delta.History {
	t.Helper()
	var versions []delta.Version
	for _, text := range texts {
		versions = append(versions, delta.Version{Text: text})
	}
	h, err := delta.HistoryOf(versions)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// outputs are good and bad answers to the last prompt.
func outputs() []trial.Trial {
	return []trial.Trial{
		{ID: "a", Label: "1", Output: "The chain is too short."},
		{ID: "b", Label: "1", Output: "Wants a refund."},
		{ID: "c", Label: "0", Output: "Sorry, the chain is short."},
		{ID: "d", Label: "0", Output: "The customer tells us at length that the chain is too short."},
		{ID: "e", Output: "A brake squeaks."},
	}
}

// ExampleRun goes from the versions of a prompt and a few labelled outputs to a suite, without
// a model.
func ExampleRun() {
	h, err := delta.HistoryOf([]delta.Version{{Text: prompts[0]}, {Text: prompts[1]}, {Text: prompts[2]}})
	if err != nil {
		fmt.Println(err)
		return
	}
	compiler := check.New(check.Options{})
	defer compiler.Close()
	r, err := spade.Run(context.Background(), spade.Steps{
		History: h, Compiler: compiler, Trials: trial.List(outputs()),
		Select: selection.Options{Alpha: 1, Tau: 0},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("selected:", strings.Join(r.Selection.Selected(), ", "))
	fmt.Printf("caught: %d of %d bad outputs\n", r.Selection.Answer.Covered, r.Selection.Bad)
	fmt.Printf("checked: %d of %d instructions\n", r.Cover.Covered, r.Cover.Total)
	// Output:
	// selected: words_at_most_5, excludes_sorry
	// caught: 2 of 2 bad outputs
	// checked: 2 of 3 instructions
}

// TestRunKeepsItsFiles runs the pipeline twice in one folder: the second run continues from
// the first, and explains what a new label changed.
func TestRunKeepsItsFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "steps")
	model := &spadetest.Model{Reply: spadetest.Obedient}
	var order []spade.Step
	ended := 0
	s := spade.Steps{
		History: historyOf(t, prompts...), Compiler: spadetest.Compiler(t), Folder: dir, Trials: trial.List(outputs()),
		Propose: propose.Options{Rules: true, Model: &ask.Model{Provider: model, Spec: proviso.ProviderSpec{ID: "scripted"}}},
		Select:  selection.Options{Alpha: 1, Tau: 0},
		Open: func(_ context.Context, step spade.Step, _ *spade.Steps, _ *spade.Result) (func(), error) {
			order = append(order, step)
			return func() { ended++ }, nil
		},
		Done: func(_ context.Context, step spade.Step, r *spade.Result) error {
			order = append(order, step)
			return nil
		},
	}
	r, err := spade.Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	want := []spade.Step{spade.Deltas, spade.Deltas, spade.Propose, spade.Propose, spade.Try, spade.Try, spade.Imply, spade.Imply, spade.Select, spade.Select, spade.Cover, spade.Cover}
	if !reflect.DeepEqual(order, want) || ended != 6 {
		t.Errorf("%v, %d ended", order, ended)
	}
	for _, file := range []string{spade.DeltasFile, spade.CandidatesFile, spade.MatrixFile, spade.ImplicationsFile, spade.SelectionFile, spade.SuiteFile} {
		if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
	if r.Compared || r.Unkept != nil || len(r.Selection.Selected()) != 2 {
		t.Errorf("%+v", r)
	}
	// There is no judge here, so the judged candidates are undecided on every output.
	if got := r.Incomplete(); !slices.Contains(got, spade.Try) {
		t.Errorf("%v", got)
	}

	asked := model.Count()
	list := outputs()
	list[2].Label = "1"
	s.Trials = trial.List(list)
	again, err := spade.Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if model.Count() != asked || !again.Compared || len(again.Shifts) != 1 || again.Shifts[0].Selected || len(again.Selection.Selected()) != 1 {
		t.Errorf("asked %d more times, %+v, %v", model.Count()-asked, again.Shifts, again.Selection.Selected())
	}
}

// TestRunWithoutOutputs selects without examples.
func TestRunWithoutOutputs(t *testing.T) {
	t.Parallel()
	r, err := spade.Run(t.Context(), spade.Steps{History: historyOf(t, prompts...), Compiler: spadetest.Compiler(t)})
	if err != nil || r.Selection.Options.Method != "none" || len(r.Selection.Selected()) != 2 || len(r.Suite) == 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, spade.CandidatesFile), []byte("assertions: 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("the disk is full")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	var earlier *spade.EarlierError
	for name, x := range map[string]struct {
		ctx     context.Context
		s       spade.Steps
		is      func(error) bool
		reached bool // there is a proposal
	}{
		"no history":    {t.Context(), spade.Steps{}, func(err error) bool { return err != nil && strings.Contains(err.Error(), "no history") }, false},
		"no candidates": {t.Context(), spade.Steps{History: historyOf(t, "Be kind.")}, func(err error) bool { return errors.Is(err, spade.ErrNoCandidates) }, true},
		"earlier":       {t.Context(), spade.Steps{History: historyOf(t, prompts...), Folder: dir}, func(err error) bool { return errors.As(err, &earlier) }, false},
		"stopped":       {gone, spade.Steps{History: historyOf(t, prompts...)}, func(err error) bool { return errors.Is(err, context.Canceled) }, false},
		"done": {t.Context(), spade.Steps{History: historyOf(t, prompts...), Done: func(_ context.Context, step spade.Step, _ *spade.Result) error {
			if step == spade.Propose {
				return stop
			}
			return nil
		}}, func(err error) bool { return errors.Is(err, stop) }, true},
	} {
		x.s.Compiler = spadetest.Compiler(t)
		r, err := spade.Run(x.ctx, x.s)
		if !x.is(err) || (r.Proposal != nil) != x.reached || r.Selection != nil {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
	}
}

// TestRejectAndKeep: rejected candidates are tried and never selected, kept ones are
// selected even if others catch as much.
func TestRejectAndKeep(t *testing.T) {
	t.Parallel()
	run := func(reject, keep []string) (*spade.Result, error) {
		compiler := check.New(check.Options{})
		t.Cleanup(func() { _ = compiler.Close() })
		return spade.Run(t.Context(), spade.Steps{
			History: historyOf(t, prompts...), Compiler: compiler, Trials: trial.List(outputs()), Reject: reject,
			Select: selection.Options{Alpha: 0.5, Tau: 0, Keep: keep},
		})
	}
	r, err := run([]string{"words_at_most_5"}, nil)
	if err != nil || !slices.Equal(r.Selection.Selected(), []string{"excludes_sorry"}) || len(r.Grid.Names) != 2 {
		t.Errorf("%v, %v", r.Selection.Selected(), err)
	}
	if r, err = run(nil, []string{"excludes_sorry"}); err != nil || !slices.Contains(r.Selection.Selected(), "excludes_sorry") {
		t.Errorf("%v, %v", r.Selection.Selected(), err)
	}
	if _, err := run([]string{"words_at_most_5", "excludes_sorry"}, nil); !errors.Is(err, spade.ErrAllRejected) {
		t.Errorf("%v", err)
	}
	if _, err := run(nil, []string{"excludes_sory"}); err == nil || !strings.Contains(err.Error(), `did you mean "excludes_sorry"`) {
		t.Errorf("%v", err)
	}
}
