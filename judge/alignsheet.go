package judge

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/stats"
)

// SheetOptions say what a sheet of outputs to label holds.
type SheetOptions struct {
	PerAssertion int // at most, for each assertion and judge; 50 if 0
	// Random draws from all verdicts alike. Otherwise half come from what the
	// judge passed and half from what it failed, as far as there are so many:
	// where fails are rare a random sample holds next to none, and says nothing
	// of what the judge lets pass.
	Random     bool
	Verdicts   bool     // show the judge's verdict and reason, too
	Assertions []string // only these; nil is all
	Seed       uint64   // of the drawing; equal seeds draw equal outputs
}

// MaxPerAssertion is the most that [SheetOptions.PerAssertion] may be.
const MaxPerAssertion = 10_000

const usualPerAssertion = 50

// SheetRun is a run whose rows can be read one by one, too.
type SheetRun interface {
	KeptRun
	Row(index int) ([]byte, error)
}

// Sheet says what a sheet holds.
type Sheet struct {
	Rows       int
	Assertions []SheetPart
}

// SheetPart is one assertion × judge of a sheet.
type SheetPart struct {
	Assertion, Judge string
	Drawn, Of        stats.Count // passes of the judge among what was drawn, and of all
}

// WriteSheet writes outputs of a run for people to label, as the CSV that
// [ReadLabels] reads back with its column human filled in. Lines come in random
// order, but those of one output together.
func WriteSheet(w io.Writer, run SheetRun, o SheetOptions) (Sheet, error) {
	if o.PerAssertion == 0 {
		o.PerAssertion = usualPerAssertion
	}
	if o.PerAssertion < 1 || o.PerAssertion > MaxPerAssertion {
		return Sheet{}, proviso.Errorf(proviso.Invalid, "%d outputs for each assertion are not between 1 and %d", o.PerAssertion, MaxPerAssertion)
	}
	d := &drawing{o: o, parts: map[group]*part{}, judges: map[string][]string{}}
	for row, err := range keptRows(run) {
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

// drawing draws verdicts in one pass: of each kind those whose rows have the
// smallest hashes. The same rows are drawn for all assertions, as far as
// possible, so that few outputs have to be read.
type drawing struct {
	o      SheetOptions
	parts  map[group]*part
	order  []group
	judges map[string][]string
	judged []string // assertions that a model decides
	full   bool     // there are more assertions than can be kept apart
}

// part is what was drawn for a group, the verdicts of each kind apart.
type part struct {
	kinds [2]kindDrawn // passes, fails
}

type kindDrawn struct {
	n     int // of all
	lines []sheetLine
}

// sheetLine is a verdict to be labelled.
type sheetLine struct {
	priority  uint64
	row       int
	assertion string
	verdict   proviso.Status
	weight    float64 // how many verdicts of its kind the line stands for; 0 if all lines stand for as many
}

func comparePriority(a, b sheetLine) int {
	return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(a.row, b.row))
}

func (d *drawing) offer(row keptRow) {
	var priority uint64
	counted := map[string]int{}
	verdicts := row.verdicts()
	for _, v := range verdicts {
		counted[v.name]++
	}
	for _, v := range verdicts {
		g := group{strings.Clone(v.name), strings.Clone(v.judge)} // of the row nothing is kept
		if !d.known(g) || v.status != proviso.Pass && v.status != proviso.Fail || counted[v.name] > 1 {
			continue // not wanted, undecided, not applied, or not to be told apart by name
		}
		if priority == 0 {
			priority = d.priority(row.index)
		}
		p := d.parts[g]
		if p == nil {
			p = &part{}
			d.parts[g], d.order = p, append(d.order, g)
		}
		p.add(sheetLine{priority: priority, row: row.index, assertion: g.assertion, verdict: v.status}, d.o.PerAssertion)
	}
}

// known notes who decides an assertion, and reports whether it is wanted.
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

// add keeps a line if it is among the first so many of its kind.
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

// merge takes in the lines of another part.
func (p *part) merge(other *part, most int) {
	for i := range other.kinds {
		k := &p.kinds[i]
		k.n += other.kinds[i].n
		k.lines = append(k.lines, other.kinds[i].lines...)
		slices.SortFunc(k.lines, comparePriority)
		k.lines = k.lines[:min(len(k.lines), most)]
	}
}

// draw chooses the lines of all parts.
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
			if e.Valid = d.judged; document.Nearest(name, d.judged) != "" {
				e.Valid = []string{document.Nearest(name, d.judged)}
			}
			return Sheet{}, nil, e
		}
	}
	var sheet Sheet
	var lines []sheetLine
	for _, g := range d.order {
		if g.judge == "" {
			continue // no model decides it, or nobody knows which
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

// choose returns the lines of one part.
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
