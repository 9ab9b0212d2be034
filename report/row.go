package report

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// AppendRow appends one finished row as one line of JSON without the line break: a row of
// promptfoo's version-3 results with proviso's additional members. The row's index comes
// first, so that it can be read without decoding the row. AppendRow allocates only to grow
// dst, and may be called concurrently.
//
// proviso's members are: index, caseId, verdict (pass, fail, error or skip), repeat {index,
// of, pass}, evaluation (the result of the assertion set), and for each component its
// status, evidence, judge, cost and members (how many of the following components belong to
// it). A score that JSON cannot express (NaN, an infinity) is null, as in promptfoo, with
// its name in scoreText. Null without a name is the score of a certain failure with an
// undecided part. An undecided component has pass false and score 0. A component that did
// not apply has pass true, because it does not prevent its row from passing.
func AppendRow(dst []byte, index int, r *proviso.Result, meta *Meta) []byte {
	e := encoder{b: dst}
	e.int(`{"index":`, index)
	e.text(`,"id":`, meta.RunID)
	e.b = e.b[:len(e.b)-1] // the id continues inside the quotes
	e.int("/", index)
	e.b = append(e.b, '"')
	e.identity(r, meta)
	e.inputs(r)
	e.response(&r.Output)
	e.outcome(r)
	e.grading(r)
	e.measures(r)
	e.repeat(r.Case)
	return append(e.b, '}')
}

// AppendRenamed appends a row that [AppendRow] made for the run from as a row of the run
// to. It returns false if the row does not belong to the run from.
func AppendRenamed(dst, row []byte, from, to string) ([]byte, bool) {
	const name = `,"id":`
	at := bytes.IndexByte(row, ',')
	quoted := value.AppendQuoted(nil, from)
	head := append([]byte(name), quoted[:len(quoted)-1]...)
	if head = append(head, '/'); at < 0 || !bytes.HasPrefix(row[at:], head) {
		return dst, false
	}
	dst = append(append(dst, row[:at]...), name...)
	dst = value.AppendQuoted(dst, to)
	dst = append(dst[:len(dst)-1], '/')
	return append(dst, row[at+len(head):]...), true
}

// encoder appends the parts of a row. Objects that occur twice in a row, such as
// assertions, are encoded once and then copied.
type encoder struct {
	b     []byte
	spans [32]span
	n     int
}

// span is the range of an object's JSON in the buffer.
type span struct {
	object     *value.Object
	start, end int
}

// The methods below append a member. Its key includes the separators, such as `,"key":`.

func (e *encoder) raw(text string) { e.b = append(e.b, text...) }

func (e *encoder) int(key string, n int) {
	e.raw(key)
	e.b = strconv.AppendInt(e.b, int64(n), 10)
}

func (e *encoder) bool(key string, v bool) {
	e.raw(key)
	e.b = strconv.AppendBool(e.b, v)
}

// number appends null if JSON cannot express f.
func (e *encoder) number(key string, f float64) {
	e.raw(key)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		e.raw("null")
		return
	}
	e.b = value.AppendNumber(e.b, f)
}

func (e *encoder) milliseconds(key string, d time.Duration) {
	e.number(key, float64(d.Microseconds())/1000)
}

func (e *encoder) text(key, text string) {
	e.raw(key)
	e.b = value.AppendQuoted(e.b, text)
}

func (e *encoder) value(key string, v any) {
	e.raw(key)
	e.b = value.AppendJSON(e.b, v)
}

// filled appends a non-empty text, and counted appends a number that is not 0.
func (e *encoder) filled(key, text string) {
	if text != "" {
		e.text(key, text)
	}
}

func (e *encoder) counted(key string, n int) {
	if n != 0 {
		e.int(key, n)
	}
}

// when appends a complete member if a condition holds.
func (e *encoder) when(holds bool, member string) {
	if holds {
		e.raw(member)
	}
}

// list appends a non-empty list. each appends one element.
func (e *encoder) list(key string, n int, each func(i int)) {
	for i := range n {
		if i == 0 {
			e.raw(key)
			e.b = append(e.b, '[')
		} else {
			e.b = append(e.b, ',')
		}
		each(i)
	}
	if n > 0 {
		e.b = append(e.b, ']')
	}
}

// score appends a score, and its name if JSON cannot express it.
func (e *encoder) score(f float64) {
	e.number(`,"score":`, f)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		e.text(`,"scoreText":`, value.FormatNumber(f))
	}
}

// scoreUnless appends a score, or null if it is unscored.
func (e *encoder) scoreUnless(unscored bool, f float64) {
	if unscored {
		e.raw(`,"score":null`)
		return
	}
	e.score(f)
}

// object appends o, or copies its JSON if the row already contains it.
func (e *encoder) object(o *value.Object) {
	for i := range e.spans[:e.n] {
		if s := &e.spans[i]; s.object == o {
			e.b = append(e.b, e.b[s.start:s.end]...)
			return
		}
	}
	if o == nil {
		e.raw("{}")
		return
	}
	start := len(e.b)
	e.b = value.AppendJSON(e.b, o)
	if e.n < len(e.spans) { // if full, objects are encoded again, which only costs time
		e.spans[e.n] = span{o, start, len(e.b)}
		e.n++
	}
}

// key appends the separator and a member's key.
func (e *encoder) key(first bool, key string) {
	if !first {
		e.b = append(e.b, ',')
	}
	e.b = append(value.AppendQuoted(e.b, key), ':')
}

// identity appends the row's case, prompt and provider.
func (e *encoder) identity(r *proviso.Result, meta *Meta) {
	testIdx := 0
	if r.Case != nil {
		e.text(`,"caseId":`, r.Case.ID)
		testIdx = r.Case.Index
	}
	e.int(`,"testIdx":`, testIdx)
	e.int(`,"promptIdx":`, r.PromptIdx)
	var label []byte
	if i := r.PromptIdx; i >= 0 && i < len(meta.Columns) && meta.Columns[i].shared != nil {
		e.b = append(e.b, meta.Columns[i].shared...)
		label = meta.Columns[i].label
	} else {
		c := columnOf(r)
		e.b = c.appendShared(e.b)
	}
	e.text(`,"prompt":{"raw":`, r.Rendered)
	e.raw(`,"label":`)
	switch {
	case label != nil:
		e.b = append(e.b, label...)
	case r.Prompt != nil:
		e.text("", r.Prompt.Label)
	default:
		e.raw(`""`)
	}
	e.b = append(e.b, '}')
}

// columnOf returns a column that the meta lacks.
func columnOf(r *proviso.Result) Column {
	var c Column
	if r.Prompt != nil {
		c.PromptID = r.Prompt.ID
	}
	if r.Provider != nil {
		c.ProviderID, c.ProviderLabel = r.Provider.ID, r.Provider.Label
	}
	return c
}

// inputs appends the variables and the case.
func (e *encoder) inputs(r *proviso.Result) {
	e.raw(`,"vars":`)
	if r.Written != nil {
		e.object(r.Written)
		e.raw(`,"resolvedVars":`)
	}
	e.object(r.Vars)
	e.raw(`,"testCase":{`)
	if r.Case != nil {
		e.members(r.Case.Raw, nil, true)
	}
	e.b = append(e.b, '}')
}

// outcome appends the verdict on the whole row.
func (e *encoder) outcome(r *proviso.Result) {
	status := r.Aggregate.Status
	e.bool(`,"success":`, succeeded(status))
	e.text(`,"verdict":`, status.String())
	e.int(`,"failureReason":`, map[proviso.Status]int{proviso.Fail: 1, proviso.Errored: 2}[status])
	e.scoreUnless(r.Aggregate.Unscored, scoreOf(status, r.Aggregate.Score))
	e.named(`,"namedScores":`, r.Aggregate.Named)
	e.weights(r.Aggregate.Named)
	e.filled(`,"error":`, errorText(r))
}

// succeeded reports whether promptfoo counts the status as a success. A row or an assertion
// that did not apply did not fail.
func succeeded(s proviso.Status) bool { return s == proviso.Pass || s == proviso.Skip }

// scoreOf returns the score to show, which is 0 for an undecided status.
func scoreOf(s proviso.Status, score float64) float64 {
	if s == proviso.Errored {
		return 0
	}
	return score
}

// errorText returns promptfoo's error of a row: why it is undecided or failed.
func errorText(r *proviso.Result) string {
	switch {
	case r.Error != "":
		return r.Error
	case succeeded(r.Aggregate.Status):
		return ""
	case r.Aggregate.Reason != "":
		return r.Aggregate.Reason
	}
	return r.Output.Error
}

func (e *encoder) named(key string, scores []proviso.NamedScore) {
	e.raw(key)
	e.b = append(e.b, '{')
	for i, s := range scores {
		e.key(i == 0, s.Name)
		e.number("", s.Value)
	}
	e.b = append(e.b, '}')
}

// weights appends the weights of the named scores, unless all are 1. A column sums score ×
// weight.
func (e *encoder) weights(scores []proviso.NamedScore) {
	if !slices.ContainsFunc(scores, func(n proviso.NamedScore) bool { return weightOf(n) != 1 }) {
		return
	}
	e.raw(`,"namedScoreWeights":{`)
	for i, n := range scores {
		e.key(i == 0, n.Name)
		e.number("", weightOf(n))
	}
	e.b = append(e.b, '}')
}

// weightOf returns the weight of a named score; the default is 1.
func weightOf(n proviso.NamedScore) float64 {
	if n.Weight == 0 {
		return 1
	}
	return n.Weight
}

// measures appends the row's measurements and its metadata: the case's metadata, overridden
// by the provider's.
func (e *encoder) measures(r *proviso.Result) {
	var latency time.Duration
	if r.Output.Latency != nil {
		latency = *r.Output.Latency
	}
	e.milliseconds(`,"latencyMs":`, latency)
	b := billOf(&r.Output)
	e.number(`,"cost":`, b.cost)
	if b.known && r.Output.Cached {
		e.number(`,"incurredCost":`, b.incurred)
	}
	e.raw(`,"metadata":{`)
	first := true
	if r.Case != nil {
		first = e.members(r.Case.Metadata, r.Output.Metadata, first)
	}
	e.members(r.Output.Metadata, nil, first)
	e.b = append(e.b, '}')
}

// members appends the members of o that over lacks. It records objects among them, and in
// lists of assertions, for copying.
func (e *encoder) members(o, over *value.Object, first bool) bool {
	for key, v := range o.All() {
		if _, undefined := v.(value.Undefined); undefined || over.Has(key) {
			continue
		}
		e.key(first, key)
		first = false
		list, isList := v.([]any)
		if key != "assert" || !isList || len(list) == 0 {
			e.shared(v)
			continue
		}
		e.list("", len(list), func(i int) { e.shared(list[i]) })
	}
	return first
}

// shared appends a value, and records its position if it is an object.
func (e *encoder) shared(v any) {
	if o, ok := v.(*value.Object); ok {
		e.object(o)
		return
	}
	e.value("", v)
}

func (e *encoder) repeat(c *proviso.Case) {
	if c == nil || c.Repeats <= 1 {
		return
	}
	e.int(`,"repeat":{"index":`, c.Repeat)
	e.int(`,"of":`, c.Repeats)
	e.int(`,"pass":`, passesNeeded(c.Repeats, c.RepeatPass))
	e.b = append(e.b, '}')
}

// passesNeeded returns how many of a case's repeats must pass.
func passesNeeded(repeats, pass int) int {
	if pass <= 0 {
		return repeats
	}
	return pass
}
