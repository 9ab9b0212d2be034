package flowyaml

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/value"
)

// plain reads a scalar without quotes, on one line or more; ok is false if none
// begins here.
func (p *parser) plain() (s string, ok bool, err error) {
	if !p.startsPlain() {
		return "", false, nil
	}
	start, end := p.i, p.i // end is behind the last character that is no blank
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

// resolve gives a plain scalar its meaning (YAML 1.2 core schema, timestamps and
// the merge key).
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
	base := 10
	if len(digits) > 2 && digits[0] == '0' && (tagged || !signed) {
		switch digits[1] {
		case 'x':
			base = 16
		case 'o':
			base = 8
		case 'b':
			if tagged {
				base = 2
			}
		}
	}
	if base != 10 {
		digits = digits[2:]
	}
	f, ok := number(digits, base)
	if s != "" && s[0] == '-' {
		f = -f
	}
	return f, ok && !math.IsInf(f, 0)
}

func number(digits string, base int) (float64, bool) {
	if digits == "" {
		return 0, false
	}
	for _, c := range []byte(digits) {
		v := 99
		switch {
		case c >= '0' && c <= '9':
			v = int(c - '0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			v = int(c|0x20-'a') + 10
		}
		if v >= base {
			return 0, false
		}
	}
	switch base {
	case 16:
		return value.ToNumber("0x" + digits), true
	case 8:
		return value.ToNumber("0o" + digits), true
	case 2:
		return value.ToNumber("0b" + digits), true
	}
	f, _ := strconv.ParseFloat(digits, 64)
	return f, true
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
	if !isDecimal(body) {
		return 0, false
	}
	f, _ := strconv.ParseFloat(s, 64)
	return f, !math.IsInf(f, 0)
}

// isDecimal reports whether s is digits with a point, an exponent or both.
func isDecimal(s string) bool {
	whole := digitsOf(s)
	s = s[whole:]
	if strings.HasPrefix(s, ".") {
		fraction := digitsOf(s[1:])
		if whole == 0 && fraction == 0 {
			return false
		}
		s = s[1+fraction:]
	} else if whole == 0 {
		return false
	}
	if s == "" {
		return true
	}
	if s[0]|0x20 != 'e' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && digitsOf(s) == len(s)
}

func digitsOf(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// isTimestamp reports whether s is a date, or a date with a time, of YAML 1.1
// that the calendar has.
func isTimestamp(s string) bool {
	d := fields{s: s}
	year, ok1 := d.number(4, 4)
	ok2 := d.skip('-')
	month, ok3 := d.number(1, 2)
	ok4 := d.skip('-')
	day, ok5 := d.number(1, 2)
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 {
		return false
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	// Date.UTC takes years below 100 for those of the twentieth century.
	if t.Year() != year || int(t.Month()) != month || t.Day() != day || year < 100 {
		return false
	}
	if d.s == "" {
		return len(s) == len("2006-01-02")
	}
	return d.clock()
}

// fields takes a timestamp apart from the left.
type fields struct{ s string }

func (d *fields) number(least, most int) (int, bool) {
	n := min(digitsOf(d.s), most)
	if n < least {
		return 0, false
	}
	v, err := strconv.Atoi(d.s[:n])
	d.s = d.s[n:]
	return v, err == nil
}

func (d *fields) skip(c byte) bool {
	if d.s == "" || d.s[0] != c {
		return false
	}
	d.s = d.s[1:]
	return true
}

func (d *fields) blanks() int {
	before := len(d.s)
	d.s = strings.TrimLeft(d.s, " \t")
	return before - len(d.s)
}

func (d *fields) clock() bool {
	if !d.skip('T') && !d.skip('t') && d.blanks() == 0 {
		return false
	}
	hour, ok1 := d.number(1, 2)
	ok2 := d.skip(':')
	minute, ok3 := d.number(2, 2)
	ok4 := d.skip(':')
	second, ok5 := d.number(2, 2)
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || hour > 23 || minute > 59 || second > 59 {
		return false
	}
	if d.skip('.') {
		d.s = d.s[digitsOf(d.s):]
	}
	return d.s == "" || d.zone()
}

func (d *fields) zone() bool {
	d.blanks()
	if d.skip('Z') {
		return d.s == ""
	}
	if !d.skip('+') && !d.skip('-') {
		return false
	}
	hour, ok := d.number(1, 2)
	minute := 0
	if ok && d.skip(':') {
		minute, ok = d.number(2, 2)
	}
	return ok && d.s == "" && hour <= 23 && minute <= 59
}
