package attack

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// encoders are the encodings in which attempts hide their text, by name.
func encoders() map[string]func(text string) string {
	return map[string]func(string) string{
		"base64":     func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"hex":        func(s string) string { return hex.EncodeToString([]byte(s)) },
		"rot13":      func(s string) string { return strings.Map(rot13, s) },
		"reverse":    reverse,
		"homoglyphs": homoglyphs,
		"fullwidth":  func(s string) string { return strings.Map(fullwidth, s) },
		"zero-width": func(s string) string { return strings.Join(strings.Split(s, ""), "\u200b") },
		// Tag characters (Unicode block E0000) are invisible and encode ASCII.
		"tags":     func(s string) string { return strings.Map(func(r rune) rune { return 0xE0000 + r&0x7f }, s) },
		"bidi":     func(s string) string { return "\u202e" + reverse(s) + "\u202c" },
		"spaced":   func(s string) string { return strings.Join(strings.Split(s, ""), " ") },
		"entities": entities,
	}
}

func rot13(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return 'a' + (r-'a'+13)%26
	case r >= 'A' && r <= 'Z':
		return 'A' + (r-'A'+13)%26
	}
	return r
}

func reverse(s string) string {
	runes := []rune(s)
	slices.Reverse(runes)
	return string(runes)
}

// homoglyphs replaces Latin letters with Cyrillic ones that look the same.
func homoglyphs(s string) string {
	return strings.NewReplacer("a", "а", "c", "с", "e", "е", "i", "і", "o", "о", "p", "р", "s", "ѕ", "x", "х", "y", "у").Replace(s)
}

func fullwidth(r rune) rune {
	if r > ' ' && r < 0x7f {
		return r + 0xFEE0
	}
	return r
}

func entities(s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, "&#x%x;", r)
	}
	return b.String()
}
