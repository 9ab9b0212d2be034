package subsume

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/stats"
	"github.com/proviso-eval/proviso/value"
)

// Sources returns the sources of implications, in the order of reports.
func Sources() []Source { return []Source{FromProof, FromJudge, FromFile, FromClosure} }

// Sample picks n of the kept pairs for a person to review, spread evenly over the sources, and
// returns their indices in Pairs. The choice depends only on the candidates, and a larger
// sample starts with the smaller one.
func (s *Subsumption) Sample(n int) []int {
	by := map[Source][]int{}
	keys := make([]string, len(s.Pairs))
	for i := range s.Pairs {
		if p := &s.Pairs[i]; p.Outcome == Kept {
			by[p.Source] = append(by[p.Source], i)
			keys[i] = blobs.Key("sample", s.Names[p.A], s.Names[p.B])
		}
	}
	for _, list := range by {
		slices.SortFunc(list, func(i, j int) int { return cmp.Compare(keys[i], keys[j]) })
	}
	var out []int
	for more := true; more; {
		more = false
		for _, source := range Sources() {
			if len(by[source]) > 0 && len(out) < n {
				out, by[source], more = append(out, by[source][0]), by[source][1:], true
			}
		}
	}
	return out
}

// PairKey identifies a pair by the definitions of both candidates, so that a review counts as
// long as neither changes.
func (s *Subsumption) PairKey(p *Pair) string {
	parts := []string{"pair", s.Names[p.A], s.Names[p.B]}
	if s.prover != nil {
		for _, i := range [...]int{p.A, p.B} {
			parts = append(parts, value.Stringify(shownCheck(&s.prover.list[i])))
		}
	}
	return blobs.Key(parts...)[:16]
}

// Shown returns a candidate's description and check, for a person.
func (s *Subsumption) Shown(i int) (says, check string) {
	if s.prover == nil {
		return "", ""
	}
	o := shownCheck(&s.prover.list[i])
	says = o.Text("says")
	return says, value.Text(o.At("check"))
}

// PairTally counts the examples of a matrix for a pair.
type PairTally struct {
	Both, OnlyB, Neither, Undecided int
	// OnlyBID and NeitherID are the ids of an example that passes B and fails A, and of one
	// that fails both; "" if there is none.
	OnlyBID, NeitherID string
}

// Tally counts the examples by the results of both candidates of a pair; nil without a matrix.
func (s *Subsumption) Tally(p *Pair) *PairTally {
	if s.matrix == nil {
		return nil
	}
	columns, err := columnsOf([]string{s.Names[p.A], s.Names[p.B]}, s.matrix)
	if err != nil {
		return nil
	}
	t := &PairTally{}
	a, b := s.matrix.Cells[columns[0]], s.matrix.Cells[columns[1]]
	for i := range a {
		id := s.matrix.Examples[i].ID
		switch {
		case a[i] == matrix.Undecided || b[i] == matrix.Undecided:
			t.Undecided++
		case a[i] == matrix.Passed && b[i] == matrix.Passed:
			t.Both++
		case a[i] == matrix.Failed && b[i] == matrix.Passed:
			if t.OnlyB++; t.OnlyB == 1 {
				t.OnlyBID = id
			}
		case a[i] == matrix.Failed:
			if t.Neither++; t.Neither == 1 {
				t.NeitherID = id
			}
		}
	}
	return t
}

// Review is a person's answer about an implication.
type Review struct {
	Key    string // key of the pair, see [Subsumption.PairKey]
	A, B   string
	Source Source
	Answer string // yes, no or skip
}

// answers are the valid answers in a file of reviews; undo reverts the last answer.
var answers = []string{"yes", "no", "skip", "undo"}

// ReviewLog is a file of reviews with one line per review. A line is on disk before
// [ReviewLog.Add] returns. It is not safe for concurrent use.
type ReviewLog struct {
	out  format.Log
	list []Review
}

// maxReviews bounds a file of reviews, in bytes.
const maxReviews = 64 << 20

// OpenReviews reads the reviews in a file, if it exists, and appends new ones. It reports all
// mistakes in the file; if there are any, the log is nil. It removes an incomplete last line.
func OpenReviews(file string) (*ReviewLog, proviso.Mistakes, error) {
	l := &ReviewLog{out: format.Log{File: file}}
	data, err := format.ReadBounded(file, maxReviews)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l, nil, nil
	case err != nil:
		return nil, nil, proviso.Errorf(proviso.NotFound, "read the reviews: %w", err)
	}
	if whole := bytes.LastIndexByte(data, '\n') + 1; whole < len(data) {
		if data = data[:whole]; whole == 0 {
			return nil, nil, proviso.Errorf(proviso.Invalid, "%s is not a file of reviews: its first line has no line break", file)
		}
		if err := os.Truncate(file, int64(whole)); err != nil {
			return nil, nil, proviso.Errorf(proviso.Unavailable, "mend the reviews: %w", err)
		}
	}
	t := &format.Table{File: file}
	for line, err := range document.Lines(bytes.NewReader(data)) {
		if err != nil {
			t.Mistakes = append(t.Mistakes, document.MistakeOf(file, err))
			continue
		}
		l.read(t, line)
	}
	if t.Mistakes.Err() != nil {
		return nil, t.Mistakes, nil
	}
	return l, t.Mistakes, nil
}

func (l *ReviewLog) read(t *format.Table, line document.Line) {
	o, _ := line.Value.(*value.Object)
	r := Review{Key: o.Text("pair"), A: o.Text("a"), B: o.Text("b"), Source: Source(o.Text("source")), Answer: o.Text("answer")}
	switch {
	case !slices.Contains(answers, r.Answer):
		t.Mistake(line.Number, document.Nearest(r.Answer, answers), "an object with pair, a, b, source and answer (yes, no, skip or undo) is expected")
	case r.Answer == "undo":
		l.list = l.list[:max(0, len(l.list)-1)]
	case r.Key == "" || !slices.Contains(Sources(), r.Source):
		t.Mistake(line.Number, "", "the review does not say which pair it is of, or of which source")
	default:
		l.list = append(l.list, r)
	}
}

// Answered returns the answer about a pair; "" if there is none.
func (l *ReviewLog) Answered(key string) string {
	for i := len(l.list) - 1; i >= 0; i-- {
		if l.list[i].Key == key {
			return l.list[i].Answer
		}
	}
	return ""
}

// Add appends a review.
func (l *ReviewLog) Add(r Review) error {
	if err := l.append(r); err != nil {
		return err
	}
	l.list = append(l.list, r)
	return nil
}

// Undo reverts the last review, even one from an earlier session, and returns it; ok is false
// if there is none.
func (l *ReviewLog) Undo() (r Review, ok bool, err error) {
	n := len(l.list)
	if n == 0 {
		return Review{}, false, nil
	}
	r = l.list[n-1]
	undone := r
	undone.Answer = "undo"
	if err := l.append(undone); err != nil {
		return Review{}, false, err
	}
	l.list = l.list[:n-1]
	return r, true, nil
}

// append writes a line.
func (l *ReviewLog) append(r Review) error {
	o := value.ObjectOf("pair", r.Key, "a", r.A, "b", r.B, "source", string(r.Source), "answer", r.Answer)
	if err := l.out.Append(append(value.AppendJSON(nil, o), '\n')); err != nil {
		return proviso.Errorf(proviso.Unavailable, "keep the review: %w", err)
	}
	return nil
}

// Close closes the file.
func (l *ReviewLog) Close() error { return l.out.Close() }

// Precision is how many reviewed pairs of a source are correct.
type Precision struct {
	Source         Source
	Right, Wrong   int
	Skipped        int
	stats.Interval // interval of the correct share (Wilson)
}

// Precision summarises the reviews of a subsumption's pairs by source; it omits sources
// without reviews. If a pair has several answers, the last one counts.
func (l *ReviewLog) Precision(s *Subsumption, confidence float64) []Precision {
	said := map[string]Review{}
	for _, r := range l.list {
		said[r.Key] = r
	}
	by := map[Source]*Precision{}
	for i := range s.Pairs {
		p := &s.Pairs[i]
		r, ok := said[s.PairKey(p)]
		if !ok {
			continue
		}
		// A review counts for the source that the pair had at the time of the review.
		sum := by[r.Source]
		if sum == nil {
			sum = &Precision{Source: r.Source}
			by[r.Source] = sum
		}
		switch r.Answer {
		case "yes":
			sum.Right++
		case "no":
			sum.Wrong++
		default:
			sum.Skipped++
		}
	}
	var list []Precision
	for _, source := range Sources() {
		if sum := by[source]; sum != nil {
			sum.Interval = stats.Wilson(sum.Right, sum.Right+sum.Wrong, confidence)
			list = append(list, *sum)
		}
	}
	return list
}
