package store

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
)

// Limits of every store. Exceeding one is an error with the code Limit.
const (
	DefaultPage  = 50       // default page size
	MaxPage      = 1000     // maximum page size
	MaxPageBytes = 16 << 20 // bytes of the rows of a page, not counting its first row
	MaxName      = 200      // bytes of a name, id or key
	MaxGlobs     = 100      // providers of an API key
	MaxContent   = 64 << 20 // bytes of a document, a row, a request or a response
	MaxBatch     = 10_000   // results added in one call
	MaxAttempts  = 5        // attempts to execute a run
	MaxGivenBack = 5        // times that processes give a run back
	MaxRanges    = 200      // row ranges of a filter
	MaxParts     = 10_000   // parts of a run
)

// Page selects a part of a list.
type Page struct {
	After string // Next of the previous page, "" for the first page
	Limit int    // maximum number of items; 0 means DefaultPage, more than MaxPage means MaxPage
}

// List is a page of a list. Following Next returns every item that existed at the start exactly
// once, whatever is added meanwhile.
type List[T any] struct {
	Items []T
	Next  string // "" if there are no more
}

// Size returns the maximum number of items of a page.
func (p Page) Size() int {
	switch {
	case p.Limit <= 0:
		return DefaultPage
	case p.Limit > MaxPage:
		return MaxPage
	}
	return p.Limit
}

// Cursor returns a cursor for [List.Next], which [Page.Position] decodes. list is the kind of
// list, position that of the last item on the page.
func Cursor(list, position string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(list + ":" + position))
}

// Position returns the position after which a page of a kind of list starts; ok is false for
// the first page. An invalid cursor is an error with the code Invalid.
func (p Page) Position(list string) (position string, ok bool, err error) {
	if p.After == "" {
		return "", false, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(p.After)
	if err == nil && utf8.Valid(text) {
		if position, ok = strings.CutPrefix(string(text), list+":"); ok {
			return position, true, nil
		}
	}
	return "", false, errCursor()
}

// Number is [Page.Position] for lists that are sorted by a number.
func (p Page) Number(list string) (n int64, ok bool, err error) {
	text, ok, err := p.Position(list)
	if !ok || err != nil {
		return 0, false, err
	}
	if n, err = strconv.ParseInt(text, 10, 64); err != nil {
		return 0, false, errCursor()
	}
	return n, true, nil
}

func errCursor() error {
	return proviso.Errorf(proviso.Invalid, "the cursor does not come from this list")
}

// Id prefixes.
const (
	KeyID        = "key_"
	RunID        = "run_"
	EvaluationID = "eval_"
)

// NewID returns an id that cannot be guessed and that sorts by time: a prefix,
// 48 bits of milliseconds and 80 random bits in Crockford's base 32, like a
// ULID.
func NewID(prefix string, now time.Time) string {
	var raw [16]byte
	millis := uint64(now.UnixMilli())
	for i := range 6 {
		raw[i] = byte(millis >> (40 - 8*i))
	}
	rand.Read(raw[6:]) // never fails: crypto/rand ends the program instead
	return prefix + secretText.EncodeToString(raw[:])
}

// ContentID returns an id in the form of [NewID] that depends only on a hash of content.
func ContentID(prefix string, sum [32]byte) string {
	return prefix + secretText.EncodeToString(sum[:16])
}

// CheckPerson returns why a text cannot be the name of a person, or nil.
func CheckPerson(name string) error { return checkText("person", name, MaxName) }

// checkText rejects invalid names: empty, too long, not UTF-8, or with
// characters that control a terminal.
func checkText(what, text string, most int) error {
	switch {
	case strings.TrimSpace(text) == "":
		return proviso.Errorf(proviso.Invalid, "the %s is empty", what)
	case len(text) > most:
		return proviso.Errorf(proviso.Limit, "the %s has %d bytes, more than %d", what, len(text), most)
	case !utf8.ValidString(text):
		return proviso.Errorf(proviso.Invalid, "the %s is not valid UTF-8", what)
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }):
		return proviso.Errorf(proviso.Invalid, "the %s holds control characters, such as a line break", what)
	}
	return nil
}

func quote(text string) string {
	return fmt.Sprintf("%q", excerpt.Bytes(text, 40))
}
