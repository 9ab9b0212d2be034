package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// eval runs a whole config like a user's, and compares every row and every column.
func (b *bench) eval(t *testing.T, r record) error {
	t.Helper()
	want := r.object("expect")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(b.dir, "fixtures"))); err != nil && !os.IsNotExist(err) {
		return err
	}
	file := filepath.Join(dir, "promptfooconfig.json")
	if err := os.WriteFile(file, value.AppendJSON(nil, r.object("config")), 0o600); err != nil {
		return err
	}
	out, err := b.run(t, dir, file)
	if err != nil {
		if want.Has("error") || hasErrors(want) {
			return nil // refused at load
		}
		return fmt.Errorf("refused: %w", err)
	}
	defer out.Close()
	if want.Has("error") {
		if out.Totals.Errors == 0 {
			return fmt.Errorf("got no error, want %q", want.At("error"))
		}
		return nil
	}
	certain, err := certainFailures(out)
	if err != nil {
		return err
	}
	if err := compareStats(out.Totals, certain, want); err != nil {
		return err
	}
	if err := compareRows(out, want, tolerance(r.text("group"))); err != nil {
		return err
	}
	return compareColumns(out.Summary, want, tolerance(r.text("group")))
}

func (b *bench) run(t *testing.T, dir, file string) (*run.Outcome, error) {
	t.Helper()
	s, mistakes := suite.Read(t.Context(), []string{file}, suite.Options{Env: b.env, Facts: engine.Facts()})
	if err := mistakes.Err(); err != nil {
		return nil, err
	}
	e, err := engine.Open(t.Context(), s, engine.Options{
		Policy:  engine.Policy{Trusted: true, Sandbox: sandbox.Auto},
		Judge:   engine.Judge{Off: true},
		Engines: engine.Engines{Env: b.env, Metrics: b.metrics},
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	plan, mistakes := e.Plan(t.Context(), run.Task{Dir: filepath.Join(dir, "runs")})
	if err := mistakes.Err(); err != nil {
		return nil, err
	}
	return plan.Run(t.Context())
}

// hasErrors reports whether a row was recorded as an error, because proviso may
// report its cause as a mistake when it reads the suite.
func hasErrors(want *value.Object) bool {
	stats, _ := want.At("stats").(*value.Object)
	return stats.At("errors") != 0.0
}

// certainFailures counts the rows that failed while one of their assertions was an
// error. promptfoo reports these as errors.
func certainFailures(out *run.Outcome) (int, error) {
	n := 0
	for _, data := range out.Rows.Rows() {
		v, err := value.ParseJSON(string(data))
		if err != nil {
			return 0, err
		}
		if report.Unscored(v.(*value.Object)) {
			n++
		}
	}
	return n, out.Rows.Err()
}

func compareStats(got proviso.Totals, certain int, want *value.Object) error {
	w, _ := want.At("stats").(*value.Object)
	g := value.ObjectOf("successes", float64(got.Passed+got.Skipped), "failures", float64(got.Failed-certain), "errors", float64(got.Errors+certain))
	return sameNumbers(g, w, 0, "stats")
}

func compareRows(out *run.Outcome, want *value.Object, tolerance float64) error {
	list, _ := want.At("results").([]any)
	var got []*value.Object
	for _, data := range out.Rows.Rows() {
		v, err := value.ParseJSON(string(data))
		if err != nil {
			return err
		}
		got = append(got, v.(*value.Object))
	}
	if len(got) != len(list) {
		return fmt.Errorf("got %d rows, want %d", len(got), len(list))
	}
	for _, e := range list {
		w := e.(*value.Object)
		if err := compareRow(find(got, w), w, tolerance); err != nil {
			return fmt.Errorf("row test %v prompt %v: %w", w.At("testIdx"), w.At("promptIdx"), err)
		}
	}
	return nil
}

// find returns the row with the same test and prompt.
func find(rows []*value.Object, w *value.Object) *value.Object {
	for _, r := range rows {
		if r.At("testIdx") == w.At("testIdx") && r.At("promptIdx") == w.At("promptIdx") {
			return r
		}
	}
	return nil
}

var failureReasons = map[string]float64{"none": 0, "assert": 1, "error": 2}

func compareRow(got, want *value.Object, tolerance float64) error {
	if got == nil {
		return fmt.Errorf("is missing")
	}
	if report.Unscored(got) {
		if want.At("failureReason") != "error" {
			return fmt.Errorf("got a failure beside an error, want %v", want.At("failureReason"))
		}
		return nil
	}
	if got.At("success") != want.At("pass") || !sameScore(got.At("score"), want.At("score"), tolerance) {
		return fmt.Errorf("got pass=%v score %v (%v), want %v %v (%v)", got.At("success"), got.At("score"), got.At("error"), want.At("pass"), want.At("score"), want.At("reason"))
	}
	name, _ := want.At("failureReason").(string)
	if got.At("failureReason") != failureReasons[name] {
		return fmt.Errorf("got failureReason %v, want %s", got.At("failureReason"), name)
	}
	response, _ := got.At("response").(*value.Object)
	if o := want.At("output"); o != nil && value.Stringify(sorted(response.At("output"))) != value.Stringify(sorted(o)) {
		return fmt.Errorf("got output %v, want %v", response.At("output"), o)
	}
	if w, ok := want.At("namedScores").(*value.Object); ok {
		g, _ := got.At("namedScores").(*value.Object)
		return sameNumbers(g, w, tolerance, "named score")
	}
	return nil
}

func compareColumns(sum *report.Summary, want *value.Object, tolerance float64) error {
	list, _ := want.At("prompts").([]any)
	columns := sum.Columns()
	for i, e := range list {
		w := e.(*value.Object)
		if i >= len(columns) {
			return fmt.Errorf("column %d is missing", i)
		}
		c := &columns[i]
		g := value.NewObject(0)
		for _, m := range c.Metrics() {
			g.Set(m.Name, m.Sum)
		}
		for _, d := range c.Derived {
			g.Set(d.Name, d.Value)
		}
		scores, _ := w.At("namedScores").(*value.Object)
		if err := sameNumbers(g, scores, tolerance, fmt.Sprintf("column %d metric", i)); err != nil {
			return err
		}
	}
	return nil
}
