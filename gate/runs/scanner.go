package runs

import (
	"bytes"
	"math"
	"strconv"

	"github.com/proviso-eval/proviso/value"
)

// scanner reads the few members of a row that a comparison needs and skips the rest
// without decoding it. Text that is not JSON sets bad; after that nothing is read. It
// does not check what it skips beyond the ends of strings and brackets.
type scanner struct {
	b   []byte
	i   int
	bad bool
}

func (s *scanner) space() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\n' || s.b[s.i] == '\t' || s.b[s.i] == '\r') {
		s.i++
	}
}

// take consumes c after white space, and reports whether it is there.
func (s *scanner) take(c byte) bool {
	s.space()
	if s.bad || s.i >= len(s.b) || s.b[s.i] != c {
		return false
	}
	s.i++
	return true
}

// members calls do for each member of the object that is next, which do may read;
// otherwise it is skipped. A value of another kind has no members. The key is as
// written, without quotes, and valid during the call.
func (s *scanner) members(do func(key []byte)) {
	if !s.take('{') {
		s.skip()
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
				s.skip()
			}
		}
	}
}

// elements calls do for each element of the array that is next, in the same way.
func (s *scanner) elements(do func()) {
	if !s.take('[') {
		s.skip()
		return
	}
	for first := true; !s.bad && !s.take(']'); first = false {
		if !first && !s.take(',') {
			s.bad = true
			return
		}
		if at := s.i; !s.bad {
			if do(); s.i == at {
				s.skip()
			}
		}
	}
}

// string consumes a string and returns what is between its quotes.
func (s *scanner) string() []byte {
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

// skip consumes the next value and returns its text.
func (s *scanner) skip() []byte {
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
func (s *scanner) word() {
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

// text consumes a string and returns its value; a value of another kind is "".
func (s *scanner) text() string {
	raw := s.skip()
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

// number consumes a number; a value of another kind is NaN.
func (s *scanner) number() float64 {
	f, err := strconv.ParseFloat(string(s.skip()), 64)
	if err != nil || math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}

// whole consumes a number and returns it if it is a whole one from 0 to 2³¹−1, else 0.
func (s *scanner) whole() int {
	f := s.number()
	if f >= 0 && f <= math.MaxInt32 && f == math.Trunc(f) {
		return int(f)
	}
	return 0
}
