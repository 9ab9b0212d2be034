package xmltext

import "unicode/utf8"

// nameStart reports whether r may begin a name (XML 1.0, fifth edition, [4]).
func nameStart(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r == ':'
	case r < 0x2000:
		return r >= 0xc0 && r != 0xd7 && r != 0xf7 && (r <= 0x2ff || r >= 0x370) && r != 0x37e
	case r < 0xd800:
		return r == 0x200c || r == 0x200d || r >= 0x2070 && r <= 0x218f ||
			r >= 0x2c00 && r <= 0x2fef || r >= 0x3001
	}
	return r >= 0xf900 && r <= 0xfdcf || r >= 0xfdf0 && r <= 0xfffd || r >= 0x10000 && r <= 0xeffff
}

// nameChar reports whether r may be part of a name ([4a]).
func nameChar(r rune) bool {
	if r < utf8.RuneSelf {
		return nameStart(r) || r >= '0' && r <= '9' || r == '-' || r == '.'
	}
	return nameStart(r) || r == 0xb7 || r >= 0x300 && r <= 0x36f || r == 0x203f || r == 0x2040
}

// nameEnd returns the end of the name that begins at i; i if there is none.
func nameEnd(s string, i int) int {
	if i >= len(s) {
		return i
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	if !nameStart(r) {
		return i
	}
	for i += n; i < len(s); i += n {
		if r, n = utf8.DecodeRuneInString(s[i:]); !nameChar(r) {
			break
		}
	}
	return i
}
