package flowyaml

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/value"
)

// plain reads an unquoted scalar of one or more lines; ok is false if none begins
// here.
func (p *parser) plain() (s string, ok bool, err error) {
	if !p.startsPlain() {
		return "", false, nil
	}
	start, end := p.i, p.i // end is after the last character that is not a blank
	for c := p.peek(0); c != 0 && !isFlow(c) && !p.separator(); c = p.peek(0) {
		if c == ':' && endsKey(p.peek(1)) || c == '#' && isBlank(p.buf[p.i-1]) {
			break
		}
		if isBreak(c) {
			p.space(false)
			continue
		}
		p.i++
		if !isSpace(c) {
			end = p.i
		}
	}
	if end == start {
		return "", false, nil
	}
	if !printable(p.buf[start:end]) {
		return "", false, errControl
	}
	return foldLines(p.buf[start:end]), true, nil
}

// endsKey reports whether a colon, question mark or hyphen before c is an
// indicator.
func endsKey(c byte) bool { return c == 0 || isBlank(c) || isFlow(c) }

func (p *parser) startsPlain() bool {
	c := p.peek(0)
	if endsKey(c) || strings.IndexByte("#&*!|>'\"%@`", c) >= 0 {
		return false
	}
	return c != '?' && c != '-' || !endsKey(p.peek(1))
}

// foldLines joins the lines of a plain scalar.
func foldLines(s []byte) string {
	if bytes.IndexByte(s, '\n') < 0 && bytes.IndexByte(s, '\r') < 0 {
		return string(s)
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if !isBreak(s[i]) {
			out = append(out, s[i])
			i++
			continue
		}
		out = bytes.TrimRight(out, " \t")
		breaks := 0
		for ; i < len(s) && isBlank(s[i]); i++ {
			if s[i] == '\n' || s[i] == '\r' && (i+1 == len(s) || s[i+1] != '\n') {
				breaks++
			}
		}
		if breaks == 1 {
			out = append(out, ' ')
		}
		for range breaks - 1 {
			out = append(out, '\n')
		}
	}
	return string(out)
}

// printable reports whether s consists of the characters that YAML allows
// outside quotes (YAML 1.2, c-printable).
func printable(s []byte) bool {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < 0x20 && c != '\t' && c != '\n' && c != '\r' || c == 0x7f {
				return false
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(s[i:])
		lone := n == 1 && c == 0xed && i+1 < len(s) && s[i+1] >= 0xa0
		if lone || r >= 0x80 && r < 0xa0 && r != 0x85 || r == 0xfffe || r == 0xffff {
			return false
		}
		i += n
	}
	return true
}

// resolve converts a plain scalar (YAML 1.2 core schema, timestamps and the merge
// key).
func resolve(s string) node {
	if s == "" {
		return node{}
	}
	switch s {
	case "~", "null", "Null", "NULL":
		return node{}
	case "true", "True", "TRUE":
		return node{value: true}
	case "false", "False", "FALSE":
		return node{value: false}
	case "<<":
		return node{value: value.Undefined{}, merge: true}
	}
	if c := s[0]; c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' {
		if f, ok := integer(s, false); ok {
			return node{value: f}
		}
		if f, ok := float(s); ok {
			return node{value: f}
		}
		if isTimestamp(s) {
			return timestamp()
		}
	}
	return node{value: s}
}

// timestamp stands for a Date, an object without members of its own.
func timestamp() node { return node{value: &value.Object{}, complex: true} }

// integer reads a decimal, 0o octal or 0x hexadecimal number. With the tag !!int
// it may be binary, and any may have a sign.
func integer(s string, tagged bool) (float64, bool) {
	digits := strings.TrimLeft(s[:min(1, len(s))], "+-") + s[min(1, len(s)):]
	signed := len(digits) < len(s)
	f := math.NaN()
	switch {
	case strings.Trim(digits, "0123456789abcdefABCDEFxo") != "":
	case len(digits) > 2 && digits[0] == '0' && (tagged || !signed) && (digits[1] == 'x' || digits[1] == 'o' || tagged && digits[1] == 'b'):
		f = value.ToNumber(digits)
	case digits != "" && strings.Trim(digits, "0123456789") == "":
		f = value.ToNumber(digits)
	}
	if s != "" && s[0] == '-' {
		f = -f
	}
	return f, f == f && !math.IsInf(f, 0)
}

// float reads a decimal fraction, an infinity or NaN.
func float(s string) (float64, bool) {
	body := s
	if s != "" && (s[0] == '-' || s[0] == '+') {
		body = s[1:]
	}
	switch body {
	case ".inf", ".Inf", ".INF":
		if s[0] == '-' {
			return math.Inf(-1), true
		}
		return math.Inf(1), true
	}
	switch s {
	case ".nan", ".NaN", ".NAN":
		return math.NaN(), true
	}
	if !decimal().MatchString(body) {
		return 0, false
	}
	f, _ := strconv.ParseFloat(s, 64)
	return f, !math.IsInf(f, 0)
}

var (
	// decimal matches digits with a point, an exponent or both.
	decimal = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$`)
	})
	// timestampParts matches a date, or a date with a time, of YAML 1.1.
	timestampParts = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:(\d{4}-\d\d-\d\d)|(\d{4}-\d\d?-\d\d?)(?:[Tt]|[ \t]+)([01]?\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]([01]?\d|2[0-3])(?::[0-5]\d)?))?)$`)
	})
)

// isTimestamp reports whether s is a YAML 1.1 date, or date with a time, that
// exists in the calendar.
func isTimestamp(s string) bool {
	m := timestampParts().FindStringSubmatch(s)
	if m == nil {
		return false
	}
	day, err := time.Parse("2006-1-2", m[1]+m[2])
	// Date.UTC reads years below 100 as those of the twentieth century.
	return err == nil && day.Year() >= 100
}
