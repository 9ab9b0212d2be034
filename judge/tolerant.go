package judge

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/value"
)

// Libraries that repair JSON find some value in any text: the best Go library completes a
// truncated reply to "met" or to true, and splits a text that contains a quotation mark
// into a list of two. A verdict must not come from such a repair. This parser accepts
// four unambiguous mistakes of models, and refuses all others.

// tolerant parses JSON with these mistakes: unescaped line breaks and tabs in texts,
// unescaped quotation marks in texts, texts in single quotation marks, and True, False
// and None.
type tolerant struct {
	text  string
	at    int
	depth int
	loose bool  // a text contains an unescaped quotation mark
	twice error // an object has a duplicate key
}

var errNotJSON = errors.New("it is not JSON")

// valueAt returns the object or list at the beginning of text, and its length. If there
// is none, it returns nil and the number of bytes read.
func valueAt(text string) (*jsonValue, int) {
	v, n, err := value.ParseUniqueJSON(text)
	if twice := duplicate(err); err == nil || twice != nil {
		return &jsonValue{value: v, twice: twice}, n
	}
	read := 1
	var broken *value.SyntaxError
	if errors.As(err, &broken) {
		read = broken.Offset
	}
	p := tolerant{text: text}
	v, err = p.value(inList)
	if err != nil {
		return nil, read + p.at
	}
	// If a text was ended too early, the rest of the reply follows the value.
	if p.loose && imitates(verdictKeys, text[p.at:]) {
		p.twice = errTwoReadings
	}
	return &jsonValue{value: v, twice: p.twice}, p.at
}

var errTwoReadings = errors.New("a quotation mark that is not escaped lets it be read in two ways")

// place is the position of a text, which determines what must follow it.
type place uint8

const (
	inKey place = iota
	inObject
	inList
)

const maxReplyDepth = 32

func (p *tolerant) space() { p.at += spaces(p.text[p.at:]) }

func spaces(text string) int { return len(text) - len(strings.TrimLeft(text, " \t\r\n")) }

// next returns the next byte after white space; 0 at the end.
func (p *tolerant) next() byte {
	p.space()
	return first(p.text[p.at:])
}

func first(text string) byte {
	if text == "" {
		return 0
	}
	return text[0]
}

func (p *tolerant) value(where place) (any, error) {
	if p.depth++; p.depth > maxReplyDepth {
		return nil, errNotJSON
	}
	defer func() { p.depth-- }()
	switch c := p.next(); {
	case c == '{':
		return p.object()
	case c == '[':
		return p.list()
	case c == '"' || c == '\'':
		return p.string(where)
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	return p.word()
}

func (p *tolerant) object() (any, error) {
	o := value.NewObject(4)
	p.at++
	if p.next() == '}' {
		p.at++
		return o, nil
	}
	for {
		if c := p.next(); c != '"' && c != '\'' {
			return nil, errNotJSON
		}
		key, err := p.string(inKey)
		if err != nil {
			return nil, err
		}
		if p.next() != ':' {
			return nil, errNotJSON
		}
		p.at++
		v, err := p.value(inObject)
		if err != nil {
			return nil, err
		}
		if o.Has(key) && p.twice == nil {
			p.twice = &value.DuplicateKeyError{Key: key}
		}
		o.Set(key, v)
		switch p.next() {
		case ',':
			p.at++
		case '}':
			p.at++
			return o, nil
		default:
			return nil, errNotJSON
		}
	}
}

func (p *tolerant) list() (any, error) {
	list := []any{}
	p.at++
	if p.next() == ']' {
		p.at++
		return list, nil
	}
	for {
		v, err := p.value(inList)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		switch p.next() {
		case ',':
			p.at++
		case ']':
			p.at++
			return list, nil
		default:
			return nil, errNotJSON
		}
	}
}

func (p *tolerant) number() (any, error) {
	rest := p.text[p.at:]
	n := len(rest) - len(strings.TrimLeft(rest, "0123456789+-.eE"))
	f, err := strconv.ParseFloat(rest[:n], 64)
	if err != nil {
		return nil, errNotJSON
	}
	p.at += n
	return f, nil
}

// word reads true, false and null, in the spelling of JSON or Python.
func (p *tolerant) word() (any, error) {
	rest := p.text[p.at:]
	n := strings.IndexFunc(rest, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if n < 0 {
		return nil, errNotJSON // an object or a list cannot end in a word
	}
	p.at += n
	switch rest[:n] {
	case "true", "True":
		return true, nil
	case "false", "False":
		return false, nil
	case "null", "None":
		return nil, nil
	}
	return nil, errNotJSON
}

// string reads a text. A quotation mark ends the text if valid syntax for its place
// follows; otherwise it is part of the text.
func (p *tolerant) string(where place) (string, error) {
	quote := p.text[p.at]
	p.at++
	var b strings.Builder
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == '\\':
			if !p.escape(&b) {
				return "", errNotJSON
			}
			continue
		case c == quote:
			if endsText(p.text[p.at+1:], where) {
				p.at++
				return b.String(), nil
			}
			p.loose = true
		case c < ' ' && c != '\n' && c != '\r' && c != '\t':
			return "", errNotJSON
		}
		b.WriteByte(c)
		p.at++
	}
	return "", errNotJSON
}

// escapes are the single-character escapes.
const escapes, escaped = `"\/bfnrt'`, "\"\\/\b\f\n\r\t'"

func (p *tolerant) escape(b *strings.Builder) bool {
	c := first(p.text[p.at+1:])
	if i := strings.IndexByte(escapes, c); i >= 0 {
		b.WriteByte(escaped[i])
		p.at += 2
		return true
	}
	unit := func() (rune, bool) {
		rest := p.text[p.at:]
		if len(rest) < 6 || rest[:2] != `\u` {
			return 0, false
		}
		n, err := strconv.ParseUint(rest[2:6], 16, 16)
		return rune(n), err == nil
	}
	r, ok := unit()
	if !ok {
		return false
	}
	p.at += 6
	if utf16.IsSurrogate(r) {
		low, ok := unit()
		if r = utf16.DecodeRune(r, low); ok && r != utf8.RuneError {
			p.at += 6
		}
	}
	b.WriteRune(r)
	return true
}

// replyKeys are the keys of a reply.
var replyKeys = []string{"results", "id", "criteria", "n", "evidence", "reasoning", "verdict", "met", "pass"}

// endsText reports whether rest may follow a text: a colon after a key; in an object the
// end, or a comma and another key of a reply; in a list the end, or a comma and another
// text.
func endsText(rest string, where place) bool {
	rest = rest[spaces(rest):]
	c := first(rest)
	if where == inKey {
		return c == ':'
	}
	if c == 0 {
		return false
	}
	rest = rest[1:]
	rest = rest[spaces(rest):]
	switch {
	case where == inObject && c == '}', where == inList && c == ']':
		return rest == "" || strings.IndexByte(",]}`", rest[0]) >= 0
	case c != ',' || rest == "" || rest[0] != '"' && rest[0] != '\'':
		return false
	case where == inList:
		return true
	}
	key, _, ok := strings.Cut(rest[1:min(len(rest), 16)], rest[:1])
	if !ok || !slices.Contains(replyKeys, key) {
		return false
	}
	after := rest[len(key)+2:]
	return first(after[spaces(after):]) == ':'
}
