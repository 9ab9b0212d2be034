package ingest

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// prefilter cheaply reports that a pattern has no match in a text, because something that every
// match contains is missing. It is several hundred times as fast as the pattern.
type prefilter struct {
	literal string     // text that every match contains, if not ""
	class   *[256]bool // otherwise every match contains run consecutive bytes of this class; nil excludes nothing
	run     int
}

// pattern is a compiled pattern with its prefilter.
type pattern struct {
	*regexp.Regexp
	needs prefilter
}

func compilePattern(text string) (pattern, error) {
	re, err := regexp.Compile(text)
	if err != nil {
		return pattern{}, err
	}
	p := pattern{Regexp: re}
	if tree, err := syntax.Parse(text, syntax.Perl); err == nil {
		p.needs = needsOf(tree.Simplify())
	}
	return p, nil
}

// redact replaces the matches of the pattern.
func (p *pattern) redact(text string) string {
	if !p.needs.in(text) || !p.MatchString(text) {
		return text
	}
	return p.ReplaceAllLiteralString(text, Removed)
}

// in reports whether a text may contain a match.
func (f *prefilter) in(text string) bool {
	switch {
	case f.literal != "":
		return strings.Contains(text, f.literal)
	case f.class == nil:
		return true
	}
	// A run of f.run bytes contains one of the bytes at these positions, so the others are skipped.
	for i := f.run - 1; i < len(text); {
		if !f.class[text[i]] {
			i += f.run
			continue
		}
		start := i
		for start > 0 && i-start < f.run && f.class[text[start-1]] {
			start--
		}
		end := i + 1
		for end < len(text) && end-start < f.run && f.class[text[end]] {
			end++
		}
		if end-start >= f.run {
			return true
		}
		i = end + f.run
	}
	return false
}

// better reports whether a filter probably lets fewer texts pass than another.
func (f *prefilter) better(than *prefilter) bool {
	worth := func(f *prefilter) int {
		switch {
		case f.literal != "":
			return 1000 + len(f.literal)
		case f.class == nil:
			return 0
		}
		n := 0
		for _, is := range f.class {
			if is {
				n++
			}
		}
		return 256*f.run/n + 1
	}
	return worth(f) > worth(than)
}

// needsOf returns a filter for the matches of an expression.
func needsOf(re *syntax.Regexp) prefilter {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 && !slices.Contains(re.Rune, utf8.RuneError) { // RuneError stands for any byte that is not UTF-8
			return prefilter{literal: string(re.Rune)}
		}
	case syntax.OpCharClass:
		return prefilter{class: classOf(re.Rune), run: 1}
	case syntax.OpCapture, syntax.OpPlus:
		return needsOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min == 0 {
			break
		}
		f := needsOf(re.Sub[0])
		if re.Sub[0].Op == syntax.OpCharClass {
			f.run = re.Min
		}
		return f
	case syntax.OpConcat:
		return needsOfAll(re.Sub)
	}
	return prefilter{}
}

// needsOfAll returns the best filter of the parts of a sequence. Adjacent parts of the same class
// are added up.
func needsOfAll(parts []*syntax.Regexp) prefilter {
	var best, last prefilter
	for _, part := range parts {
		f := needsOf(part)
		if one := part.Op == syntax.OpCharClass || part.Op == syntax.OpRepeat && part.Min == part.Max && part.Sub[0].Op == syntax.OpCharClass; one &&
			last.class != nil && *f.class == *last.class {
			f.run += last.run
			last = f
		} else if last = f; !one {
			last = prefilter{}
		}
		if f.better(&best) {
			best = f
		}
	}
	return best
}

// classOf returns the bytes of the characters in ranges. Characters beyond ASCII count as any of
// their bytes.
func classOf(ranges []rune) *[256]bool {
	var class [256]bool
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= min(ranges[i+1], utf8.RuneSelf-1); r++ {
			class[r] = true
		}
		if ranges[i+1] >= utf8.RuneSelf {
			for b := utf8.RuneSelf; b < len(class); b++ {
				class[b] = true
			}
		}
	}
	return &class
}
