package judge

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
)

// The libraries that repair JSON are made to find some value in any text: the best
// one in Go completes a reply that was cut, to "met" or to true, and makes a list
// of two texts of one that has a quotation mark in it. A verdict may not come
// about like that. This reader knows four mistakes of models that can be read in
// one way only, and refuses all others.

// tolerant reads JSON with these mistakes: line breaks and tabs as they are inside
// a text, quotation marks inside a text that are not escaped, texts between single
// quotation marks, and True, False and None.
type tolerant struct {
	text  string
	at    int
	depth int
	loose bool  // a text has a quotation mark in it that was not escaped
	twice error // an object has a key twice
}

var errNotJSON = errors.New("it is not JSON")

// valueAt returns the object or list that text begins with, and its length. If
// there is none it returns nil and how far it read.
func valueAt(text string) (*jsonValue, int) {
	v, n, err := proviso.ParseUniqueJSON(text)
	if twice := duplicate(err); err == nil || twice != nil {
		return &jsonValue{value: v, twice: twice}, n
	}
	read := 1
	var broken *proviso.SyntaxError
	if errors.As(err, &broken) {
		read = broken.Offset
	}
	p := tolerant{text: text}
	v, err = p.value(inList)
	if err != nil {
		return nil, read + p.at
	}
	// A text that ended too early leaves the rest of the reply behind the value.
	if p.loose && imitates(verdictKeys, text[p.at:]) {
		p.twice = errTwoReadings
	}
	return &jsonValue{value: v, twice: p.twice}, p.at
}

var errTwoReadings = errors.New("a quotation mark that is not escaped lets it be read in two ways")

// place is where a text stands, which says what has to follow it.
type place uint8

const (
	inKey place = iota
	inObject
	inList
)

const maxReplyDepth = 32

func (p *tolerant) space() { p.at += spaces(p.text[p.at:]) }

func spaces(text string) int { return len(text) - len(strings.TrimLeft(text, " \t\r\n")) }

// next returns the next byte behind white space; 0 at the end.
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
	o := proviso.NewObject(4)
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
			p.twice = &proviso.DuplicateKeyError{Key: key}
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

// word reads the values that are written as words, as JSON and Python have them.
func (p *tolerant) word() (any, error) {
	rest := p.text[p.at:]
	n := strings.IndexFunc(rest, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if n < 0 {
		return nil, errNotJSON // nothing can end with a word
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

// string reads a text. A quotation mark ends it if what follows is what has to
// follow a text in this place; otherwise it is a part of the text.
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

// escapes are the escapes of one character.
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

// endsText reports whether rest is what has to follow a text: after a key a colon,
// in an object its end or a comma and another key of a reply, in a list its end or
// a comma and another text.
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
