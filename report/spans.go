package report

import (
	"cmp"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// DetailSpan is one operation in the trace of a row.
type DetailSpan struct {
	ID         string      `json:"id"`
	Parent     string      `json:"parent,omitempty"`
	Name       string      `json:"name"`
	Kind       string      `json:"kind,omitempty"`
	StartMS    float64     `json:"start_ms" doc:"Since the trace began"`
	DurationMS float64     `json:"duration_ms"`
	Status     string      `json:"status,omitempty" doc:"error, with its message, for an operation that failed"`
	Attributes [][2]string `json:"attributes,omitempty"`
}

// Limits of a row's trace.
const (
	maxSpans      = 500
	maxAttributes = 30 // per span
	spanText      = 500
)

// appendSpans appends the trace of a row, in the order in which operations began.
func (e *encoder) appendSpans(spans []proviso.Span) {
	list := slices.Clone(spans)
	slices.SortStableFunc(list, func(a, b proviso.Span) int { return a.Start.Compare(b.Start) })
	list = list[:min(len(list), maxSpans)]
	e.list(`,"spans":`, len(list), func(i int) { e.span(&list[i], &list[0]) })
}

func (e *encoder) span(s, began *proviso.Span) {
	e.text(`{"id":`, s.ID)
	e.filled(`,"parent":`, s.ParentID)
	e.text(`,"name":`, s.Name)
	if !s.Start.IsZero() && !began.Start.IsZero() {
		e.milliseconds(`,"startMs":`, s.Start.Sub(began.Start))
		if !s.End.IsZero() {
			e.milliseconds(`,"durationMs":`, s.End.Sub(s.Start))
		}
	}
	if s.StatusCode == 2 {
		e.text(`,"error":`, cmp.Or(s.StatusMessage, "error"))
	}
	first := true
	for name, v := range s.Attributes.All() {
		if !keptAttribute(name) {
			continue
		}
		if first {
			e.raw(`,"attributes":{`)
		}
		e.key(first, name)
		e.value("", v)
		first = false
	}
	if !first {
		e.b = append(e.b, '}')
	}
	e.b = append(e.b, '}')
}

// keptAttribute reports whether a span attribute is kept: what the operation was and what
// it used. Other attributes may contain messages and keys.
func keptAttribute(name string) bool {
	switch name {
	case "span.kind", "gen_ai.operation.name", "gen_ai.agent.name", "gen_ai.tool.name", "gen_ai.request.model", "gen_ai.response.model",
		"gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens":
		return true
	}
	return false
}

// spans returns the trace of a row as a tree: each operation follows its parent.
func (b *detailer) spans(row *value.Object) []DetailSpan {
	list, _ := row.Object("response").At("spans").([]any)
	if len(list) > maxSpans {
		list, b.cut = list[:maxSpans], append(b.cut, "spans")
	}
	flat := make([]DetailSpan, 0, len(list))
	place := map[string]int{}
	for _, v := range list {
		o, _ := v.(*value.Object)
		s := b.span(o)
		if _, again := place[s.ID]; again {
			continue
		}
		place[s.ID] = len(flat)
		flat = append(flat, s)
	}
	children := map[string][]int{}
	for i := range flat {
		s := &flat[i]
		if _, known := place[s.Parent]; !known || s.Parent == s.ID {
			s.Parent = ""
		}
		children[s.Parent] = append(children[s.Parent], i)
	}
	var tree []DetailSpan
	var add func(parent string)
	add = func(parent string) {
		next := children[parent]
		delete(children, parent) // cycles of parents have no root, so they are not reached
		for _, i := range next {
			tree = append(tree, flat[i])
			if flat[i].ID != "" {
				add(flat[i].ID)
			}
		}
	}
	add("")
	return tree
}

func (b *detailer) span(o *value.Object) DetailSpan {
	limit := min(b.limit, spanText)
	s := DetailSpan{ID: b.bound("spans", o.Text("id"), limit), Parent: b.bound("spans", o.Text("parent"), limit), Name: b.bound("spans", o.Text("name"), limit),
		StartMS: num(o, "startMs"), DurationMS: num(o, "durationMs")}
	if text := o.Text("error"); text != "" {
		s.Status = "error: " + b.bound("spans", text, limit)
	}
	for name, v := range o.Object("attributes").All() {
		if name == "span.kind" {
			s.Kind = b.bound("spans", textOf(v), limit)
			continue
		}
		if len(s.Attributes) == maxAttributes {
			b.cut = append(b.cut, "spans")
			break
		}
		s.Attributes = append(s.Attributes, [2]string{b.bound("spans", name, limit), b.bound("spans", shownOf(v), limit)})
	}
	return s
}
