package regex

import (
	"sync"
	"unicode"
)

// folding is how the i flag without the u flag compares characters: two are equal
// if their upper case is (ECMA-262, Canonicalize). Go's engine folds differently,
// so sets are closed under this folding and the engine never gets the flag.
type folding struct {
	upper   map[rune]rune   // only where it differs from the character
	classes map[rune][]rune // upper case → the two or more characters that share it
}

// foldings is built when the first pattern with the i flag is compiled.
var foldings = sync.OnceValue(func() *folding {
	f := &folding{upper: map[rune]rune{}, classes: map[rune][]rune{}}
	for _, cr := range unicode.CaseRanges {
		for r := rune(cr.Lo); r <= rune(cr.Hi) && r <= maxUnit; r++ {
			if u := canonical(r); u != r {
				f.upper[r] = u
				if f.classes[u] == nil {
					f.classes[u] = []rune{u}
				}
				f.classes[u] = append(f.classes[u], r)
			}
		}
	}
	return f
})

// canonical is the upper case of a code unit. It is r itself if the upper case has
// more than one unit, or would turn a non-ASCII character into an ASCII one.
func canonical(r rune) rune {
	if manyUpper.has(r) {
		return r
	}
	u := unicode.ToUpper(r)
	if u > maxUnit || r >= 0x80 && u < 0x80 {
		return r
	}
	return u
}

// manyUpper are the code units whose full upper case is several characters
// (Unicode, SpecialCasing.txt).
var manyUpper = set{{0xdf, 0xdf}, {0x149, 0x149}, {0x1f0, 0x1f0}, {0x390, 0x390}, {0x3b0, 0x3b0},
	{0x587, 0x587}, {0x1e96, 0x1e9a}, {0x1f50, 0x1f50}, {0x1f52, 0x1f52}, {0x1f54, 0x1f54},
	{0x1f56, 0x1f56}, {0x1f80, 0x1faf}, {0x1fb2, 0x1fb4}, {0x1fb6, 0x1fb7}, {0x1fbc, 0x1fbc},
	{0x1fc2, 0x1fc4}, {0x1fc6, 0x1fc7}, {0x1fcc, 0x1fcc}, {0x1fd2, 0x1fd3}, {0x1fd6, 0x1fd7},
	{0x1fe2, 0x1fe4}, {0x1fe6, 0x1fe7}, {0x1ff2, 0x1ff4}, {0x1ff6, 0x1ff7}, {0x1ffc, 0x1ffc},
	{0xfb00, 0xfb06}, {0xfb13, 0xfb17}}

// closed returns s with all characters that the i flag treats as equal to a member.
func (f *folding) closed(s set) set {
	const few = 64
	out := append(set(nil), s...)
	if s.size() <= few {
		for _, x := range s {
			for r := x.lo; r <= x.hi; r++ {
				out = f.addClass(out, r)
			}
		}
		return out.normal()
	}
	for _, members := range f.classes {
		for _, r := range members {
			if s.has(r) {
				out = f.addClass(out, r)
				break
			}
		}
	}
	return out.normal()
}

func (f *folding) addClass(s set, r rune) set {
	if u, ok := f.upper[r]; ok {
		r = u
	}
	for _, m := range f.classes[r] {
		s = append(s, span{m, m})
	}
	return s
}
