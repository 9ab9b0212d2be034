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

// AppendRow appends one finished row as one line of JSON without the line break: a
// row of promptfoo's version-3 results, with additional members of proviso. The row's
// index comes first, so that it can be read without decoding. It allocates nothing
// except room in dst, and may be called for several rows at once.
//
// The members of proviso are: index, caseId, verdict (pass, fail, error or skip),
// repeat {index, of, pass}, evaluation (the assertion set's result), and for each
// component its status, evidence, judge, cost and members: how many of the following
// components belong to it. A score that JSON has no number for (NaN, an infinity) is
// null, as in promptfoo, with its name in scoreText. Null without a name is the score
// of a certain failure with an undecided part. A component that could not be decided
// has pass false and score 0. One that did not apply has pass true, because it does
// not keep its row from passing.
func AppendRow(dst []byte, index int, r *proviso.Result, meta *Meta) []byte {
	e := encoder{b: dst}
	e.b = append(e.b, `{"index":`...)
	e.int(index)
	e.b = append(e.b, `,"id":`...)
	e.b = value.AppendQuoted(e.b, meta.RunID)
	e.b = append(e.b[:len(e.b)-1], '/') // the id continues inside the quotes
	e.int(index)
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

// AppendRenamed appends a row that [AppendRow] made for one run as a row of another one;
// false if it is none of the first run.
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

func (e *encoder) int(n int) { e.b = strconv.AppendInt(e.b, int64(n), 10) }

func (e *encoder) bool(v bool) { e.b = strconv.AppendBool(e.b, v) }

func (e *encoder) number(f float64) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		e.b = append(e.b, "null"...)
		return
	}
	e.b = value.AppendNumber(e.b, f)
}

// score appends a score, and its name if JSON has no number for it.
func (e *encoder) score(f float64) {
	e.b = append(e.b, `,"score":`...)
	e.number(f)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		e.b = append(e.b, `,"scoreText":"`...)
		e.b = append(value.AppendNumber(e.b, f), '"')
	}
}

// scoreUnless appends a score, or null if it is unscored.
func (e *encoder) scoreUnless(unscored bool, f float64) {
	if unscored {
		e.b = append(e.b, `,"score":null`...)
		return
	}
	e.score(f)
}

func (e *encoder) milliseconds(d time.Duration) {
	e.number(float64(d.Microseconds()) / 1000)
}

// text appends ,"key":"value" with a key that is already quoted.
func (e *encoder) text(key, val string) {
	e.b = append(e.b, key...)
	e.b = value.AppendQuoted(e.b, val)
}

// object appends o, or a copy of its JSON if the row already contains it.
func (e *encoder) object(o *value.Object) {
	for i := range e.spans[:e.n] {
		if s := &e.spans[i]; s.object == o {
			e.b = append(e.b, e.b[s.start:s.end]...)
			return
		}
	}
	if o == nil {
		e.b = append(e.b, "{}"...)
		return
	}
	start := len(e.b)
	e.b = value.AppendJSON(e.b, o)
	e.keep(o, start)
}

// keep records where o was written. Beyond the fixed room objects are encoded again,
// which only costs time.
func (e *encoder) keep(o *value.Object, start int) {
	if e.n < len(e.spans) {
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

// identity appends the case, prompt and provider of the row.
func (e *encoder) identity(r *proviso.Result, meta *Meta) {
	testIdx := 0
	if r.Case != nil {
		e.text(`,"caseId":`, r.Case.ID)
		testIdx = r.Case.Index
	}
	e.b = append(e.b, `,"testIdx":`...)
	e.int(testIdx)
	e.b = append(e.b, `,"promptIdx":`...)
	e.int(r.PromptIdx)
	var label []byte
	if i := r.PromptIdx; i >= 0 && i < len(meta.Columns) && meta.Columns[i].shared != nil {
		e.b = append(e.b, meta.Columns[i].shared...)
		label = meta.Columns[i].label
	} else {
		c := columnOf(r)
		e.b = c.appendShared(e.b)
	}
	e.text(`,"prompt":{"raw":`, r.Rendered)
	e.b = append(e.b, `,"label":`...)
	switch {
	case label != nil:
		e.b = append(e.b, label...)
	case r.Prompt != nil:
		e.b = value.AppendQuoted(e.b, r.Prompt.Label)
	default:
		e.b = append(e.b, `""`...)
	}
	e.b = append(e.b, '}')
}

// columnOf makes a column that the meta does not have.
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
	e.b = append(e.b, `,"vars":`...)
	if r.Written != nil {
		e.object(r.Written)
		e.b = append(e.b, `,"resolvedVars":`...)
	}
	e.object(r.Vars)
	e.b = append(e.b, `,"testCase":`...)
	if r.Case == nil || r.Case.Raw == nil {
		e.b = append(e.b, "{}"...)
		return
	}
	e.b = append(e.b, '{')
	first := true
	for key, v := range r.Case.Raw.All() {
		if _, undefined := v.(value.Undefined); undefined {
			continue
		}
		e.key(first, key)
		first = false
		list, isList := v.([]any)
		o, isObject := v.(*value.Object)
		switch {
		case key == "assert" && isList:
			e.asserts(list)
		case isObject:
			e.object(o)
		default:
			e.b = value.AppendJSON(e.b, v)
		}
	}
	e.b = append(e.b, '}')
}

// asserts appends a list of assertions and records the range of each.
func (e *encoder) asserts(list []any) {
	e.b = append(e.b, '[')
	for i, v := range list {
		if i > 0 {
			e.b = append(e.b, ',')
		}
		if o, ok := v.(*value.Object); ok {
			e.object(o)
			continue
		}
		e.b = value.AppendJSON(e.b, v)
	}
	e.b = append(e.b, ']')
}

// outcome appends the verdict on the row as a whole.
func (e *encoder) outcome(r *proviso.Result) {
	status := r.Aggregate.Status
	e.b = append(e.b, `,"success":`...)
	e.bool(succeeded(status))
	e.b = append(e.b, `,"verdict":"`...)
	e.b = append(append(e.b, status.String()...), '"')
	e.b = append(e.b, `,"failureReason":`...)
	switch status {
	case proviso.Fail:
		e.b = append(e.b, '1')
	case proviso.Errored:
		e.b = append(e.b, '2')
	default:
		e.b = append(e.b, '0')
	}
	e.scoreUnless(r.Aggregate.Unscored, scoreOf(status, r.Aggregate.Score))
	e.named(`,"namedScores":`, r.Aggregate.Named)
	e.weights(r.Aggregate.Named)
	if text := errorText(r); text != "" {
		e.text(`,"error":`, text)
	}
}

// succeeded reports whether promptfoo counts the status as a success: a row or an
// assertion that did not apply did not fail.
func succeeded(s proviso.Status) bool { return s == proviso.Pass || s == proviso.Skip }

// scoreOf returns the score to show; an undecided status has none.
func scoreOf(s proviso.Status, score float64) float64 {
	if s == proviso.Errored {
		return 0
	}
	return score
}

// errorText returns promptfoo's error of a row: why it is undecided, or why it
// failed.
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
	e.b = append(append(e.b, key...), '{')
	for i, s := range scores {
		e.key(i == 0, s.Name)
		e.number(s.Value)
	}
	e.b = append(e.b, '}')
}

// weights appends the weights of the named scores, unless all are 1: a column sums
// score × weight.
func (e *encoder) weights(scores []proviso.NamedScore) {
	if !slices.ContainsFunc(scores, func(n proviso.NamedScore) bool { return weightOf(n) != 1 }) {
		return
	}
	e.b = append(e.b, `,"namedScoreWeights":{`...)
	for i, n := range scores {
		e.key(i == 0, n.Name)
		e.number(weightOf(n))
	}
	e.b = append(e.b, '}')
}

// weightOf returns the weight of a named score, which is 1 if none is given.
func weightOf(n proviso.NamedScore) float64 {
	if n.Weight == 0 {
		return 1
	}
	return n.Weight
}

// measures appends the measurements of the row, and its metadata: the case's,
// overridden by the provider's.
func (e *encoder) measures(r *proviso.Result) {
	e.b = append(e.b, `,"latencyMs":`...)
	if r.Output.Latency != nil {
		e.milliseconds(*r.Output.Latency)
	} else {
		e.b = append(e.b, '0')
	}
	b := billOf(&r.Output)
	e.b = append(e.b, `,"cost":`...)
	e.number(b.cost)
	if b.known && r.Output.Cached {
		e.b = append(e.b, `,"incurredCost":`...)
		e.number(b.incurred)
	}
	e.b = append(e.b, `,"metadata":{`...)
	first := true
	if r.Case != nil {
		first = e.members(r.Case.Metadata, r.Output.Metadata, first)
	}
	e.members(r.Output.Metadata, nil, first)
	e.b = append(e.b, '}')
}

// members appends the members of o that over does not have.
func (e *encoder) members(o, over *value.Object, first bool) bool {
	for key, v := range o.All() {
		if _, undefined := v.(value.Undefined); undefined || over.Has(key) {
			continue
		}
		e.key(first, key)
		e.b = value.AppendJSON(e.b, v)
		first = false
	}
	return first
}

func (e *encoder) repeat(c *proviso.Case) {
	if c == nil || c.Repeats <= 1 {
		return
	}
	e.b = append(e.b, `,"repeat":{"index":`...)
	e.int(c.Repeat)
	e.b = append(e.b, `,"of":`...)
	e.int(c.Repeats)
	e.b = append(e.b, `,"pass":`...)
	e.int(passesNeeded(c.Repeats, c.RepeatPass))
	e.b = append(e.b, '}')
}

// passesNeeded returns how many of a case's repeats must pass.
func passesNeeded(repeats, pass int) int {
	if pass <= 0 {
		return repeats
	}
	return pass
}
