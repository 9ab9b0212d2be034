package proxy

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// item is a part of an answer of POST /responses that arrives in pieces.
type item struct {
	value     *value.Object // its first or its last form
	done      bool          // value is complete
	content   map[int]*block
	arguments []byte
}

// responsesStream is the stream of POST /responses.
type responsesStream struct {
	pieces
	head  value.Object
	final *value.Object // the answer in the last event
	items []*item
}

// answerFields are the recorded members of an answer.
var answerFields = [...]string{"id", "model", "status", "service_tier", "error", "incomplete_details", "usage", "output"}

func (s *responsesStream) add(o *value.Object) {
	kind := o.Text("type")
	switch kind {
	case "error":
		s.fail(cmp.Or(o.Object("error"), o)) // the error is a member, or the event itself
		return
	case "response.completed", "response.incomplete", "response.failed":
		s.finish(kind, o.Object("response"))
		return
	}
	if r := o.Object("response"); r != nil {
		headOf(&s.pieces, &s.head, r)
		return
	}
	at, ok := whole(o.At("output_index"), maxParts)
	if !ok {
		return
	}
	for at >= len(s.items) {
		s.items = append(s.items, &item{content: map[int]*block{}})
	}
	i := s.items[at]
	switch kind {
	case "response.output_item.added", "response.output_item.done":
		v := o.Object("item")
		if v != nil && s.hold(v) {
			i.value, i.done = v, strings.HasSuffix(kind, ".done")
			s.begun = s.begun || v.Text("type") == "function_call"
		}
	case "response.output_text.delta":
		s.part(i, "output_text", o)
	case "response.refusal.delta":
		s.part(i, "refusal", o)
	case "response.function_call_arguments.delta":
		s.text(&i.arguments, o.At("delta"))
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		s.begun = true
	}
}

// part adds to one content part of an item.
func (s *responsesStream) part(i *item, kind string, o *value.Object) {
	at, ok := whole(o.At("content_index"), maxParts)
	if !ok {
		return
	}
	if i.content[at] == nil {
		i.content[at] = &block{start: value.ObjectOf("type", kind)}
	}
	s.text(&i.content[at].text, o.At("delta"))
}

// finish reads the last event, which contains the whole answer.
func (s *responsesStream) finish(kind string, r *value.Object) {
	s.ended = true
	if e := r.At("error"); e != nil {
		s.fail(e)
	} else if kind == "response.failed" {
		s.fail(nil)
	}
	kept := value.NewObject(len(answerFields))
	for _, key := range answerFields {
		if v, ok := r.Get(key); ok {
			kept.Set(key, v)
		}
	}
	if !s.allow.use(len(value.AppendJSON(nil, kept))) {
		s.cut = true
		return
	}
	s.final, s.begun = kept, true
}

func (s *responsesStream) answer() *value.Object {
	if len(list(s.final.At("output"))) > 0 || s.final != nil && len(s.items) == 0 {
		return s.final
	}
	if s.final == nil && len(s.items) == 0 {
		return nil
	}
	var output []any
	for _, i := range s.items {
		if o := i.object(); o != nil {
			output = append(output, o)
		}
	}
	o := s.head.Clone()
	for key, v := range s.final.All() {
		o.Set(key, v)
	}
	if o.Text("status") == "" {
		o.Set("status", "incomplete")
	}
	if output == nil {
		output = []any{}
	}
	o.Set("output", output)
	return o
}

// object returns the item so far.
func (i *item) object() *value.Object {
	if i.done {
		return i.value
	}
	o := i.value.Clone()
	if len(i.arguments) > 0 || o.Text("type") == "function_call" {
		o.Set("type", "function_call")
		o.Set("arguments", string(i.arguments))
		return o
	}
	if len(i.content) == 0 {
		return i.value
	}
	var content []any
	for _, at := range slices.Sorted(maps.Keys(i.content)) {
		content = append(content, i.content[at].object())
	}
	o.Set("type", "message")
	o.Set("role", "assistant")
	o.Set("content", content)
	return o
}
