package report

import (
	"fmt"
	"strings"
)

// longData is the number of base64 bytes that are still shown in full.
const longData = 64

// shownOf formats a value for people. A data URL (RFC 2397), such as a picture, is shown
// only as its size.
func shownOf(v any) string { return brief(textOf(v)) }

// brief shortens the data URLs in a text.
func brief(text string) string {
	const mark = ";base64,"
	at := strings.Index(text, mark)
	if at < 0 {
		return text
	}
	var b strings.Builder
	for at >= 0 {
		end := at + len(mark)
		data := end + lengthOfBase64(text[end:])
		if data-end <= longData {
			b.WriteString(text[:data])
		} else {
			fmt.Fprintf(&b, "%s… (%s)", text[:end], bytesText((data-end)*3/4))
		}
		text = text[data:]
		at = strings.Index(text, mark)
	}
	b.WriteString(text)
	return b.String()
}

// lengthOfBase64 returns the length, in bytes, of the base64 text at the beginning of a
// text.
func lengthOfBase64(text string) int {
	for i := range len(text) {
		c := text[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '+' && c != '/' && c != '=' && c != '-' && c != '_' {
			return i
		}
	}
	return len(text)
}

func bytesText(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
