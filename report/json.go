package report

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"math"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/textlist"
	"github.com/proviso-eval/proviso/value"
)

// renderJSON writes promptfoo's version-3 document: an envelope around the rows. Each row
// is one line, copied from the run file. proviso's additions are under "proviso".
func renderJSON(ctx context.Context, w *bufio.Writer, in *Input) error {
	var e encoder
	e.text(`{"evalId":`, in.Meta.RunID)
	e.text(`,"results":{"version":3,"timestamp":`, in.Meta.timestamp())
	e.value(`,"prompts":`, promptsOf(in))
	e.raw(",\"results\":[\n")
	w.Write(e.b) // a bufio.Writer keeps its first error until Flush
	if _, err := copyRows(ctx, w, in.Rows, ",\n"); err != nil {
		return err
	}
	e.b = e.b[:0]
	e.value("\n],\"stats\":", statsOf(in))
	e.value(`},"config":`, in.Meta.config())
	e.value(`,"shareableUrl":null,"metadata":`, in.Meta.made())
	e.raw(`,"proviso":`)
	w.Write(e.b)
	writeAdditions(w, in)
	_, err := w.WriteString("}\n")
	return err
}

// renderJSONL writes only the rows.
func renderJSONL(ctx context.Context, w *bufio.Writer, in *Input) error {
	n, err := copyRows(ctx, w, in.Rows, "\n")
	if err != nil || n == 0 {
		return err
	}
	return w.WriteByte('\n')
}

// copyRows writes all rows, with a separator between them, and returns their number.
func copyRows(ctx context.Context, w *bufio.Writer, rows Rows, separator string) (n int, err error) {
	for _, row := range rows.Rows() {
		if n > 0 {
			w.WriteString(separator)
		}
		if _, err := w.Write(row); err != nil {
			return n, err
		}
		if n++; n&0xff == 0 && ctx.Err() != nil {
			return n, context.Cause(ctx)
		}
	}
	return n, rows.Err()
}

// timestamp, config and made are members of the document in JSON and in YAML.

func (m *Meta) timestamp() string { return m.Started.UTC().Format(time.RFC3339Nano) }

func (m *Meta) config() *value.Object { return cmp.Or(m.Config, &value.Object{}) }

func (m *Meta) made() *value.Object {
	return value.ObjectOf("provisoVersion", m.Version, "evaluationCreatedAt", m.timestamp())
}

func promptsOf(in *Input) []any {
	list := []any{}
	for i, s := range in.Summary.Columns() {
		var c Column
		if i < len(in.Meta.Columns) {
			c = in.Meta.Columns[i]
		}
		list = append(list, value.ObjectOf("raw", c.PromptRaw, "label", c.prompt(), "id", c.PromptID,
			"provider", c.provider(), "metrics", metricsOf(&s)))
	}
	return list
}

// metricsOf returns a column's metrics under promptfoo's names, which count derived metrics
// among the named scores.
func metricsOf(s *ColumnSummary) *value.Object {
	scores, counts := &value.Object{}, &value.Object{}
	for _, m := range s.Metrics() {
		scores.Set(m.Name, m.Sum)
		counts.Set(m.Name, float64(m.Count))
	}
	for _, d := range s.Derived {
		scores.Set(d.Name, d.Value)
	}
	metrics := value.ObjectOf(
		"score", s.Score,
		"testPassCount", float64(s.Rows.Passed+s.Rows.Skipped),
		"testFailCount", float64(s.Rows.Failed),
		"testErrorCount", float64(s.Rows.Errors),
		"assertPassCount", float64(s.Assertions.Passed+s.Assertions.Skipped),
		"assertFailCount", float64(s.Assertions.Failed),
		"assertErrorCount", float64(s.Assertions.Errors),
		"totalLatencyMs", s.LatencyMS,
		"tokenUsage", incurredUsage(s.Usage, s.Grading, s.spent, s.asked),
		"namedScores", scores,
		"namedScoresCount", counts,
		"cost", s.Cost,
	)
	if s.kept {
		metrics.Set("incurredCost", s.Incurred)
	}
	return metrics
}

// incurredUsage is [usageObject] with the incurred usage inside, if that is less.
func incurredUsage(u, grading, spent, asked proviso.Usage) *value.Object {
	o := usageObject(u, grading)
	if u != spent || grading != asked {
		o.Set("incurredTokenUsage", usageObject(spent, asked))
	}
	return o
}

// usageObject returns the tokens of answers, with the tokens for deciding inside, in
// promptfoo's form.
func usageObject(u, grading proviso.Usage) *value.Object {
	o := tokens(u)
	o.Set("assertions", tokens(grading))
	return o
}

func tokens(u proviso.Usage) *value.Object {
	return value.ObjectOf("total", float64(u.Total), "prompt", float64(u.Prompt), "completion", float64(u.Completion),
		"cached", float64(u.Cached), "numRequests", float64(u.Requests))
}

// statsOf returns the counts of the run. A skip counts as a success, as in the rows;
// proviso.totals counts skips separately.
func statsOf(in *Input) *value.Object {
	t := in.Summary.Totals()
	var answers, grading, spent, asked proviso.Usage
	for _, c := range in.Summary.Columns() {
		answers.Add(c.Usage)
		grading.Add(c.Grading)
		spent.Add(c.spent)
		asked.Add(c.asked)
	}
	return value.ObjectOf("successes", float64(t.Passed+t.Skipped), "failures", float64(t.Failed), "errors", float64(t.Errors),
		"tokenUsage", incurredUsage(answers, grading, spent, asked), "durationMs", math.Round(float64(in.Meta.Elapsed.Microseconds())/1000))
}

// totalsOf returns the counts and the cost, and the incurred cost if that is lower.
func totalsOf(t proviso.Totals) *value.Object {
	o := value.ObjectOf("passed", float64(t.Passed), "failed", float64(t.Failed),
		"errors", float64(t.Errors), "skipped", float64(t.Skipped), "cost", t.Cost)
	if t.Incurred != t.Cost {
		o.Set("incurredCost", t.Incurred)
	}
	return o
}

// writeAdditions writes the data that promptfoo's document has no place for, as an object.
// A summary may have a thousand assertions, so it encodes them one at a time.
func writeAdditions(w io.Writer, in *Input) {
	var e encoder
	e.text(`{"suite":`, in.Meta.Suite)
	e.value(`,"totals":`, totalsOf(in.Summary.Totals()))
	e.raw(`,"assertions":[`)
	lines := in.Summary.Assertions()
	for i := range lines {
		e.when(i > 0, ",")
		e.summary(in.Meta, &lines[i])
		w.Write(e.b) // both writers keep their first error
		e.b = e.b[:0]
	}
	e.raw("]")
	e.decision(in.Meta.Decision)
	if s := in.Meta.Missed; s != nil && len(s.JSON) > 0 {
		e.raw(`,"mutation":` + string(s.JSON))
	}
	if judges := judgesOf(in); len(judges) > 0 {
		e.value(`,"judges":`, judges)
	}
	if r := in.Summary.Repeats(); r.Groups > 0 {
		e.value(`,"repeats":`, value.ObjectOf("groups", float64(r.Groups), "flaky", float64(r.Flaky),
			"flakeRate", float64(r.Flaky)/float64(r.Groups), "met", float64(r.Met), "forgiven", float64(r.Forgiven)))
	}
	w.Write(append(e.b, '}'))
}

// summary appends an assertion's counts.
func (e *encoder) summary(m *Meta, a *AssertionSummary) {
	e.text(`{"name":`, a.Name())
	e.text(`,"type":`, a.Type)
	e.text(`,"label":`, a.Label())
	e.int(`,"passed":`, a.Passed)
	e.int(`,"failed":`, a.Failed)
	e.int(`,"errors":`, a.Errors)
	e.int(`,"skipped":`, a.Skipped)
	e.int(`,"decided":`, a.Decided())
	rate, low, high := a.decidedRate()
	e.number(`,"passRate":`, rate)
	e.number(`,"interval":[`, low)
	e.number(",", high)
	e.raw("]")
	e.filled(`,"id":`, a.ID)
	e.filled(`,"metric":`, a.Metric)
	e.filled(`,"value":`, a.Value)
	e.filled(`,"threshold":`, a.Threshold)
	e.counted(`,"others":`, a.Others)
	if a.Cost > 0 {
		e.number(`,"cost":`, a.Cost)
	}
	if a.CannotTell > 0 {
		e.int(`,"cannotTell":`, a.CannotTell)
		e.number(`,"cannotTellShare":`, a.cannotTellShare())
	}
	if len(a.Judges) > 0 {
		e.value(`,"judges":`, textlist.Values(a.Judges))
		e.value(`,"agreement":`, m.agreements(a))
	}
	e.raw("}")
}
