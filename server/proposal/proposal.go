// Package proposal answers requests for assertions: it proposes and selects them by rules, like
// `proviso spade run` without a model. Start at [Job].
package proposal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/spade"
	"github.com/proviso-eval/proviso/spade/coverage"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/propose"
	"github.com/proviso-eval/proviso/spade/selection"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/value"
)

// The thresholds of `proviso spade run`, and the limit of the search, which takes about a
// second at most.
const (
	usualAlpha = 0.6
	usualTau   = 0.25
	maxWork    = 100_000_000
)

// Job is the work for one request.
type Job struct {
	Request  *SpadeRequest
	Compiler *check.Compiler
	Versions []delta.Version // of the prompt that the request names
	Run      runfile.Run     // that the request names, or nil
	Labels   map[int]string  // human labels on the rows of the run, as in [Words]

	history *delta.History
	trials  []trial.Trial
	more    bool // the run has more outputs
	// providers are the run's providers that a suite may name without running code.
	providers []string
	result    *spade.Result
}

// Answer runs the pipeline.
func (w *Job) Answer(ctx context.Context) (*SpadeAnswer, error) {
	if err := w.readHistory(); err != nil {
		return nil, err
	}
	if err := w.readTrials(); err != nil {
		return nil, err
	}
	err := w.run(ctx)
	if errors.Is(err, spade.ErrNoCandidates) || errors.Is(err, spade.ErrAllRejected) {
		err = nil
	}
	if err == nil {
		err = w.named()
	}
	if err != nil {
		return nil, err
	}
	if w.result.Cover == nil { // nothing is selected
		if w.result.Cover, err = coverage.Of(ctx, w.newest(), nil, w.Compiler); err != nil {
			return nil, err
		}
	}
	return w.describe(), nil
}

// run runs the pipeline. It checks the candidate names in the request before it uses them.
func (w *Job) run(ctx context.Context) (err error) {
	w.result, err = spade.Run(ctx, spade.Steps{
		History: w.history, Compiler: w.Compiler, Trials: trial.List(w.trials), Reject: w.Request.Reject,
		Propose: propose.Options{Dropped: true},
		Try:     matrix.Options{Concurrency: 1}, // the request has one turn
		Select:  selection.Options{Alpha: share(w.Request.Alpha, usualAlpha), Tau: share(w.Request.Tau, usualTau), Keep: w.Request.Keep, Work: maxWork},
		Done: func(_ context.Context, step spade.Step, r *spade.Result) error {
			if step == spade.Propose {
				w.result = r
				return w.named()
			}
			return nil
		},
	})
	return err
}

func share(given *float64, usual float64) float64 {
	if given == nil {
		return usual
	}
	return *given
}

// readHistory compares the versions.
func (w *Job) readHistory() (err error) {
	at, list := "/prompt", w.Versions
	if w.Request.Prompt == "" {
		at = "/versions"
		for _, v := range w.Request.Versions {
			list = append(list, delta.Version{Name: wellFormed(v.Name), Text: v.Text})
		}
	}
	for i := range list {
		list[i].Text = unixLines(list[i].Text)
	}
	if w.history, err = delta.HistoryOf(list); err != nil {
		return pointed(at, proviso.Invalid, err.Error())
	}
	return nil
}

// unixLines converts line breaks to LF, at which prompts are split, and replaces lone
// surrogates with U+FFFD: JSON can contain them and files cannot.
func unixLines(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(wellFormed(text), "\r\n", "\n"), "\r", "\n")
}

func wellFormed(text string) string { return strings.ToValidUTF8(text, "\ufffd") }

// readTrials reads the outputs of the request or of its run, with their labels.
func (w *Job) readTrials() error {
	for _, e := range w.Request.Examples {
		t := trial.Trial{ID: e.ID, Label: Words[e.Label], Output: wellFormed(e.Output), Vars: e.Vars}
		if t.Vars == nil {
			t.Vars = value.NewObject(0)
		}
		w.trials = append(w.trials, t)
	}
	if w.Run != nil {
		if err := w.readRun(); err != nil {
			return err
		}
	}
	for id, l := range w.Request.Labels {
		i := slices.IndexFunc(w.trials, func(t trial.Trial) bool { return t.ID == id })
		if i < 0 {
			return pointed(document.Join("/labels", id), proviso.Invalid, fmt.Sprintf("no output has the id %q", shortened(id)))
		}
		w.trials[i].Label = Words[l]
	}
	return nil
}

// readRun reads the first outputs of a run.
func (w *Job) readRun() error {
	w.providers = modelsOf(w.Run.Header().Meta)
	size, seen := 0, map[string]bool{}
	for t, err := range trial.OfRun(w.Run) {
		if err != nil {
			return err
		}
		n := len(t.Text())
		if len(w.trials) == maxExamples || size+n > maxOutputs {
			w.more = true
			break
		}
		if n > maxOutput {
			w.more = true
			continue
		}
		size += n
		if t.ID = oneLine(t.ID); seen[t.ID] {
			t.ID += fmt.Sprintf("~row %d", t.Index)
		}
		seen[t.ID] = true
		t.Label = w.Labels[t.Index]
		t.Prompt, t.HasPrompt = "", false
		w.trials = append(w.trials, t)
	}
	return nil
}

// modelsOf returns the run's providers that call a model and that a suite may name without
// running code or reading files.
func modelsOf(meta *value.Object) []string {
	var list []string
	columns, _ := meta.At("columns").([]any)
	for _, c := range columns {
		o, _ := c.(*value.Object)
		id := o.Text("providerId")
		facts, _ := provider.Facts().Of(id)
		if facts == nil || facts.Local || strings.ContainsAny(id, "{}\r\n") || slices.Contains(list, id) || len(list) == 5 || facts.Code || facts.File || facts.URL || facts.OpenEnded {
			continue
		}
		list = append(list, id)
	}
	return list
}

// oneLine converts the id of a case to one line.
func oneLine(id string) string {
	return strings.NewReplacer("\r", " ", "\n", " ", "\x00", " ").Replace(wellFormed(id))
}
