package proxy

import "github.com/proviso-eval/proviso/value"

// block is a part of an answer that arrives in pieces: of an Anthropic message, or of an item of
// /responses.
type block struct {
	start *value.Object // its first event: type, id, name
	text  []byte        // text, thoughts or the JSON of a tool input
}

// object returns the block so far.
func (b *block) object() *value.Object {
	o := b.start.Clone()
	switch kind := o.Text("type"); kind {
	case "text", "thinking", "refusal":
		o.Set(kind, o.Text(kind)+string(b.text))
	case "output_text":
		o.Set("text", string(b.text))
	default:
		if len(b.text) == 0 {
			break
		}
		if input, err := value.ParseJSON(string(b.text)); err == nil {
			o.Set("input", input)
		} else {
			o.Set("input", string(b.text)) // it was cut off
		}
	}
	return o
}

// messagesStream is the stream of POST /v1/messages.
type messagesStream struct {
	pieces
	head   *value.Object // the message without its content; nil before it arrives
	usage  *value.Object
	blocks []*block
	finish any
}

func (s *messagesStream) add(o *value.Object) {
	switch o.At("type") {
	case "message_start":
		if m := o.Object("message"); m != nil && s.head == nil {
			s.head, s.usage = value.NewObject(2), value.NewObject(8)
			headOf(&s.pieces, s.head, m)
			s.count(m.Object("usage"))
		}
	case "content_block_start":
		at, ok := whole(o.At("index"), maxParts)
		b := o.Object("content_block")
		if !ok || at != len(s.blocks) || !s.hold(b) {
			s.cut = true
			return
		}
		s.blocks = append(s.blocks, &block{start: b})
		s.begun = true
	case "content_block_delta":
		at, ok := whole(o.At("index"), len(s.blocks))
		if !ok {
			s.cut = true
			return
		}
		d := o.Object("delta")
		for _, key := range [...]string{"text", "partial_json", "thinking"} {
			s.text(&s.blocks[at].text, d.At(key))
		}
	case "message_delta":
		if reason := text(o.Object("delta").At("stop_reason")); reason != "" && s.hold(reason) {
			s.finish = reason
		}
		s.count(o.Object("usage"))
	case "message_stop":
		s.ended = true
	case "error":
		s.fail(o.At("error"))
	}
}

// count records the numbers of tokens. Later numbers replace earlier ones.
func (s *messagesStream) count(u *value.Object) {
	if s.usage == nil {
		return
	}
	for _, key := range [...]string{"input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"} {
		if n, ok := u.At(key).(float64); ok {
			s.usage.Set(key, n)
		}
	}
}

func (s *messagesStream) answer() *value.Object {
	if s.head == nil {
		return nil
	}
	content := []any{}
	for _, b := range s.blocks {
		content = append(content, b.object())
	}
	o := s.head.Clone()
	o.Set("content", content)
	o.Set("stop_reason", s.finish)
	o.Set("usage", s.usage)
	return o
}
