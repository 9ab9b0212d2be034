package align

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/stats"
)

// SheetOptions configure a sheet of outputs for people to label.
type SheetOptions struct {
	PerAssertion int // maximum number of outputs per assertion and judge; 50 if 0
	// Random samples from all verdicts alike. Otherwise half of the sample comes from the
	// judge's passes and half from its fails, as far as there are enough: if fails are
	// rare, a random sample has almost none of them and cannot show how well the judge
	// catches bad outputs.
	Random     bool
	Verdicts   bool     // also show the judge's verdict and reason
	Assertions []string // only these assertions; nil means all
	Seed       uint64   // seed of the sample; equal seeds give equal samples
}

// MaxPerAssertion is the largest valid [SheetOptions.PerAssertion].
const MaxPerAssertion = 10_000

const usualPerAssertion = 50

// SheetRun is a run whose rows can also be read by index.
type SheetRun interface {
	record.Run
	Row(index int) ([]byte, error)
}

// Sheet summarizes a sheet.
type Sheet struct {
	Rows       int
	Assertions []SheetPart
}

// SheetPart is the part of a sheet for one assertion and one judge.
type SheetPart struct {
	Assertion, Judge string
	Drawn, Of        stats.Count // verdicts in the sample, and in the whole run
}

// WriteSheet writes outputs of a run for people to label. After people fill in the column
// human, [ReadLabels] reads the CSV. Lines are in random order, but those of one output
// are together.
func WriteSheet(w io.Writer, run SheetRun, o SheetOptions) (Sheet, error) {
	if o.PerAssertion == 0 {
		o.PerAssertion = usualPerAssertion
	}
	if o.PerAssertion < 1 || o.PerAssertion > MaxPerAssertion {
		return Sheet{}, proviso.Errorf(proviso.Invalid, "%d outputs for each assertion are not between 1 and %d", o.PerAssertion, MaxPerAssertion)
	}
	d := &drawing{o: o, parts: map[group]*part{}, judges: map[string][]string{}}
	for row, err := range record.Rows(run) {
		if err != nil {
			return Sheet{}, err
		}
		d.offer(row)
	}
	sheet, lines, err := d.draw()
	if err != nil {
		return Sheet{}, err
	}
	return sheet, writeLines(w, run, lines, o)
}

// drawing samples verdicts in one pass: among passes and among fails, it takes those
// whose rows have the smallest hashes. The samples of all assertions share rows as far as
// possible, so that people have fewer outputs to read.
type drawing struct {
	o      SheetOptions
	parts  map[group]*part
	order  []group
	judges map[string][]string
	judged []string // assertions that a model decides
	full   bool     // there are more than maxKnownNames assertions
}

// part is the sample of a group. Passes and fails are kept separately.
type part struct {
	kinds [2]kindDrawn // passes, fails
}

type kindDrawn struct {
	n     int // total number of verdicts
	lines []sheetLine
}

// sheetLine is a verdict for people to label.
type sheetLine struct {
	priority  uint64
	row       int
	assertion string
	verdict   proviso.Status
	weight    float64 // number of verdicts of its kind that the line represents; 0 if all lines have equal weight
}

func comparePriority(a, b sheetLine) int {
	return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(a.row, b.row))
}

func (d *drawing) offer(row record.Row) {
	var priority uint64
	counted := map[string]int{}
	verdicts := row.Verdicts()
	for _, v := range verdicts {
		counted[v.Name]++
	}
	for _, v := range verdicts {
		g := group{strings.Clone(v.Name), strings.Clone(v.Judge)} // so that the row can be freed
		if !d.known(g) || v.Status != proviso.Pass && v.Status != proviso.Fail || counted[v.Name] > 1 {
			continue // not selected, undecided, skipped, or the name is ambiguous
		}
		if priority == 0 {
			priority = d.priority(row.Index)
		}
		p := d.parts[g]
		if p == nil {
			p = &part{}
			d.parts[g], d.order = p, append(d.order, g)
		}
		p.add(sheetLine{priority: priority, row: row.Index, assertion: g.assertion, verdict: v.Status}, d.o.PerAssertion)
	}
}

// known records the judge of an assertion, and reports whether the assertion is
// selected.
func (d *drawing) known(g group) bool {
	if judges := d.judges[g.assertion]; g.judge != "" && !slices.Contains(judges, g.judge) {
		if len(d.judges) >= maxKnownNames || len(judges) >= maxKnownNames {
			d.full = true
			return false
		}
		if judges == nil {
			d.judged = append(d.judged, g.assertion)
		}
		d.judges[g.assertion] = append(judges, g.judge)
	}
	if d.o.Assertions != nil {
		return slices.Contains(d.o.Assertions, g.assertion)
	}
	if len(d.parts) >= 2*maxKnownNames && d.parts[g] == nil {
		d.full = true
		return false
	}
	return true
}

func (d *drawing) priority(row int) uint64 {
	var text [16]byte
	binary.BigEndian.PutUint64(text[:8], d.o.Seed)
	binary.BigEndian.PutUint64(text[8:], uint64(row))
	sum := sha256.Sum256(text[:])
	return binary.BigEndian.Uint64(sum[:8])
}

// add keeps a line if it is among the first most lines of its kind.
func (p *part) add(l sheetLine, most int) {
	k := &p.kinds[0]
	if l.verdict == proviso.Fail {
		k = &p.kinds[1]
	}
	k.n++
	at, _ := slices.BinarySearchFunc(k.lines, l, comparePriority)
	if at == most {
		return
	}
	if len(k.lines) == most {
		k.lines = k.lines[:most-1]
	}
	k.lines = slices.Insert(k.lines, at, l)
}

// merge adds the lines of another part.
func (p *part) merge(other *part, most int) {
	for i := range other.kinds {
		k := &p.kinds[i]
		k.n += other.kinds[i].n
		k.lines = append(k.lines, other.kinds[i].lines...)
		slices.SortFunc(k.lines, comparePriority)
		k.lines = k.lines[:min(len(k.lines), most)]
	}
}

// draw chooses the lines for all parts.
func (d *drawing) draw() (Sheet, []sheetLine, error) {
	for name, judges := range d.judges {
		if rest := d.parts[group{name, ""}]; rest != nil && len(judges) == 1 {
			g := group{name, judges[0]}
			if d.parts[g] == nil {
				d.parts[g], d.order = &part{}, append(d.order, g)
			}
			d.parts[g].merge(rest, d.o.PerAssertion)
		}
	}
	switch {
	case d.full:
		return Sheet{}, nil, proviso.Errorf(proviso.Limit, "the run has more than %d judged assertions; choose some with --assertion", maxKnownNames)
	case len(d.judged) == 0:
		return Sheet{}, nil, proviso.Errorf(proviso.Invalid, "the run has no verdict of a judge: no assertion of it was decided by a model")
	}
	for _, name := range d.o.Assertions {
		if !slices.Contains(d.judged, name) {
			e := proviso.Errorf(proviso.NotFound, "no judged assertion of the run is called %q", clipped(name))
			e.Valid = document.Suggest(name, d.judged)
			return Sheet{}, nil, e
		}
	}
	var sheet Sheet
	var lines []sheetLine
	for _, g := range d.order {
		if g.judge == "" {
			continue // no model decides the assertion, or several do
		}
		p := d.parts[g]
		drawn := p.choose(d.o)
		of := stats.Count{Pass: p.kinds[0].n, N: p.kinds[0].n + p.kinds[1].n}
		sheet.Assertions = append(sheet.Assertions, SheetPart{g.assertion, g.judge, countOf(drawn), of})
		lines = append(lines, drawn...)
	}
	slices.SortStableFunc(lines, comparePriority)
	sheet.Rows = len(lines)
	return sheet, lines, nil
}

// choose returns the lines for one part.
func (p *part) choose(o SheetOptions) []sheetLine {
	passes, fails := p.kinds[0].lines, p.kinds[1].lines
	if o.Random {
		all := slices.Concat(passes, fails)
		slices.SortFunc(all, comparePriority)
		return all[:min(len(all), o.PerAssertion)]
	}
	half := min(len(fails), max(o.PerAssertion/2, o.PerAssertion-len(passes)))
	passes, fails = passes[:min(len(passes), o.PerAssertion-half)], fails[:half]
	for i := range passes {
		passes[i].weight = float64(p.kinds[0].n) / float64(len(passes))
	}
	for i := range fails {
		fails[i].weight = float64(p.kinds[1].n) / float64(len(fails))
	}
	return slices.Concat(passes, fails)
}

func countOf(lines []sheetLine) stats.Count {
	c := stats.Count{N: len(lines)}
	for _, l := range lines {
		if l.verdict == proviso.Pass {
			c.Pass++
		}
	}
	return c
}
