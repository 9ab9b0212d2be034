package align

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/value"
)

// Limits of a label file.
const (
	maxLabelBytes = 64 << 20
	maxLabelRows  = 200_000
)

// Label is one row of a label file: a person's verdict, and optionally a judge's, on one
// output and one assertion.
type Label struct {
	Case      string
	Assertion string
	Row       int    // index of the row in its run, -1 if the file has none
	OutputID  string // id of the output that the person saw ([record.OutputID]), "" if the file has none
	Human     proviso.Status
	Judge     proviso.Status
	JudgeID   string  // identity of the judge, "" if the file has none
	Labelled  bool    // whether Human is a verdict: pass or fail
	Judged    bool    // whether Judge is a verdict: pass, fail or error
	Weight    float64 // number of outputs that the label represents; 1 without a sample in the file
	Note      string

	// fromPeople marks a label written by [label.AppendLine]: its judge and row are those
	// at the time of labelling, and may differ in a run.
	fromPeople bool

	at [len(labelColumns)]position
}

// Labels are the rows of a file, in order.
type Labels struct {
	File string
	Rows []Label

	Outputs int // labels of whole outputs, omitted
	Counted int // labels of assertions that no model decided, omitted
	Split   int // outputs with as many pass labels as fail labels, omitted
	Others  int // labels by people other than the requested one, omitted

	lines []string // lines of the file, for excerpts
}

// position is the line and column where a field begins, from 1; 0 if unknown.
type position struct{ line, column int }

// The known columns, as indexes of [Label.at].
const (
	colCase = iota
	colAssertion
	colHuman
	colJudge
	colJudgeID
	colRow
	colOutputID
	colSample
	colNote
)

var labelColumns = [...]string{
	colCase: "case", colAssertion: "assertion", colHuman: "human", colJudge: "judge", colJudgeID: "judge_id",
	colRow: "row", colOutputID: "output_id", colSample: "sample", colNote: "note",
}

// requiredColumns are the columns that every label file must have.
var requiredColumns = [...]int{colCase, colAssertion, colHuman}

// The words for a verdict, in any case; docs/align.md lists them. Messages show the
// first of each.
var (
	passWords  = [...]string{"pass", "good", "true", "yes", "y", "1"}
	failWords  = [...]string{"fail", "bad", "false", "no", "n", "0"}
	errorWords = [...]string{"error"} // valid only for judges
)

// ParseVerdict parses a human label: a word for pass or fail, in any case. ok is false
// for any other word.
func ParseVerdict(word string) (good, ok bool) {
	word = strings.ToLower(strings.TrimSpace(word))
	good = slices.Contains(passWords[:], word)
	return good, good || slices.Contains(failWords[:], word)
}

// ReadLabels reads labels from CSV (comma, semicolon or tab) or JSON Lines; it detects
// the format. The columns case, assertion and human are required; judge, judge_id, row,
// output_id, sample and note are optional; others are ignored. File is the name for
// messages. The error is [proviso.Mistakes] with every mistake in the file.
//
// JSON Lines may also be those of [label.AppendLine], which hold the labels of several
// people with their history. The last label of each person counts; if people disagree,
// the majority decides.
func ReadLabels(file string, r io.Reader) (*Labels, error) { return ReadLabelsOf(file, r, "") }

// ReadLabelsOf is [ReadLabels] for one person's labels, by id or name; "" means all
// people. Lines that do not name a person count.
func ReadLabelsOf(file string, r io.Reader, by string) (*Labels, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxLabelBytes+1))
	if err != nil {
		return nil, proviso.Errorf(proviso.Unavailable, "read the labels: %w", err)
	}
	if len(data) > maxLabelBytes {
		return nil, proviso.Errorf(proviso.Limit, "%s is larger than %d MiB", file, maxLabelBytes>>20)
	}
	in := &labelReader{labelMistakes: labelMistakes{labels: &Labels{File: file}}, by: by, seen: map[string]int{}}
	text, err := document.Text(file, data)
	if err != nil {
		in.broken(err)
		return nil, in.mistakes
	}
	in.labels.lines = strings.Split(text, "\n")
	switch start := strings.TrimLeft(text, " \t\r\n"); {
	case start == "":
		in.mistake(position{}, "the file is empty; it needs the columns case, assertion and human")
	case start[0] == '{':
		in.jsonLines(text)
	case start[0] == '[':
		in.mistake(position{1, 1}, "a JSON list; write one object on each line (JSON Lines), or CSV")
	default:
		in.csv(text)
	}
	in.settle()
	in.enough()
	if len(in.mistakes) > 0 {
		return nil, in.mistakes
	}
	return in.labels, nil
}

// labelReader collects labels and mistakes.
type labelReader struct {
	labelMistakes
	seen map[string]int // line of each label, by case, assertion, judge, row and output
	by   string         // person whose labels count; "" means all people
	said sayings
	full bool // there are more than maxLabelRows labels
}

// place returns a position with the file and an excerpt of the line.
func (l *Labels) place(at position) proviso.Place {
	p := proviso.Place{File: l.File, Line: at.line, Column: at.column}
	if at.line > 0 && at.line <= len(l.lines) {
		p.Excerpt = document.Excerpt(strings.TrimSuffix(l.lines[at.line-1], "\r"))
	}
	return p
}

// labelMistakes collects the mistakes in a label file.
type labelMistakes struct {
	labels   *Labels
	mistakes proviso.Mistakes
}

func (m *labelMistakes) mistake(at position, format string, args ...any) {
	m.near(at, "", format, args...)
}

// near records a mistake with the nearest valid name.
func (m *labelMistakes) near(at position, nearest, format string, args ...any) {
	m.mistakes.Add(proviso.Mistake{Place: m.labels.place(at), Code: proviso.Invalid, Message: fmt.Sprintf(format, args...), Nearest: nearest})
}

// broken records a parser error.
func (m *labelMistakes) broken(err error) {
	m.mistakes.Add(document.MistakeOf(m.labels.File, err))
}

// fields holds the texts of one row by column; missing ones are empty.
type fields struct {
	text [len(labelColumns)]string
	at   [len(labelColumns)]position
}

// row reads one row and records its mistakes.
func (in *labelReader) row(f *fields) {
	for i := range f.text {
		f.text[i] = unguarded(strings.TrimSpace(f.text[i]))
	}
	before := len(in.mistakes)
	l := Label{Case: f.text[colCase], Assertion: f.text[colAssertion], Row: -1, Weight: 1, JudgeID: f.text[colJudgeID],
		OutputID: f.text[colOutputID], Note: f.text[colNote], at: f.at}
	for _, c := range [...]int{colCase, colAssertion} {
		if f.text[c] == "" {
			in.mistake(f.at[c], "the %s is empty", labelColumns[c])
		}
	}
	l.Human, l.Labelled = in.verdict(f, colHuman, nil)
	l.Judge, l.Judged = in.verdict(f, colJudge, errorWords[:])
	if text := f.text[colRow]; text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			in.mistake(f.at[colRow], "expected the index of a row of the run, got %q", clipped(text))
		}
		l.Row = n
	}
	if text := f.text[colSample]; text != "" {
		weight, ok := openWeight(text, l.Case, l.Assertion, l.OutputID)
		if !ok {
			in.mistake(f.at[colSample], "this is not the sample of case %q as --template wrote it; copy lines as a whole, or empty the column in all of them", clipped(l.Case))
		}
		l.Weight = weight
	}
	if len(in.mistakes) > before {
		return
	}
	key := value.Stringify([]any{l.Case, l.Assertion, l.JudgeID, float64(l.Row), l.OutputID})
	if line, twice := in.seen[key]; twice {
		in.mistake(f.at[colCase], "a second label for case %q and assertion %q; the first is on line %d", clipped(l.Case), clipped(l.Assertion), line)
		return
	}
	if len(in.labels.Rows) == maxLabelRows {
		in.full = true
		return
	}
	in.seen[key] = f.at[colCase].line
	in.labels.Rows = append(in.labels.Rows, l)
}

// verdict parses a verdict word; it returns false for an empty field.
func (in *labelReader) verdict(f *fields, column int, errorWords []string) (proviso.Status, bool) {
	text := strings.ToLower(f.text[column])
	switch {
	case text == "", column == colHuman && text == string(label.Unsure):
		return proviso.Errored, false
	case slices.Contains(passWords[:], text):
		return proviso.Pass, true
	case slices.Contains(failWords[:], text):
		return proviso.Fail, true
	case slices.Contains(errorWords, text):
		return proviso.Errored, true
	}
	valid := append([]string{passWords[0], failWords[0]}, errorWords...)
	all := slices.DeleteFunc(slices.Concat(valid, passWords[1:], failWords[1:]), func(w string) bool { return len(w) < 3 })
	in.near(f.at[column], document.Nearest(text, all), "%s: expected %s, got %q", labelColumns[column], orList(valid), clipped(f.text[column]))
	return proviso.Errored, false
}

// enough checks that there is at least one human label, and that there are not too many
// rows.
func (in *labelReader) enough() {
	if in.full {
		in.mistake(position{}, "the file holds more than %d labels", maxLabelRows)
	}
	if len(in.mistakes) > 0 {
		return
	}
	for i := range in.labels.Rows {
		if in.labels.Rows[i].Labelled {
			return
		}
	}
	if n := len(in.labels.Rows); n > 0 {
		in.mistake(in.labels.Rows[0].at[colHuman], "no row has a verdict of a person: the column human is empty in all %d", n)
		return
	}
	if why := in.leftOut(); why != "" {
		in.mistake(position{}, "the file holds no label to compare with a judge: %s", why)
		return
	}
	in.mistake(position{}, "the file holds no labels")
}

// leftOut describes the labels that are not compared; "" if there are none.
func (in *labelReader) leftOut() string {
	var texts []string
	for _, n := range [...]struct {
		n   int
		why string
	}{{in.labels.Outputs, "of whole outputs"}, {in.labels.Counted, "of assertions that no model decided"}, {in.labels.Split, "on which people disagree"}, {in.labels.Others, "of other people"}} {
		if n.n > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", n.n, n.why))
		}
	}
	return strings.Join(texts, ", ")
}

// unguarded removes the quote that [guarded] added.
func unguarded(s string) string {
	if rest, ok := strings.CutPrefix(s, "'"); ok && guarded(rest) != rest {
		return rest
	}
	return s
}

// clipped shortens a text for a message.
func clipped(s string) string { return excerpt.Runes(s, 60) }

func orList(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
	return strings.Join(words, "")
}
