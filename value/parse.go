package value

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxDepth is the maximum nesting of arrays and objects in JSON.
const MaxDepth = 10000

// MaxReplyValues limits the values in JSON from the network, not counting keys. A value
// takes up to 200 bytes of memory but may take only two bytes of text: without a limit, a
// reply of 64 MiB would take 4 GB.
const MaxReplyValues = 1_000_000

// ErrTooMany means that JSON from the network has more than [MaxReplyValues] values.
var ErrTooMany error = fmt.Errorf("the JSON holds more than %d values", MaxReplyValues)

// lookAfter is the number of values read between two checks of the context.
const lookAfter = 1024

// SyntaxError describes why a text is not valid JSON, and where.
type SyntaxError struct {
	Offset  int    // bytes before the mistake
	Message string // what was expected there
}

// Error returns the message with its offset.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s at offset %d", e.Message, e.Offset) }

// ParseJSON reads one JSON text as JSON.parse does: only JSON white space may surround it,
// the last of equal keys wins, numbers are float64. Lone surrogates are kept in their
// three-byte form, so that lengths are those of JavaScript. Strings without escapes share
// the memory of text. The error is a *[SyntaxError].
func ParseJSON(text string) (any, error) { return parseJSON(parser{s: text}) }

// ParseJSONContext is [ParseJSON] with a context. If ctx ends first, its cause is the
// error.
func ParseJSONContext(ctx context.Context, text string) (any, error) {
	return parseJSON(parser{s: text, ctx: ctx})
}

// ParseReply is [ParseJSONContext] for text from the network: replies, responses and the
// outputs in them. The error for more than [MaxReplyValues] values is [ErrTooMany]. The
// length of the text is not limited.
func ParseReply(ctx context.Context, text string) (any, error) {
	return parseJSON(parser{s: text, ctx: ctx, most: MaxReplyValues})
}

func parseJSON(p parser) (any, error) {
	v, err := p.whole(nil)
	if err == nil && p.twice != nil {
		err = p.twice
	}
	return v, err
}

// whole reads a value and checks that nothing follows it.
func (p *parser) whole(m *memo) (any, error) {
	p.space()
	v, err := p.value(0, m)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.i < len(p.s) {
		return nil, p.fail("unexpected text after the JSON value")
	}
	return v, nil
}

// ParseJSONPrefix reads the JSON value at the beginning of text and returns its length in
// bytes.
func ParseJSONPrefix(text string) (any, int, error) {
	p := parser{s: text}
	p.space()
	v, err := p.value(0, nil)
	return v, p.i, err
}

type parser struct {
	s   string
	i   int
	buf []byte // for strings with escapes

	ctx   context.Context // nil if reading cannot be cancelled
	most  int             // maximum number of values; 0 means no limit
	steps int             // values read so far

	unique bool // keys must be unique
	twice  *DuplicateKeyError
}

func (p *parser) fail(format string, args ...any) error {
	return &SyntaxError{Offset: p.i, Message: fmt.Sprintf(format, args...)}
}

func (p *parser) space() {
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return
		}
	}
}

// value reads a value. m, which may be nil, is the memo of this place in the previous text.
func (p *parser) value(depth int, m *memo) (any, error) {
	if m != nil {
		return p.remembered(depth, m)
	}
	if p.ctx != nil {
		if p.steps++; p.steps%lookAfter == 0 && p.ctx.Err() != nil {
			return nil, context.Cause(p.ctx)
		}
		if p.most > 0 && p.steps > p.most {
			return nil, ErrTooMany
		}
	}
	if p.i >= len(p.s) {
		return nil, p.fail("unexpected end of JSON")
	}
	switch c := p.s[p.i]; {
	case c == '"':
		return p.boxed()
	case c == '{':
		return p.object(depth+1, nil)
	case c == '[':
		return p.array(depth+1, nil)
	case c == '-' || (c >= '0' && c <= '9'):
		return p.number()
	case p.literal("true"):
		return true, nil
	case p.literal("false"):
		return false, nil
	case p.literal("null"):
		return nil, nil
	}
	r, _ := utf8.DecodeRuneInString(p.s[p.i:])
	return nil, p.fail("unexpected %q in JSON", r)
}

func (p *parser) literal(word string) bool {
	if !strings.HasPrefix(p.s[p.i:], word) {
		return false
	}
	p.i += len(word)
	return true
}

func (p *parser) object(depth int, m *memo) (any, error) {
	if depth > MaxDepth {
		return nil, p.fail("JSON nests deeper than %d", MaxDepth)
	}
	p.i++
	b := objectBuilder{memo: m}
	p.space()
	if p.i < len(p.s) && p.s[p.i] == '}' {
		p.i++
		return b.object(), nil
	}
	for {
		p.space()
		if p.i >= len(p.s) || p.s[p.i] != '"' {
			return nil, p.fail("expected a quoted key in JSON")
		}
		key, err := p.key(&b)
		if err != nil {
			return nil, err
		}
		p.space()
		if p.i >= len(p.s) || p.s[p.i] != ':' {
			return nil, p.fail("expected ':' after a key in JSON")
		}
		p.i++
		p.space()
		v, err := p.value(depth, m.member(b.n))
		if err != nil {
			return nil, err
		}
		p.add(&b, key, v)
		if done, err := p.next('}'); done || err != nil {
			return b.object(), err
		}
	}
}

func (p *parser) array(depth int, m *memo) (any, error) {
	if depth > MaxDepth {
		return nil, p.fail("JSON nests deeper than %d", MaxDepth)
	}
	p.i++
	list := make([]any, 0, m.size())
	p.space()
	if p.i < len(p.s) && p.s[p.i] == ']' {
		p.i++
		return list, nil
	}
	for {
		p.space()
		v, err := p.value(depth, m.member(len(list)))
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if done, err := p.next(']'); done || err != nil {
			return list, err
		}
	}
}

// next reads the comma between members, or the end of the container.
func (p *parser) next(end byte) (bool, error) {
	p.space()
	if p.i >= len(p.s) {
		return false, p.fail("unexpected end of JSON")
	}
	switch p.s[p.i] {
	case ',':
		p.i++
		return false, nil
	case end:
		p.i++
		return true, nil
	}
	return false, p.fail("expected ',' or '%c' in JSON", end)
}

func (p *parser) number() (any, error) {
	start := p.i
	if p.s[p.i] == '-' {
		p.i++
	}
	switch n := p.digits(); {
	case n == 0:
		return nil, p.fail("expected a digit in JSON")
	case n > 1 && p.s[p.i-n] == '0':
		p.i -= n - 1
		return nil, p.fail("a JSON number has no leading zero")
	case n <= 15 && (p.i >= len(p.s) || (p.s[p.i] != '.' && p.s[p.i]|0x20 != 'e')):
		return smallInteger(p.s[start:p.i]), nil
	}
	if p.i < len(p.s) && p.s[p.i] == '.' {
		p.i++
		if p.digits() == 0 {
			return nil, p.fail("expected a digit in JSON")
		}
	}
	if p.i < len(p.s) && p.s[p.i]|0x20 == 'e' {
		p.i++
		if p.i < len(p.s) && (p.s[p.i] == '+' || p.s[p.i] == '-') {
			p.i++
		}
		if p.digits() == 0 {
			return nil, p.fail("expected a digit in JSON")
		}
	}
	f, _ := strconv.ParseFloat(p.s[start:p.i], 64) // out of range gives ±Inf, as in JavaScript
	return f, nil
}

func (p *parser) digits() int {
	start := p.i
	for p.i < len(p.s) && p.s[p.i] >= '0' && p.s[p.i] <= '9' {
		p.i++
	}
	return p.i - start
}

func smallInteger(s string) float64 {
	neg := s[0] == '-'
	if neg {
		s = s[1:]
	}
	n := int64(0)
	for i := range len(s) {
		n = n*10 + int64(s[i]-'0')
	}
	if neg {
		return math.Copysign(float64(n), -1)
	}
	return float64(n)
}

// boxed reads a string as a value.
func (p *parser) boxed() (any, error) {
	s, err := p.str()
	if err != nil {
		return nil, err
	}
	return s, nil
}
