// Package jstoken splits JavaScript and TypeScript source into tokens, so that what a
// file uses can be found without a parser: text in a comment, a string, a template or a
// regular expression is not code. Start at [New].
//
// A [Scanner] accepts any text. Text that is not JavaScript also yields tokens. Time
// and memory grow linearly with the text.
package jstoken

import (
	"unicode"
	"unicode/utf8"
)

// Kind is the kind of a token.
type Kind uint8

// The kinds of tokens. Comments and white space are not tokens.
const (
	Name     Kind = iota // an identifier or a keyword, with # for a private one
	Number               // with its suffix
	String               // in quotes
	Template             // from ` or } to ` or ${
	Regexp               // with its flags
	Punct                // one character, or one of => ?. ... ++ --
)

// Token is a piece of source.
type Token struct {
	Kind       Kind
	Start, End int  // offsets in the source, in bytes
	LineBreak  bool // a line break separates this token from the previous one
}

// The owner of an opening bracket decides what a slash after its closing bracket means.
const (
	group      = byte(iota) // ( of an expression, or [
	condition               // ( of if, for, while or with
	block                   // { of statements
	object                  // { of an expression
	substitute              // ${ of a template
)

// Scanner reads the tokens of a source in order.
type Scanner struct {
	src     string
	at      int
	stack   []byte // open brackets
	operand bool   // the previous token ends an operand, so a slash divides
	last    string // the previous token, if it is a name or a punctuator
	before  string // the token before last
	loops   bool   // the previous token is for, while, if or with
	open    int    // slashes on this line that looked like unclosed regular expressions
	lineEnd int    // end of that line
}

// maxOpen bounds how often the rest of one line is searched for the end of a
// regular expression.
const maxOpen = 64

// New returns a scanner for a source text.
func New(src string) *Scanner {
	s := &Scanner{src: src}
	if len(src) > 1 && src[:2] == "#!" {
		s.at = lineEnd(src, 2)
	}
	return s
}

// Text returns the source of a token.
func (s *Scanner) Text(t Token) string { return s.src[t.Start:t.End] }

// Next returns the next token; false at the end of the source.
func (s *Scanner) Next() (Token, bool) {
	t := Token{LineBreak: s.space()}
	if s.at >= len(s.src) {
		return t, false
	}
	t.Start = s.at
	c := s.src[s.at]
	switch {
	case c == '"' || c == '\'':
		t.Kind, s.at = String, end(stringText, s.src, s.at)
		s.note("", true)
	case c == '`':
		t.Kind = Template
		s.template()
	case c == '}' && len(s.stack) > 0 && s.stack[len(s.stack)-1] == substitute:
		t.Kind = Template
		s.stack = s.stack[:len(s.stack)-1]
		s.template()
	case isDigit(c) || c == '.' && s.at+1 < len(s.src) && isDigit(s.src[s.at+1]):
		t.Kind, s.at = Number, end(numberText, s.src, s.at)
		s.note("", true)
	case c == '/' && !s.operand && s.regexp():
		t.Kind = Regexp
	default:
		if end := nameEnd(s.src, s.at); end > s.at {
			t.Kind = Name
			s.name(end)
		} else {
			t.Kind = Punct
			s.punct()
		}
	}
	t.End = s.at
	return t, true
}

// note records the token that was read.
func (s *Scanner) note(text string, operand bool) {
	s.before, s.last, s.operand, s.loops = s.last, text, operand, false
}

// space skips white space and comments.
func (s *Scanner) space() (lineBreak bool) {
	for s.at < len(s.src) {
		c := s.src[s.at]
		switch {
		case c == '\n' || c == '\r':
			lineBreak = true
			s.at++
		case c == ' ' || c == '\t' || c == '\v' || c == '\f':
			s.at++
		case c == '/' && s.at+1 < len(s.src) && s.src[s.at+1] == '/':
			s.at = lineEnd(s.src, s.at+2)
		case c == '/' && s.at+1 < len(s.src) && s.src[s.at+1] == '*':
			end, breaks := commentEnd(s.src, s.at+2)
			s.at, lineBreak = end, lineBreak || breaks
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(s.src[s.at:])
			if r != '\u2028' && r != '\u2029' && r != '\ufeff' && !unicode.Is(unicode.Zs, r) {
				return lineBreak
			}
			lineBreak = lineBreak || r == '\u2028' || r == '\u2029'
			s.at += n
		default:
			return lineBreak
		}
	}
	return lineBreak
}

// regexp reads a regular expression; false if there is none.
func (s *Scanner) regexp() bool {
	if s.at >= s.lineEnd {
		s.open = 0
	} else if s.open > maxOpen {
		return false
	}
	end, ok := regexpEnd(s.src, s.at)
	if !ok {
		s.open++
		s.lineEnd = end
		return false
	}
	s.at = end
	s.note("", true)
	return true
}

// template reads from ` or } to the end of the template, or to ${.
func (s *Scanner) template() {
	for s.at++; s.at < len(s.src); s.at++ {
		switch s.src[s.at] {
		case '\\':
			s.at++
		case '`':
			s.at++
			s.note("", true)
			return
		case '$':
			if s.at+1 < len(s.src) && s.src[s.at+1] == '{' {
				s.at += 2
				s.stack = append(s.stack, substitute)
				s.note("", false)
				return
			}
		}
	}
	s.at = len(s.src) // also after a trailing backslash
	s.note("", true)
}

// name reads a name that ends at end.
func (s *Scanner) name(end int) {
	text := s.src[s.at:end]
	s.at = end
	member := s.last == "." || s.last == "?."
	s.note(text, member || !isOperator(text))
	s.loops = !member && (text == "if" || text == "for" || text == "while" || text == "with" || text == "await" && s.before == "for")
	if text == "of" && !member && len(s.stack) > 0 && s.stack[len(s.stack)-1] == condition {
		s.operand = false
	}
}

// isOperator reports whether an operand follows a keyword.
func isOperator(name string) bool {
	switch name {
	case "return", "typeof", "instanceof", "in", "new", "delete", "void", "throw", "case", "do", "else",
		"await", "yield", "extends", "default":
		return true
	}
	return false
}

// punct reads a punctuator.
func (s *Scanner) punct() {
	start := s.at
	s.at += punctLength(s.src[s.at:])
	text := s.src[start:s.at]
	switch text {
	case "++", "--": // after an operand, part of that operand
		s.note(text, s.operand)
	case "!": // after an operand it is TypeScript, unless it is part of !=
		s.note(text, s.operand && (s.at == len(s.src) || s.src[s.at] != '='))
	case "(":
		s.push(text, s.loops, condition, group)
	case "[":
		s.push(text, false, group, group)
	case "{":
		s.push(text, s.opensBlock(), block, object)
	case ")":
		s.note(text, s.close() != condition)
	case "]":
		s.close()
		s.note(text, true)
	case "}":
		s.note(text, s.close() == object)
	default:
		s.note(text, false)
	}
}

func (s *Scanner) push(text string, is bool, yes, no byte) {
	kind := no
	if is {
		kind = yes
	}
	s.stack = append(s.stack, kind)
	s.note(text, false)
}

// close removes the innermost bracket and returns its kind.
func (s *Scanner) close() byte {
	if len(s.stack) == 0 {
		return block
	}
	top := s.stack[len(s.stack)-1]
	if top != substitute { // its closing brace continues the template
		s.stack = s.stack[:len(s.stack)-1]
	}
	return top
}

// opensBlock reports whether a brace after the last token begins statements.
func (s *Scanner) opensBlock() bool {
	switch s.last {
	case ")", "{", "}", ";", "=>", "else", "do", "try", "finally", "static":
		return true
	case ":": // a label or a case, unless inside an object
		return len(s.stack) == 0 || s.stack[len(s.stack)-1] == block
	}
	return s.operand || s.last == "" && len(s.stack) == 0
}

// punctLength is the length of the punctuator that text begins with.
func punctLength(text string) int {
	switch {
	case len(text) > 2 && text[:3] == "...":
		return 3
	case len(text) > 1 && (text[:2] == "=>" || text[:2] == "++" || text[:2] == "--"):
		return 2
	case len(text) > 1 && text[:2] == "?." && (len(text) == 2 || !isDigit(text[2])):
		return 2
	}
	_, n := utf8.DecodeRuneInString(text)
	return n
}
