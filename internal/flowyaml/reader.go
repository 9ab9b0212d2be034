package flowyaml

import (
	"unicode/utf8"

	"github.com/proviso-eval/proviso/value"
)

// reader delivers a text in blocks, so that an attempt that fails early costs little.
// It turns // comments into # comments and adds closing braces after the end of the
// text.
type reader struct {
	raw     string
	pos     int // position in raw
	closers int
	buf     []byte
	done    bool
	slashes bool // turn // into #

	// State of the current line, to tell comments from quoted text and addresses.
	quote     byte // the open quote, 0 if none
	backslash int  // number of backslashes directly before pos
	scheme    bool // the word contains ://
	comment   bool // the rest of the line is a comment
}

// blockSize is the number of bytes that one step adds.
const blockSize = 512

func (r *reader) open(raw string, closers int) {
	*r = reader{raw: raw, closers: closers, buf: r.buf[:0], slashes: r.slashes}
}

// more adds a block to buf; it is false at the end.
func (r *reader) more() bool {
	if r.done {
		return false
	}
	before := len(r.buf)
	if r.slashes {
		for r.pos < len(r.raw) && len(r.buf) < before+blockSize {
			r.step()
		}
	} else {
		end := min(len(r.raw), r.pos+blockSize)
		r.buf = append(r.buf, r.raw[r.pos:end]...)
		r.pos = end
	}
	if r.pos == len(r.raw) {
		r.done = true
		for range r.closers {
			r.buf = append(r.buf, '}')
		}
	}
	return len(r.buf) > before
}

// step copies one character. Comments are recognized only outside quotes. A single
// quote between letters is an apostrophe, and text after :// in a word is part of
// an address.
func (r *reader) step() {
	c := r.raw[r.pos]
	if c == '\n' {
		r.quote, r.backslash, r.scheme, r.comment = 0, 0, false, false
		r.put(1)
		return
	}
	if r.comment {
		r.put(1)
		return
	}
	if c == '/' && r.next() == '/' {
		r.scheme = r.scheme || r.before() == ':'
		if r.quote == 0 && !r.scheme {
			r.hash()
			return
		}
	}
	switch {
	case c == '"' && (r.quote == 0 || r.quote == c && r.backslash%2 == 0),
		c == '\'' && r.quote == 0 && !isLetter(r.before()),
		c == '\'' && r.quote == c && r.backslash%2 == 0 && !isLetter(r.next()):
		r.quote ^= c
	}
	r.backslash++
	if c != '\\' {
		r.backslash = 0
	}
	size := 1
	if c >= utf8.RuneSelf {
		var char rune
		char, size = utf8.DecodeRuneInString(r.raw[r.pos:])
		r.scheme = r.scheme && !value.IsSpace(char)
	} else if value.IsSpace(rune(c)) {
		r.scheme = false
	}
	r.put(size)
}

// hash writes the number signs of a comment: half as many as it has slashes.
func (r *reader) hash() {
	n := 2
	for r.pos+n < len(r.raw) && r.raw[r.pos+n] == '/' {
		n++
	}
	for range n / 2 {
		r.buf = append(r.buf, '#')
	}
	r.pos += n
	r.comment = true
}

func (r *reader) put(n int) {
	r.buf = append(r.buf, r.raw[r.pos:r.pos+n]...)
	r.pos += n
}

// before returns the byte before pos in its line, 0 if there is none.
func (r *reader) before() byte {
	if r.pos == 0 {
		return 0
	}
	return r.raw[r.pos-1]
}

// next returns the byte after pos, 0 if there is none.
func (r *reader) next() byte {
	if r.pos+1 < len(r.raw) {
		return r.raw[r.pos+1]
	}
	return 0
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
