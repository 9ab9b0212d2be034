package proviso

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/internal/plural"
)

// Codes of [Error]. [Meanings] maps them to exit codes and HTTP statuses.
const (
	Invalid     = "invalid"     // the suite or the request is wrong; nothing was run
	Unsupported = "unsupported" // promptfoo has it, proviso does not
	NotFound    = "not_found"   // a file, a run or a name does not exist
	Conflict    = "conflict"    // something that already exists is in the way
	Refused     = "refused"     // the policy for untrusted input forbids it
	Limit       = "limit"       // a limit was exceeded; the message names the limit
	Timeout     = "timeout"     // a deadline passed
	Unavailable = "unavailable" // a provider, interpreter or endpoint could not be reached
	Undecided   = "undecided"   // an assertion could not be decided for another reason
	Internal    = "internal"    // a defect of proviso
)

// Error is a failure with a code that programs can act on. For mistakes in a suite it
// also has the place and the valid names.
type Error struct {
	Code    string   // one of the constants above
	Pointer string   // RFC 6901 pointer into the suite; "" if there is none
	Message string   // lower case, what was found and what was expected
	Valid   []string // accepted names, if there is a list
	Err     error    // the cause, or nil
	Warning bool     // for a mistake: the suite still runs, or is still valid

	whole bool // Message includes the text of the cause
}

// Error returns the message with its cause.
func (e *Error) Error() string {
	if e.Err == nil || e.whole {
		return e.Message
	}
	if e.Message == "" {
		return e.Err.Error()
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the first [Error] in the chain of err, "" if there is none.
func CodeOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// Errorf returns an [Error] with a code and a formatted message. A %w verb sets
// the cause and stays part of the message.
func Errorf(code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Err: errors.Unwrap(err), whole: true}
}

// ErrorAt is [Errorf] with a pointer into a suite.
func ErrorAt(pointer, code, format string, args ...any) *Error {
	e := Errorf(code, format, args...)
	e.Pointer = pointer
	return e
}

// Because returns an [Error] whose message already includes the cause. The cause is kept
// for errors.Is.
func Because(cause error, code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Err: cause, whole: true}
}

// WithCode gives an error a code, unless it has one or is nil.
func WithCode(code string, err error) error {
	if _, coded := errors.AsType[*Error](err); coded || err == nil {
		return err
	}
	return Errorf(code, "%w", err)
}

// WithPointer gives an error a pointer into the suite, unless it has one. An error without
// a code becomes [Invalid].
func WithPointer(pointer string, err error) *Error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		e = Errorf(Invalid, "%w", err)
	}
	at := *e
	at.Pointer = cmp.Or(at.Pointer, pointer)
	return &at
}

// Place is a position in a file that a person can open.
type Place struct {
	File    string // as the user wrote it, or relative to the working folder
	Line    int    // from 1; 0 if unknown
	Column  int    // from 1, in characters; 0 if unknown
	Excerpt string // the line itself, shortened
}

// String returns file:line:column without the parts that are unknown.
func (p Place) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Mistake is one mistake in a suite, ready to be shown.
type Mistake struct {
	Place   Place
	Code    string // as in [Error]
	Message string // what was found and what was expected
	Nearest string // the nearest valid name; "" if none is near
	Warning bool   // true if the suite still runs
	Skips   bool   // the mistake is a warning if unsupported features are skipped
	Count   int    // number of places with this mistake from one source, such as an anchor; 0 means 1
	More    int    // number of mistakes this one stands for because the list was cut; 0 means none, see [MoreMistakes]
}

// MoreMistakes returns the mistake that stands for n others at the end of a truncated
// list.
func MoreMistakes(n int, warning bool) Mistake {
	noun := "more mistake"
	if warning {
		noun = "more warning"
	}
	return Mistake{Code: Invalid, Message: "and " + plural.Of(n, noun), Warning: warning, More: n}
}

// String returns the mistake on one line: place, message, nearest name.
func (m Mistake) String() string {
	s := m.Message
	if at := m.Place.String(); at != "" {
		s = at + ": " + s
	}
	if m.Nearest != "" {
		s += fmt.Sprintf(" (did you mean %q?)", m.Nearest)
	}
	return s
}

// Mistakes are all mistakes in a suite. It is an error unless all of them are
// warnings.
type Mistakes []Mistake

// maxMistakes limits the list of one file.
const maxMistakes = 100

// Full reports whether the list has 100 mistakes, so that [Mistakes.Add] only counts further
// ones.
func (m Mistakes) Full() bool { return len(m) >= maxMistakes }

// Add adds a mistake. If the list is full, its last mistake counts the rest, as
// [MoreMistakes] does.
func (m *Mistakes) Add(one Mistake) {
	if !m.Full() {
		*m = append(*m, one)
		return
	}
	if len(*m) == maxMistakes {
		*m = append(*m, Mistake{Warning: true})
	}
	last := &(*m)[maxMistakes]
	*last = MoreMistakes(last.More+max(1, one.More), last.Warning && one.Warning)
}

// AddAt is [Mistakes.Add] for a place that takes long to find: it calls place only if the
// list is not full.
func (m *Mistakes) AddAt(place func() Place, one Mistake) {
	if !m.Full() {
		one.Place = place()
	}
	m.Add(one)
}

// Error returns one line per mistake that is not a warning.
func (m Mistakes) Error() string {
	var lines []string
	for _, x := range m {
		if !x.Warning {
			lines = append(lines, x.String())
		}
	}
	return strings.Join(lines, "\n")
}

// Err returns m as an error, or nil if there are only warnings.
func (m Mistakes) Err() error {
	for _, x := range m {
		if !x.Warning {
			return m
		}
	}
	return nil
}
