package format

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// Counted returns a number with its noun.
func Counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Some lists up to most names, and counts the rest.
func Some(names []string, most int) string {
	text := strings.Join(names[:min(len(names), most)], ", ")
	if n := len(names); n > most {
		text += fmt.Sprintf(" and %d more", n-most)
	}
	return text
}

// Near returns the valid name that is nearest to an invalid one or starts with it; "" if none
// is near.
func Near(name string, valid []string) string {
	if near := document.Nearest(name, valid); near != "" {
		return near
	}
	at := slices.IndexFunc(valid, func(v string) bool { return len(name) > 3 && strings.HasPrefix(v, name) })
	if at < 0 {
		return ""
	}
	return valid[at]
}

// DidYouMean suggests the valid name that is [Near] an invalid one; "" if none is.
func DidYouMean(name string, valid []string) string {
	if near := Near(name, valid); near != "" {
		return " (did you mean " + value.Stringify(near) + "?)"
	}
	return ""
}

// MiddleOut shortens a text to a length near most, in bytes, and notes where and how much it cut.
func MiddleOut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := excerpt.Head(text, most*3/4), text[len(text)-most/4:]
	tail = strings.ToValidUTF8(tail, "")
	return fmt.Sprintf("%s\n[… %d bytes are left out here …]\n%s", head, len(text)-len(head)-len(tail), tail)
}

// Excerpt shortens a model's text for a message.
func Excerpt(text string) string { return excerpt.Line(text, 160) }

// UnixLines removes a byte order mark and converts all line endings to \n.
func UnixLines(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
}

// Dollars formats an amount of US dollars with three significant digits and without an
// exponent.
func Dollars(usd float64) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(usd, 'e', 2, 64), 64)
	return "$" + strconv.FormatFloat(rounded, 'f', -1, 64)
}

// ReadBounded reads a file of up to most bytes.
func ReadBounded(file string, most int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = proviso.Errorf(proviso.Limit, "%s is larger than %d MiB", file, most>>20)
	}
	return data, err
}
