package suite

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Filter chooses cases. The zero value keeps all. The fields are applied in order;
// positions count the cases that earlier fields kept.
type Filter struct {
	Metadata []string // "key=value": the case's metadata contains the text; all must match
	Rows     *RowSet  // rows of an earlier report; keeps a case if its variables are among them
	Pattern  string   // regular expression (RE2) that the description must match
	Range    string   // "from:to", from 0, exclusive; either may be left out
	First    int      // how many cases from the beginning; 0 means all
	Sample   int      // how many random cases; 0 means all
	Seed     *uint64  // seed of the sample; nil draws a new sample each time
}

// filterPart is one setting of a filter.
type filterPart struct {
	flag, key string // name of the flag, and of the key in a suite
	only      Filter
}

// parts returns the settings that are texts, which may be invalid.
func (f Filter) parts() []filterPart {
	return []filterPart{
		{"--filter-metadata", "filterMetadata", Filter{Metadata: f.Metadata}},
		{"--filter-pattern", "filterPattern", Filter{Pattern: f.Pattern}},
		{"--filter-range", "filterRange", Filter{Range: f.Range}},
	}
}

// filter is a checked Filter.
type filter struct {
	metadata [][2]string
	rows     *RowSet
	pattern  *regexp.Regexp
	from, to int // to is -1 if there is no end
	ranged   bool
	first    int
	sample   int
	seed     uint64
}

func (f Filter) compile() (filter, error) {
	c := filter{rows: f.Rows, first: f.First, sample: f.Sample, to: -1}
	for _, m := range f.Metadata {
		key, value, ok := strings.Cut(m, "=")
		if !ok || key == "" {
			return c, proviso.Errorf(proviso.Invalid, "the metadata filter %q is not key=value", m)
		}
		c.metadata = append(c.metadata, [2]string{key, value})
	}
	if f.Pattern != "" {
		re, err := regexp.Compile(f.Pattern)
		if err != nil {
			return c, proviso.Errorf(proviso.Invalid, "the filter pattern %q is not a regular expression: %w", f.Pattern, err)
		}
		c.pattern = re
	}
	if f.First < 0 || f.Sample < 0 {
		return c, proviso.Errorf(proviso.Invalid, "a filter cannot keep fewer than no cases")
	}
	if f.Range != "" {
		if err := c.parseRange(f.Range); err != nil {
			return c, err
		}
	}
	c.seed = rand.Uint64()
	if f.Seed != nil {
		c.seed = *f.Seed
	}
	return c, nil
}

func (f *filter) parseRange(text string) error {
	from, to, ok := strings.Cut(text, ":")
	var err1, err2 error
	if from != "" {
		f.from, err1 = strconv.Atoi(from)
	}
	if to != "" {
		f.to, err2 = strconv.Atoi(to)
	}
	if !ok || err1 != nil || err2 != nil || f.from < 0 || f.to < -1 || (to != "" && f.to < f.from) {
		return proviso.Errorf(proviso.Invalid, "the range %q is not from:to, such as 0:10", text)
	}
	f.ranged = true
	return nil
}

// active reports whether the filter leaves out any cases.
func (f *filter) active() bool {
	return len(f.metadata) > 0 || f.rows != nil || f.pattern != nil || f.ranged || f.first > 0 || f.sample > 0
}

// explain returns a message about the filters that left no case.
func (f *filter) explain(read int) string {
	var names []string
	for _, m := range f.metadata {
		names = append(names, fmt.Sprintf("metadata %s=%s", m[0], m[1]))
	}
	if f.rows != nil {
		names = append(names, "the rows of the earlier report")
	}
	if f.pattern != nil {
		names = append(names, fmt.Sprintf("the pattern %q", f.pattern))
	}
	if f.ranged {
		names = append(names, "the range")
	}
	if len(names) == 0 {
		names = append(names, "the filter")
	}
	return fmt.Sprintf("none of %d cases matches %s", read, strings.Join(names, ", "))
}

// filter reports whether a case is kept, and whether a later one may be.
func (p *pass) filter(l *layer) (keep, more bool) {
	f := &p.source.filter
	if !f.active() {
		return true, true
	}
	if !f.keepMetadata(l.metadata) || !p.keepRows(l) || (f.pattern != nil && !f.pattern.MatchString(l.proto.Description)) {
		return false, true
	}
	position := p.matched
	p.matched++
	from, to := f.from, f.to
	if f.first > 0 && (to < 0 || from+f.first < to) {
		to = from + f.first
	}
	switch {
	case to >= 0 && position >= to:
		p.matched--
		return false, false
	case position < from:
		return false, true
	}
	if p.keep != nil {
		_, keep = p.keep[position]
		return keep, true
	}
	return true, to < 0 || position+1 < to
}

func (f *filter) keepMetadata(metadata *value.Object) bool {
	for _, m := range f.metadata {
		v, ok := metadata.Get(m[0])
		if !ok || !holdsText(v, m[1]) {
			return false
		}
	}
	return true
}

// holdsText reports whether a value, or a member of a list, contains a text.
func holdsText(v any, text string) bool {
	list, ok := v.([]any)
	if !ok {
		return strings.Contains(value.ToString(v), text)
	}
	for _, e := range list {
		if strings.Contains(value.ToString(e), text) {
			return true
		}
	}
	return false
}

// draw chooses which of n cases a sample keeps (Floyd's algorithm: Bentley and
// Floyd, "A sample of brilliance", 1987).
func (f *filter) draw(n int) map[int]struct{} {
	r := rand.New(rand.NewPCG(f.seed, 0))
	first := min(f.from, n)
	last := n
	keep := make(map[int]struct{}, min(f.sample, last-first))
	for i := max(first, last-f.sample); i < last; i++ {
		at := first + r.IntN(i-first+1)
		if _, taken := keep[at]; taken {
			at = i
		}
		keep[at] = struct{}{}
	}
	return keep
}
