package update

import (
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/stats"
)

// Rates count how many outputs an assertion failed before and now, among the outputs on which
// it is decided.
type Rates struct{ Before, Now stats.Count }

// Drift compares how often an assertion, or the whole set, fails now and failed before.
type Drift struct {
	Name string // "" for the set
	All  Rates  // all outputs, labelled or not
	Good Rates  // outputs that people label good: false failures
	Bad  Rates  // outputs that people label bad: catches
	Up   stats.Count
	Down stats.Count // new outputs with a thumb up or down, which is not a label
	// Change and Wrong are the differences of All and of Good, now − before. The confidence of
	// their intervals applies to all assertions together ([Confidence], divided among them).
	// They are nil if there is nothing to compare.
	Change, Wrong *stats.Estimate
}

// Confidence is the joint confidence of all intervals in a report.
const Confidence = 0.95

// Changed reports whether the interval of a difference does not include 0.
func Changed(d *stats.Estimate) bool { return d != nil && (d.Low > 0 || d.High < 0) }

// drift compares the new outputs with all others, for the set and each member.
func (r *Report) drift(selected []string) {
	now := make([]bool, len(r.Grid.Entries))
	for i := range r.Outputs {
		now[r.Outputs[i].row] = true
	}
	set := r.places(selected)
	confidence := 1 - (1-Confidence)/float64(len(set)+1)
	r.Drift = append(r.Drift, r.driftOf("", set, now, confidence))
	for _, j := range set {
		r.Drift = append(r.Drift, r.driftOf(r.Grid.Names[j], []int{j}, now, confidence))
	}
}

func (r *Report) driftOf(name string, set []int, now []bool, confidence float64) Drift {
	d := Drift{Name: name}
	count := func(c *stats.Count, cell matrix.Cell) {
		if cell == matrix.Undecided {
			return
		}
		c.N++
		if cell == matrix.Failed {
			c.Pass++ // counts failures
		}
	}
	for i, e := range r.Grid.Entries {
		cell, _ := r.verdict(i, set)
		side := func(rates *Rates) *stats.Count {
			if now[i] {
				return &rates.Now
			}
			return &rates.Before
		}
		count(side(&d.All), cell)
		switch {
		case e.Label == "" || e.Note == "thumb of a user":
		case e.Label == "1":
			count(side(&d.Good), cell)
		default:
			count(side(&d.Bad), cell)
		}
	}
	for i := range r.Outputs {
		if out := &r.Outputs[i]; out.By == Thumb {
			cell, _ := r.verdict(out.row, set)
			if out.Good {
				count(&d.Up, cell)
			} else {
				count(&d.Down, cell)
			}
		}
	}
	d.Change, d.Wrong = change(d.All, confidence), change(d.Good, confidence)
	return d
}

func change(r Rates, confidence float64) *stats.Estimate {
	if r.Before.N == 0 || r.Now.N == 0 {
		return nil
	}
	e, err := stats.Newcombe(r.Now, r.Before, confidence)
	if err != nil {
		return nil
	}
	return &e
}
