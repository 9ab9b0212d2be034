package report

import (
	"bufio"
	"context"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/textlist"
	"github.com/proviso-eval/proviso/value"
)

// renderJSON writes promptfoo's version-3 document: an envelope around the rows, each
// of which is one line, copied from the run file. Additions of proviso are under
// "proviso".
func renderJSON(ctx context.Context, w *bufio.Writer, in *Input) error {
	m := in.Meta
	b := value.AppendQuoted([]byte(`{"evalId":`), m.RunID)
	b = append(b, `,"results":{"version":3,"timestamp":`...)
	b = value.AppendQuoted(b, m.Started.UTC().Format(time.RFC3339Nano))
	b = append(b, ",\"prompts\":"...)
	b = appendPrompts(b, in)
	b = append(b, ",\"results\":[\n"...)
	w.Write(b) // a bufio.Writer keeps its first error until Flush
	if _, err := copyRows(ctx, w, in.Rows, ",\n"); err != nil {
		return err
	}
	b = append(b[:0], "\n],\"stats\":"...)
	b = value.AppendJSON(b, statsOf(in))
	b = append(b, "},\"config\":"...)
	if m.Config != nil {
		b = value.AppendJSON(b, m.Config)
	} else {
		b = append(b, "{}"...)
	}
	b = append(b, ",\"shareableUrl\":null,\"metadata\":"...)
	b = value.AppendJSON(b, value.ObjectOf("provisoVersion", m.Version,
		"evaluationCreatedAt", m.Started.UTC().Format(time.RFC3339Nano)))
	w.Write(append(b, ",\"proviso\":"...))
	writeAdditions(w, in)
	_, err := w.WriteString("}\n")
	return err
}

// renderJSONL writes the rows alone.
func renderJSONL(ctx context.Context, w *bufio.Writer, in *Input) error {
	n, err := copyRows(ctx, w, in.Rows, "\n")
	if err != nil || n == 0 {
		return err
	}
	return w.WriteByte('\n')
}

// copyRows writes all rows with a separator between them and returns their number.
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

func appendPrompts(b []byte, in *Input) []byte {
	b = append(b, '[')
	for i, s := range in.Summary.Columns() {
		if i > 0 {
			b = append(b, ',')
		}
		var c Column
		if i < len(in.Meta.Columns) {
			c = in.Meta.Columns[i]
		}
		b = value.AppendJSON(b, value.ObjectOf("raw", c.PromptRaw, "label", c.prompt(), "id", c.PromptID,
			"provider", c.provider(), "metrics", metricsOf(&s)))
	}
	return append(b, ']')
}

// metricsOf returns a column's metrics under promptfoo's names. Derived metrics are
// among the named scores there.
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

// incurredUsage is [usageObject], with the incurred usage inside if that is less.
func incurredUsage(u, grading, spent, asked proviso.Usage) *value.Object {
	o := usageObject(u, grading)
	if u != spent || grading != asked {
		o.Set("incurredTokenUsage", usageObject(spent, asked))
	}
	return o
}

// usageObject returns the tokens of answers, with those of deciding inside, in
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

// statsOf returns the counts of the run. As in the rows, a skip is a success;
// proviso.totals counts them separately.
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

// totalsOf returns the counts and the cost, and the incurred cost if it is less.
func totalsOf(t proviso.Totals) *value.Object {
	o := value.ObjectOf("passed", float64(t.Passed), "failed", float64(t.Failed),
		"errors", float64(t.Errors), "skipped", float64(t.Skipped), "cost", t.Cost)
	if t.Incurred != t.Cost {
		o.Set("incurredCost", t.Incurred)
	}
	return o
}

// writeAdditions writes what promptfoo's document has no place for, as an object. A
// summary has up to 10,000 assertions, so each is written by itself.
func writeAdditions(w io.Writer, in *Input) {
	b := value.AppendQuoted([]byte(`{"suite":`), in.Meta.Suite)
	b = value.AppendJSON(append(b, `,"totals":`...), totalsOf(in.Summary.Totals()))
	b = append(b, `,"assertions":[`...)
	lines := in.Summary.Assertions()
	for i := range lines {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendAssertion(b, in, &lines[i])
		w.Write(b) // both writers keep their first error
		b = b[:0]
	}
	b = appendDecision(append(b, ']'), in.Meta.Decision)
	b = appendMissed(b, in.Meta.Missed)
	if judges := judgesOf(in); len(judges) > 0 {
		b = value.AppendJSON(append(b, `,"judges":`...), judges)
	}
	if r := in.Summary.Repeats(); r.Groups > 0 {
		b = value.AppendJSON(append(b, `,"repeats":`...), value.ObjectOf("groups", float64(r.Groups), "flaky", float64(r.Flaky),
			"flakeRate", float64(r.Flaky)/float64(r.Groups), "met", float64(r.Met), "forgiven", float64(r.Forgiven)))
	}
	w.Write(append(b, '}'))
}

func appendAssertion(b []byte, in *Input, a *AssertionSummary) []byte {
	b = value.AppendQuoted(append(b, `{"name":`...), a.Name())
	b = value.AppendQuoted(append(b, `,"type":`...), a.Type)
	b = value.AppendQuoted(append(b, `,"label":`...), a.Label())
	for _, c := range [...]struct {
		key string
		n   int
	}{{`,"passed":`, a.Passed}, {`,"failed":`, a.Failed}, {`,"errors":`, a.Errors}, {`,"skipped":`, a.Skipped}, {`,"decided":`, a.Decided()}} {
		b = strconv.AppendInt(append(b, c.key...), int64(c.n), 10)
	}
	rate, low, high := a.decidedRate()
	b = appendFinite(append(b, `,"passRate":`...), rate)
	b = appendFinite(append(b, `,"interval":[`...), low)
	b = append(appendFinite(append(b, ','), high), ']')
	for _, x := range [...]struct{ key, text string }{{`,"id":`, a.ID}, {`,"metric":`, a.Metric}, {`,"value":`, a.Value}, {`,"threshold":`, a.Threshold}} {
		if x.text != "" {
			b = value.AppendQuoted(append(b, x.key...), x.text)
		}
	}
	if a.Others > 0 {
		b = strconv.AppendInt(append(b, `,"others":`...), int64(a.Others), 10)
	}
	if a.Cost > 0 {
		b = value.AppendJSON(append(b, `,"cost":`...), a.Cost)
	}
	if a.CannotTell > 0 {
		b = strconv.AppendInt(append(b, `,"cannotTell":`...), int64(a.CannotTell), 10)
		b = value.AppendJSON(append(b, `,"cannotTellShare":`...), a.cannotTellShare())
	}
	if len(a.Judges) > 0 {
		b = value.AppendJSON(append(b, `,"judges":`...), textlist.Values(a.Judges))
		b = value.AppendJSON(append(b, `,"agreement":`...), in.Meta.agreements(a))
	}
	return append(b, '}')
}

// appendFinite appends f; null if JSON has no number for it.
func appendFinite(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(b, "null"...)
	}
	return value.AppendNumber(b, f)
}
