package report

import (
	"cmp"
	"encoding/binary"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// about identifies an assertion. Its fields are as in rows.
type about struct {
	kind, id, metric string
	value, threshold any // nil if there is none
	unweighed        bool
}

// aboutOf returns the fields that a row would have for an assertion. compared means that
// the assertion's type compares a score with a threshold.
func aboutOf(a *proviso.Assertion, compared bool) about {
	switch {
	case a == nil:
		return about{}
	case a.Raw != nil && len(a.Assert) == 0:
		x := aboutRaw(a.Raw, compared)
		if !a.Raw.Has("type") {
			x.kind = a.Type
		}
		return x
	}
	x := about{kind: a.Type, id: a.ID, metric: a.Metric, value: defined(a.Value), unweighed: a.Weight != nil && *a.Weight == 0}
	if compared {
		x.threshold = defined(a.Threshold)
	}
	return x
}

// aboutRaw reads an assertion as written in rows. The value of a judged assertion is its
// check's value, or else its instruction or first criterion.
func aboutRaw(o *value.Object, compared bool) about {
	x := about{kind: o.Text("type"), id: o.Text("id"), metric: o.Text("metric"), unweighed: o.At("weight") == 0.0}
	if compared {
		x.threshold = defined(o.At("threshold"))
	}
	for _, v := range [...]any{o.At("value"), o.Object("check").At("value"), o.At("instruction"), firstCriterion(o)} {
		if x.value = defined(v); x.value != nil {
			break
		}
	}
	return x
}

// title returns the name shown before the reason of a verdict: the id, else the metric,
// else the type. The type follows an id or a metric unless a model judged by criteria.
func (x *about) title() string {
	label := cmp.Or(x.id, x.metric)
	switch {
	case label == "":
		return cmp.Or(x.kind, "part")
	case x.kind == proviso.TypeJudge || x.kind == "":
		return label
	}
	return label + " (" + x.kind + ")"
}

func firstCriterion(o *value.Object) any {
	list, _ := o.At("criteria").([]any)
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// defined returns v; nil if it is undefined.
func defined(v any) any {
	if _, undefined := v.(value.Undefined); undefined {
		return nil
	}
	return v
}

// appendKey appends a key that is unique to the assertion.
func (x *about) appendKey(b []byte) []byte {
	for _, s := range [...]string{x.kind, x.id, x.metric} {
		b = append(append(b, s...), 0)
	}
	b = appendDistinct(b, x.value)
	if x.unweighed {
		b = append(b, 'u')
	}
	return appendDistinct(b, x.threshold)
}

// appendDistinct appends bytes that are equal only for equal values. It copies texts with
// their length, which takes a fraction of the time of quoting them.
func appendDistinct(b []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return append(binary.AppendUvarint(append(b, 's'), uint64(len(v))), v...)
	case []any:
		b = binary.AppendUvarint(append(b, 'l'), uint64(len(v)))
		for _, e := range v {
			b = appendDistinct(b, e)
		}
		return b
	}
	return append(value.AppendJSON(append(b, 'j'), v), 0)
}

// summary returns an entry for the assertion without counts.
func (x *about) summary() *AssertionSummary {
	a := &AssertionSummary{Type: x.kind, ID: x.id, Metric: x.metric, Unweighed: x.unweighed}
	if o, ok := x.value.(*value.Object); ok && x.kind == proviso.TypeJudge && o.Has("template") {
		a.Value = o.Text("template")
		if params := o.Object("params"); params.Len() > 0 {
			a.Value = excerpt.Bytes(a.Value+" "+value.Stringify(params), maxValueText)
		}
	} else if x.value != nil {
		a.Value = valueText(x.value)
	}
	if x.threshold != nil {
		a.Threshold = excerpt.Bytes(textOf(x.threshold), maxValueText)
	}
	return a
}

// valueText formats a value for use in names.
func valueText(v any) string {
	if s, ok := v.(string); ok {
		return `"` + excerpt.Bytes(s, maxValueText) + `"`
	}
	return excerpt.Bytes(value.Stringify(v), maxStructureText)
}
