package show

import (
	"strings"
	"unicode"

	"github.com/proviso-eval/proviso/internal/excerpt"
)

// part is a piece of a word diff.
type part struct {
	op   byte // ' ' in both, '-' only in base, '+' only in head
	text string
}

const (
	maxDiffBytes = 16 << 10 // per side; the rest is not shown
	maxDiffWords = 1500     // between the common beginning and end; more than this count as replaced
	context      = 240      // bytes of equal text kept on each side of a change
)

// wordDiff compares two texts word by word: between their common beginning and end, it
// matches the longest common subsequence of words and white space.
func wordDiff(base, head string) []part {
	a, b := words(excerpt.Bytes(base, maxDiffBytes)), words(excerpt.Bytes(head, maxDiffBytes))
	first := 0
	for first < len(a) && first < len(b) && a[first] == b[first] {
		first++
	}
	last := 0
	for last < len(a)-first && last < len(b)-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	var d differ
	d.add(' ', a[:first]...)
	d.middle(a[first:len(a)-last], b[first:len(b)-last])
	d.add(' ', a[len(a)-last:]...)
	return d.joined()
}

// words splits a text into words and the white space between them.
func words(text string) []string {
	var list []string
	start, blank := 0, false
	for i, r := range text {
		if is := unicode.IsSpace(r); i == 0 || is != blank || r == '\n' {
			if i > start {
				list = append(list, text[start:i])
			}
			start, blank = i, is
		}
	}
	if start < len(text) {
		list = append(list, text[start:])
	}
	return list
}

// differ builds the parts of a diff.
type differ struct{ parts []part }

// add appends words, extending the last part if it has the same operation.
func (d *differ) add(op byte, words ...string) {
	if len(words) == 0 {
		return
	}
	d.parts = append(d.parts, part{op, strings.Join(words, "")})
}

// middle matches the words of both sides by dynamic programming over their common
// subsequences.
func (d *differ) middle(a, b []string) {
	if len(a) == 0 || len(b) == 0 || len(a) > maxDiffWords || len(b) > maxDiffWords {
		d.add('-', a...)
		d.add('+', b...)
		return
	}
	width := len(b) + 1
	longest := make([]uint16, (len(a)+1)*width) // length for a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			d.add(' ', a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && longest[(i+1)*width+j] >= longest[i*width+j+1]:
			d.add('-', a[i])
			i++
		default:
			d.add('+', b[j])
			j++
		}
	}
}

// joined merges parts: a blank between two changed words also counts as changed, and
// removed text comes before the text that replaces it.
func (d *differ) joined() []part {
	var out []part
	var removed, added strings.Builder
	flush := func() {
		if removed.Len() > 0 {
			out = append(out, part{'-', removed.String()})
		}
		if added.Len() > 0 {
			out = append(out, part{'+', added.String()})
		}
		removed.Reset()
		added.Reset()
	}
	for i, p := range d.parts {
		changed := removed.Len()+added.Len() > 0
		between := changed && i+1 < len(d.parts) && d.parts[i+1].op != ' ' && strings.TrimSpace(p.text) == "" && !strings.Contains(p.text, "\n")
		switch {
		case p.op == '-':
			removed.WriteString(p.text)
		case p.op == '+':
			added.WriteString(p.text)
		case between:
			removed.WriteString(p.text)
			added.WriteString(p.text)
		default:
			flush()
			if n := len(out); n > 0 && out[n-1].op == ' ' {
				out[n-1].text += p.text
			} else {
				out = append(out, p)
			}
		}
	}
	flush()
	return out
}

// changed reports whether a diff contains a change.
func changed(parts []part) bool {
	for _, p := range parts {
		if p.op != ' ' {
			return true
		}
	}
	return false
}

// folded shortens equal text that is far from a change.
func folded(parts []part) []part {
	out := make([]part, 0, len(parts))
	for i, p := range parts {
		before, after := context, context // bytes kept at the beginning and at the end
		if i == 0 {
			before = 0
		}
		if i == len(parts)-1 {
			after = 0
		}
		if p.op == ' ' && len(p.text) > before+after+len("…") {
			p.text = excerpt.Head(p.text, before) + "…" + p.text[excerpt.Start(p.text, len(p.text)-after):]
		}
		out = append(out, p)
	}
	return out
}
