package rowscan

import (
	"bytes"
	"math"
	"strconv"

	"github.com/proviso-eval/proviso/value"
)

// Scanner reads a few members of a row and skips the rest without decoding it. It
// stops at text that is not JSON and becomes bad. In skipped text, it checks only
// where strings and brackets end.
type Scanner struct {
	b   []byte
	i   int
	bad bool
}

// New returns a scanner of one JSON value.
func New(text []byte) Scanner { return Scanner{b: text} }

// Whole reports whether the text was read to its end and, as far as the scanner
// checks, is JSON.
func (s *Scanner) Whole() bool {
	s.space()
	return !s.bad && s.i == len(s.b)
}

// Bad reports whether the scanner found text that is not JSON.
func (s *Scanner) Bad() bool { return s.bad }

func (s *Scanner) space() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\n' || s.b[s.i] == '\t' || s.b[s.i] == '\r') {
		s.i++
	}
}

// take consumes white space and c, and reports whether c is there.
func (s *Scanner) take(c byte) bool {
	s.space()
	if s.bad || s.i >= len(s.b) || s.b[s.i] != c {
		return false
	}
	s.i++
	return true
}

// Members calls do for each member of the next object. do may read the value;
// otherwise it is skipped. A value of another kind has no members. The key is as
// written, without quotes, and valid only during the call.
func (s *Scanner) Members(do func(key []byte)) {
	if !s.take('{') {
		s.Skip()
		return
	}
	for first := true; !s.bad && !s.take('}'); first = false {
		if !first && !s.take(',') {
			s.bad = true
			return
		}
		s.space()
		key := s.string()
		if !s.take(':') {
			s.bad = true
			return
		}
		if at := s.i; !s.bad {
			if do(key); s.i == at {
				s.Skip()
			}
		}
	}
}

// Elements calls do for each element of the next array, in the same way.
func (s *Scanner) Elements(do func()) {
	if !s.take('[') {
		s.Skip()
		return
	}
	for first := true; !s.bad && !s.take(']'); first = false {
		if !first && !s.take(',') {
			s.bad = true
			return
		}
		if at := s.i; !s.bad {
			if do(); s.i == at {
				s.Skip()
			}
		}
	}
}

// string consumes a string and returns the text between its quotes.
func (s *Scanner) string() []byte {
	if s.bad || s.i >= len(s.b) || s.b[s.i] != '"' {
		s.bad = true
		return nil
	}
	start := s.i + 1
	for at := start; ; {
		n := bytes.IndexByte(s.b[at:], '"')
		if n < 0 {
			s.bad = true
			return nil
		}
		at += n
		escapes := 0
		for at-escapes > start && s.b[at-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			s.i = at + 1
			return s.b[start:at]
		}
		at++
	}
}

// Skip consumes the next value and returns its text.
func (s *Scanner) Skip() []byte {
	s.space()
	start, depth := s.i, 0
	for !s.bad && s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case '"':
			s.string()
		case '{', '[':
			depth++
			s.i++
		case '}', ']':
			depth--
			s.i++
			if depth < 0 {
				s.bad = true
			}
		case ',', ':', ' ', '\n', '\t', '\r':
			s.i++
			if depth == 0 {
				s.bad = true
			}
			continue
		default:
			s.word()
		}
		if depth == 0 && !s.bad {
			return s.b[start:s.i]
		}
	}
	s.bad = true
	return nil
}

// word consumes a number, or true, false or null.
func (s *Scanner) word() {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c == '-', c == '+', c == '.', c == 'E':
			s.i++
			continue
		case c == ',' || c == '}' || c == ']' || c == ':' || c == ' ' || c == '\n' || c == '\t' || c == '\r':
		default:
			s.bad = true
		}
		return
	}
}

// Text consumes a string and returns its value; a value of another kind is "".
func (s *Scanner) Text() string {
	raw := s.Skip()
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	v, err := value.ParseJSON(string(raw))
	if err != nil {
		s.bad = true
	}
	text, _ := v.(string)
	return text
}

// Number consumes a number; a value of another kind is NaN.
func (s *Scanner) Number() float64 {
	f, err := strconv.ParseFloat(string(s.Skip()), 64)
	if err != nil || math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}

// Int consumes a number and returns it if it is a whole number from 0 to 2³¹−1,
// else 0.
func (s *Scanner) Int() int {
	f := s.Number()
	if f >= 0 && f <= math.MaxInt32 && f == math.Trunc(f) {
		return int(f)
	}
	return 0
}
