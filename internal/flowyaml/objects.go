// Package flowyaml finds objects in text and reads them as js-yaml 5 does, with the tags
// of YAML 1.1 that promptfoo adds: JSON, and what models write instead of JSON (single
// quotes, bare keys, comments, trailing commas, Python literals, truncated objects).
//
// Start at [Objects]; [Parse] reads one mapping.
package flowyaml

import (
	"errors"
	"iter"
	"math"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// maxWindow is the maximum length of an object, in UTF-16 units.
const maxWindow = 100_000

// maxWork is the number of bytes that all attempts on one text may read. Normal
// texts are read about once; a hostile text can begin many objects that fail at
// their ends.
const maxWork = 48 << 20

// maxBraces is the maximum number of braces in a text: each takes 32 bytes of
// memory.
const maxBraces = 2 * value.MaxReplyValues

// Objects yields the objects in text from left to right. An object begins at a
// brace and ends where the braces balance; braces in strings count like any other.
// An object that is cut off, by the end of the text or the window of 100,000 UTF-16
// units, gets its closing braces. If an object cannot be read, the search continues
// at the next brace. The only error is an exceeded limit, which ends the sequence.
func Objects(text string) iter.Seq2[*value.Object, error] {
	return func(yield func(*value.Object, error) bool) {
		if n := strings.Count(text, "{") + strings.Count(text, "}"); n > maxBraces {
			yield(nil, proviso.Errorf(proviso.Limit, "the text holds %d braces, and JSON is looked for among at most %d", n, maxBraces))
			return
		}
		s := scanner{text: text, braces: matchBraces(text), units: countUnits(text)}
		s.reader.slashes = strings.Contains(text, "//")
		resume := 0
		for k, b := range s.braces {
			if !b.open || b.at < resume || b.at == len(text)-1 {
				continue
			}
			o, end := s.object(k)
			if s.work > maxWork {
				yield(nil, proviso.Errorf(proviso.Limit, "looking for JSON took more than %d bytes of reading", maxWork))
				return
			}
			if o == nil {
				continue
			}
			if !yield(o, nil) {
				return
			}
			resume = end
		}
	}
}

// Parse reads a text that is one flow mapping, optionally followed by white space
// and comments.
func Parse(text string) (*value.Object, error) {
	p := parser{reader: &reader{}}
	p.open(text, 0)
	return p.document()
}

// brace is one brace of a text.
type brace struct {
	at    int
	open  bool
	match int // index of the closing brace among the braces, -1 if there is none
	depth int // opening minus closing braces, up to this one
}

func matchBraces(text string) []brace {
	if strings.IndexByte(text, '{') < 0 {
		return nil
	}
	var list []brace
	var open []int
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
			open = append(open, len(list))
			list = append(list, brace{i, true, -1, depth})
		case '}':
			depth--
			if n := len(open); n > 0 {
				list[open[n-1]].match = len(list)
				open = open[:n-1]
			}
			list = append(list, brace{i, false, -1, depth})
		}
	}
	return list
}

// unitStep is the distance between known UTF-16 offsets, in bytes.
const unitStep = 1 << 10

// unitIndex holds the UTF-16 offset of every unitStep-th byte of a text that is
// longer than a window; it is nil for a shorter text.
type unitIndex []int

func countUnits(text string) unitIndex {
	if len(text) <= maxWindow {
		return nil
	}
	index := make(unitIndex, 0, len(text)/unitStep+1)
	units := 0
	for i := range len(text) {
		if i%unitStep == 0 {
			index = append(index, units)
		}
		units += unitsOf(text[i])
	}
	return index
}

// unitsOf is the number of UTF-16 units that begin at a byte of UTF-8.
func unitsOf(b byte) int {
	switch {
	case b&0xc0 == 0x80:
		return 0
	case b >= 0xf0:
		return 2
	}
	return 1
}

// at returns the UTF-16 offset of byte i.
func (x unitIndex) at(text string, i int) int {
	step := min(i/unitStep, len(x)-1)
	units := x[step]
	for _, b := range []byte(text[step*unitStep : i]) {
		units += unitsOf(b)
	}
	return units
}

// find returns the first byte, from byte i on, whose UTF-16 offset is at least
// units.
func (x unitIndex) find(text string, i, units int) int {
	step := i / unitStep
	for step+1 < len(x) && x[step+1] <= units {
		step++
	}
	have := x[step]
	for i = step * unitStep; i < len(text) && (have < units || text[i]&0xc0 == 0x80); i++ {
		have += unitsOf(text[i])
	}
	return i
}

// scanner finds the objects of one text.
type scanner struct {
	text   string
	braces []brace
	units  unitIndex
	reader reader
	work   int // bytes read
	wasted int // bytes read in failed attempts to parse JSON
}

// object tries to read the object that begins at the k-th brace and returns its
// end.
func (s *scanner) object(k int) (o *value.Object, end int) {
	b := s.braces[k]
	end, closers := len(s.text), 0
	if b.match >= 0 {
		end = s.braces[b.match].at + 1
	} else {
		closers = s.braces[len(s.braces)-1].depth - b.depth + 1
	}
	if end-b.at > maxWindow {
		if units := s.units.at(s.text, b.at); s.units.at(s.text, end)-units > maxWindow {
			end = s.units.find(s.text, b.at, units+maxWindow)
			closers = s.depthAt(end) - b.depth + 1
		}
	}
	if closers == 0 {
		if o := s.json(s.text[b.at:end]); o != nil {
			return o, end
		}
	}
	p := parser{reader: &s.reader}
	p.open(s.text[b.at:end], closers)
	o, err := p.document()
	s.work += len(s.reader.buf)
	if err != nil {
		return nil, 0
	}
	return o, end
}

// depthAt returns the brace depth before byte i.
func (s *scanner) depthAt(i int) int {
	low, high := 0, len(s.braces)
	for low < high {
		if mid := (low + high) / 2; s.braces[mid].at < i {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return s.braces[low-1].depth
}

// json reads text as JSON, which is YAML and by far the most common form. It
// returns nil if text is not JSON, or if YAML would read it differently.
func (s *scanner) json(text string) *value.Object {
	if s.wasted > len(s.text) || !startsJSON(text) {
		return nil
	}
	v, err := value.ParseJSON(text)
	if err == nil {
		if o, ok := v.(*value.Object); ok && alike(v, 1) {
			s.work += len(text)
			return o
		}
		s.wasted += len(text)
		return nil
	}
	var syntax *value.SyntaxError
	if errors.As(err, &syntax) {
		s.wasted += syntax.Offset
	}
	return nil
}

// startsJSON reports whether a key or the end follows the brace.
func startsJSON(text string) bool {
	rest := strings.TrimLeft(text[1:], " \t\r\n")
	return rest != "" && (rest[0] == '"' || rest[0] == '}')
}

// alike reports whether YAML reads a JSON value as JSON does: YAML nests less deeply,
// and reads numbers that overflow as text.
func alike(v any, depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch v := v.(type) {
	case float64:
		return !math.IsInf(v, 0)
	case []any:
		for _, e := range v {
			if !alike(e, depth+1) {
				return false
			}
		}
	case *value.Object:
		for _, e := range v.All() {
			if !alike(e, depth+1) {
				return false
			}
		}
	}
	return true
}
