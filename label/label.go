// Package label holds what people say of outputs and of the verdicts on them: the label
// itself, its form as a line of a file, the agreement between people and with a judge, and
// the order in which outputs are worth labelling. It reads and writes no files. Start at
// [Label] and [Order].
package label

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/rowscan"
	"github.com/proviso-eval/proviso/judge/record"
)

// Verdict is a person's verdict.
type Verdict string

// The verdicts. Unsure is a label, so that a queue does not offer the output again, but
// it decides nothing.
const (
	Pass   Verdict = "pass"
	Fail   Verdict = "fail"
	Unsure Verdict = "unsure"
)

// verdicts returns the names of all verdicts.
func verdicts() []string { return []string{string(Pass), string(Fail), string(Unsure)} }

// Limits of a label. An error for exceeding one has the code Limit.
const (
	MaxNote     = 4000 // characters
	maxEvidence = 100  // spans
	maxName     = 200  // bytes of a person's, a queue's or an id's text
	maxSubject  = 4096 // bytes of an assertion name or a case name
)

// Subject is what a label is about: an evaluation, a row of a run, or a traffic event,
// and either one assertion on it or the whole output.
type Subject struct {
	Evaluation string // evaluation id; "" if the subject is not an evaluation
	Event      string // event id; "" if the subject is not an event
	Run        string // run id; "" if the subject is not a row
	Index      int    // row index, from 0
	Assertion  string // assertion name; "" means the whole output
}

// Span is a part of an output, as offsets in UTF-16 units as in JavaScript. End is
// exclusive.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// The strata of a queue.
const (
	Random      = "random"      // drawn at random, so that rates can be estimated
	Informative = "informative" // chosen because a label is most informative
)

// Label is one person's verdict.
type Label struct {
	ID string
	Subject
	Verdict  Verdict
	Note     string
	Evidence []Span
	By       string    // the person: API key id, or a name
	Name     string    // the person's display name; may be ""
	Created  time.Time // UTC

	// What was labelled, as it was at the time: a label outlives its run.
	Case     string // id of the case, "" for an evaluation
	OutputID string // hash of the output, "" if it is not kept
	Judge    string // identity of the judge, "" if no model decided
	Judged   string // the judge's verdict: pass, fail, error or skip; "" if there is none

	// How the item was drawn, if it came from a queue.
	Queue      string
	Stratum    string // Random or Informative
	Rank       int    // rank among the items of its assertion, from 0, the most informative first
	Population int    // number of items of its assertion that the queue was made from; 0 without a queue
}

// Check returns why a label is invalid, or nil.
func (l *Label) Check() error {
	switch {
	case !slices.Contains(verdicts(), string(l.Verdict)):
		return &proviso.Error{Code: proviso.Invalid, Message: "there is no label " + quoted(string(l.Verdict)), Valid: verdicts()}
	case !l.one():
		return proviso.Errorf(proviso.Invalid, "a label is about exactly one of an evaluation, a row of a run and an event")
	case l.Run == "" && l.Index != 0:
		return proviso.Errorf(proviso.Invalid, "only a run has rows, so there is no row %d", l.Index)
	case l.Index < 0:
		return proviso.Errorf(proviso.Invalid, "the index of a row is a number from 0, not %d", l.Index)
	case l.By == "":
		return proviso.Errorf(proviso.Invalid, "the label does not say whose it is")
	case utf8.RuneCountInString(l.Note) > MaxNote:
		return proviso.Errorf(proviso.Limit, "the note has %d characters, more than %d", utf8.RuneCountInString(l.Note), MaxNote)
	case !utf8.ValidString(l.Note):
		return proviso.Errorf(proviso.Invalid, "the note is not valid UTF-8")
	case len(l.Evidence) > maxEvidence:
		return proviso.Errorf(proviso.Limit, "%d places of evidence, more than %d", len(l.Evidence), maxEvidence)
	}
	for _, s := range l.Evidence {
		if s.Start < 0 || s.End <= s.Start {
			return proviso.Errorf(proviso.Invalid, "evidence from %d to %d is not a part of an output: start is from 0, end is greater", s.Start, s.End)
		}
	}
	for _, t := range [...]struct {
		what, text string
		most       int
	}{{"id", l.ID, maxName}, {"evaluation", l.Evaluation, maxName}, {"run", l.Run, maxName}, {"person", l.By, maxName},
		{"name of the person", l.Name, maxName}, {"queue", l.Queue, maxName}} {
		if err := checkText(t.what, t.text, t.most); err != nil {
			return err
		}
	}
	for _, text := range [...]string{l.Assertion, l.Case, l.Judge, l.Event} {
		if len(text) > maxSubject {
			return proviso.Errorf(proviso.Limit, "a name has %d bytes, more than %d", len(text), maxSubject)
		}
		if !utf8.ValidString(text) {
			return proviso.Errorf(proviso.Invalid, "the name %s is not valid UTF-8", quoted(text))
		}
	}
	return nil
}

// one reports whether the subject is exactly one thing.
func (s *Subject) one() bool {
	n := 0
	for _, id := range [...]string{s.Evaluation, s.Event, s.Run} {
		if id != "" {
			n++
		}
	}
	return n == 1
}

// checkText rejects a name that is too long or contains control characters, which could
// manipulate a terminal. An empty name is valid.
func checkText(what, text string, most int) error {
	switch {
	case len(text) > most:
		return proviso.Errorf(proviso.Limit, "the %s has %d bytes, more than %d", what, len(text), most)
	case !utf8.ValidString(text):
		return proviso.Errorf(proviso.Invalid, "the %s is not valid UTF-8", what)
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }):
		return proviso.Errorf(proviso.Invalid, "the %s holds control characters", what)
	}
	return nil
}

// Decides reports whether the label is pass or fail.
func (l *Label) Decides() bool { return l.Verdict == Pass || l.Verdict == Fail }

// OfRow completes a label from a run's row: case, output, and the verdict of a judge or a
// check. If several assertions of the row have the same name and differ, it adds no
// verdict. It returns an error if the row has no such assertion.
func (l *Label) OfRow(row record.Row) error {
	l.Case, l.OutputID, l.Judge, l.Judged = row.Case, record.OutputID(row.Output()), "", ""
	if l.Assertion == "" {
		l.Judged = row.Verdict().String()
		return nil
	}
	var names []string
	found := false
	for _, v := range row.Verdicts() {
		name := rowscan.NameOf(v.Assertion)
		names = append(names, name)
		switch {
		case name != l.Assertion:
		case found && (l.Judged != v.Status.String() || l.Judge != v.Judge):
			l.Judged, l.Judge = "", ""
		default:
			found, l.Judged, l.Judge = true, v.Status.String(), v.Judge
		}
	}
	if found {
		return nil
	}
	return NoAssertion(l.Assertion, fmt.Sprintf("row %d of the run", row.Index), names)
}

// NoAssertion returns the error for a label on a missing assertion. where describes the
// place that has the assertions in names instead.
func NoAssertion(name, where string, names []string) error {
	return &proviso.Error{Code: proviso.Invalid, Pointer: "/assertion", Valid: names,
		Message: where + " has no assertion " + quoted(name) + document.DidYouMean(name, names)}
}
