package proxy

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// api is a format of requests and replies that is recorded.
type api struct {
	name   string // used in metrics and metadata
	suffix string // suffix of the path
	form   provider.AnswerForm
	stream func(pieces) assembly
}

// apis lists the recorded formats. All other requests pass without a record.
var apis = []*api{
	{"chat", "/chat/completions", provider.ChatAnswer, func(p pieces) assembly { return &chatStream{pieces: p} }},
	{"responses", "/responses", provider.ResponsesAnswer, func(p pieces) assembly { return &responsesStream{pieces: p} }},
	{"messages", "/messages", provider.AnthropicAnswer, func(p pieces) assembly { return &messagesStream{pieces: p} }},
	{"completions", "/completions", provider.CompletionAnswer, func(p pieces) assembly { return &chatStream{pieces: p, plain: true} }},
}

// apiOf returns the format of a request; nil if it is not recorded.
func apiOf(method, path string) *api {
	if method != http.MethodPost {
		return nil
	}
	for _, a := range apis {
		if strings.HasSuffix(path, a.suffix) {
			return a
		}
	}
	return nil
}

// assembly builds an answer from the events of a stream.
type assembly interface {
	// add adds the data of one event.
	add(o *value.Object)
	// answer returns the answer so far, in the form of a reply without a stream.
	answer() *value.Object
	// state returns what add has recorded about the stream.
	state() *pieces
}

// pieces is the state that all streams have in common. It bounds their texts.
type pieces struct {
	allow *allowance
	left  int // bytes of text that may still be added

	begun  bool   // a part of the answer has arrived
	ended  bool   // the stream reported that the answer is complete
	cut    bool   // something was left out
	full   bool   // no further text is added, so that texts have no gaps
	failed string // the error that ended the answer
}

func (p *pieces) state() *pieces { return p }

// text appends a piece to a text.
func (p *pieces) text(to *[]byte, piece any) {
	s, _ := piece.(string)
	if s == "" {
		return
	}
	p.begun = true
	if p.full || len(s) > p.left {
		p.cut, p.full = true, true
		return
	}
	if grow := len(*to) + len(s) - cap(*to); grow > 0 && !p.allow.use(max(grow, len(*to)/4)) {
		p.cut, p.full = true, true
		return
	}
	p.left -= len(s)
	*to = append(*to, s...)
}

// hold reserves memory for a value and reports whether there was room.
func (p *pieces) hold(v any) bool {
	n := 0
	switch v := v.(type) {
	case string:
		n = len(v)
	case *value.Object, []any:
		n = len(value.AppendJSON(nil, v))
	}
	if n > p.left || !p.allow.use(n) {
		p.cut = true
		return false
	}
	p.left -= n
	return true
}

// small reports whether a value may be held without being counted, because it replaces an earlier
// value.
func (p *pieces) small(v *value.Object) bool {
	const most = 4 << 10
	if v == nil {
		return false
	}
	if v.Len() > 64 || len(value.AppendJSON(nil, v)) > most {
		p.cut = true
		return false
	}
	return true
}

// fail records an error in the form of any vendor.
func (p *pieces) fail(v any) {
	if p.failed = errorText(v); p.failed == "" {
		p.failed = "the stream reported an error"
	}
}

// errorText returns the message of a vendor's error, with its kind.
func errorText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	o, _ := v.(*value.Object)
	text, kind := o.Text("message"), cmp.Or(o.Text("code"), o.Text("type"))
	switch {
	case kind == "" || kind == "error":
		return text
	case text == "":
		return kind
	}
	return kind + ": " + text
}

func object(v any) *value.Object {
	o, _ := v.(*value.Object)
	return o
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// whole reads a number as an index below limit.
func whole(v any, limit int) (int, bool) {
	f, ok := v.(float64)
	if !ok || f < 0 || f >= float64(limit) || f != float64(int(f)) {
		return 0, false
	}
	return int(f), true
}
