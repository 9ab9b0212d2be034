package proxy

import (
	"bytes"
	"slices"
)

// maxNesting is the maximum depth of recorded JSON.
const maxNesting = 256

// trimmer copies JSON in pieces as they pass, and keeps the copy valid within its limits. The rest
// of a string that is too long is left out. At the size limit the copy ends, with its brackets
// closed. It does not validate the JSON; the reader of the copy does.
type trimmer struct {
	allow *allowance
	most  int // bytes of the copy
	text  int // bytes of one string

	buf     []byte
	stack   []byte // open brackets
	quoted  bool
	escaped int // bytes of an escape sequence that are still missing
	length  int // length of the current string
	long    bool
	good    int // length of buf after the last complete member
	depth   int // length of stack at that point
	one     [1]byte
	cut     bool
	done    bool // nothing more is copied
}

// write copies the next piece.
func (t *trimmer) write(p []byte) {
	for len(p) > 0 && !t.done {
		if t.quoted {
			p = p[t.inString(p):]
			continue
		}
		n := structural(p)
		if n < 0 {
			t.add(p)
			return
		}
		t.add(p[:n])
		t.structure(p[n])
		p = p[n+1:]
	}
}

// structural finds the first byte with a meaning outside of strings.
func structural(p []byte) int {
	for i, b := range p {
		switch b {
		case '"', '{', '}', '[', ']', ',':
			return i
		}
	}
	return -1
}

// add copies bytes, or ends the copy if there is no room for them.
func (t *trimmer) add(p []byte) {
	if len(p) == 0 || t.done {
		return
	}
	if len(t.buf)+len(p) > t.most || !t.allow.use(len(p)) {
		t.end()
		return
	}
	if grown := len(t.buf) + len(p); grown > cap(t.buf) {
		t.buf = slices.Grow(t.buf, max(step, len(t.buf), len(p)))
	}
	t.buf = append(t.buf, p...)
}

// end cuts the copy after its last complete member, and closes it.
func (t *trimmer) end() {
	t.cut, t.done = true, true
	t.buf = t.buf[:t.good]
	for i := t.depth - 1; i >= 0; i-- {
		t.buf = append(t.buf, t.stack[i]+2) // ] and } are two code points after [ and {
	}
}

// structure copies one byte with a meaning outside of strings.
func (t *trimmer) structure(b byte) {
	switch b {
	case '"':
		t.quoted, t.length, t.long = true, 0, false
	case ',':
		t.good, t.depth = len(t.buf), len(t.stack)
	case '{', '[':
		if len(t.stack) == maxNesting {
			t.end()
			return
		}
		t.stack = append(t.stack, b)
	case '}', ']':
		if len(t.stack) == 0 || t.stack[len(t.stack)-1]+2 != b {
			t.done = true // not JSON
			return
		}
	}
	t.one[0] = b
	t.add(t.one[:])
	if (b == '}' || b == ']') && !t.done { // if there was no room for it, the copy was closed without it
		t.stack = t.stack[:len(t.stack)-1]
		t.good, t.depth = len(t.buf), len(t.stack)
	}
}

// inString copies a part of a string and returns how many bytes of p it consumed.
func (t *trimmer) inString(p []byte) int {
	if t.escaped > 0 {
		if t.escaped == 1 && p[0] == 'u' { // the first byte after the backslash
			t.escaped = 5
		}
		t.inner(p[:1])
		t.escaped--
		return 1
	}
	n := bytes.IndexByte(p, '"')
	end := p
	if n >= 0 {
		end = p[:n]
	}
	if at := bytes.IndexByte(end, '\\'); at >= 0 {
		n = at
	}
	if n < 0 {
		t.inner(p)
		return len(p)
	}
	t.inner(p[:n])
	if p[n] == '\\' {
		if t.length >= t.text { // escape sequences are not cut
			t.skip()
		}
		t.escaped = 1
		t.inner(p[n : n+1])
		return n + 1
	}
	t.quoted = false
	t.add(p[n : n+1])
	return n + 1
}

// inner copies bytes of a string, up to its limit. An escape sequence that has started is copied
// completely.
func (t *trimmer) inner(p []byte) {
	if t.long {
		return
	}
	if room := t.text - t.length; len(p) > room && t.escaped == 0 {
		p = p[:max(0, room)]
		t.length += len(p)
		t.add(p)
		t.skip()
		return
	}
	t.length += len(p)
	t.add(p)
}

// skip leaves out the rest of a string.
func (t *trimmer) skip() {
	if !t.long && !t.done {
		t.buf = t.buf[:seam(t.buf, t.length)]
		t.add([]byte(mark))
	}
	t.long, t.cut = true, true
}

// secretLength is how many bytes before a cut are removed as well, because a secret that was cut in
// two no longer looks like one to a redactor.
const secretLength = 128

// seam returns where to cut a string of this length at the end of b: not in an escape sequence, and
// far enough before its end that no part of a secret remains.
func seam(b []byte, length int) int {
	begin := max(0, len(b)-length)
	for i := len(b) - secretLength; i > begin+secretLength; i-- {
		if b[i] == ' ' {
			return i
		}
		if i < len(b)-2*secretLength && b[i]&0xC0 != 0x80 && bytes.IndexByte(b[i-12:i], '\\') < 0 {
			return i
		}
	}
	return begin
}

// mark marks where a text was cut off.
const mark = "…"

// close closes the open brackets of a text that ended early.
func (t *trimmer) close() {
	if !t.done && (len(t.stack) > 0 || t.quoted) {
		t.end()
	}
	t.done = true
}
