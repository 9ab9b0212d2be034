package selection

import (
	"encoding/json"
	"time"

	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/solve"
)

// confidence is the confidence of the intervals in JSON.
const confidence = 0.95

// selectionJSON is the JSON form of a selection. Without a selection, the numbers that depend
// on one are null.
type selectionJSON struct {
	Method              string        `json:"method"`
	Status              string        `json:"status"`
	Proven              bool          `json:"proven"`
	Violates            []string      `json:"violates"`
	Objective           *int          `json:"objective"`
	LowerBound          *int          `json:"lower_bound"`
	Gap                 *float64      `json:"gap"`
	Selected            []string      `json:"selected"`
	ExcludedNotSubsumed []string      `json:"excluded_not_subsumed"`
	Addable             []string      `json:"addable"`
	Coverage            coverageJSON  `json:"coverage"`
	FFR                 ffrJSON       `json:"ffr"`
	FractionSelected    float64       `json:"fraction_selected"`
	FractionNotSubsumed float64       `json:"fraction_not_subsumed"`
	Engine              string        `json:"engine"`
	Nodes               int64         `json:"nodes"`
	Millis              float64       `json:"millis"`
	Best                *coverageJSON `json:"best_coverage,omitempty"`
	BestProven          *bool         `json:"best_coverage_proven,omitempty"`
	Uncaught            []string      `json:"uncaught,omitempty"`
	Binds               *bindsJSON    `json:"binds,omitempty"`
	Pinned              []string      `json:"pinned,omitempty"`
	Banned              []string      `json:"banned,omitempty"`
	Cost                *priceJSON    `json:"cost,omitempty"`
	Undecided           *doubtJSON    `json:"undecided,omitempty"`
	Unlabeled           int           `json:"unlabeled,omitempty"`
	Dropped             [][2]string   `json:"dropped_implications,omitempty"`
}

// priceJSON is the cost of the selection per output, in US dollars, if there is a budget.
type priceJSON struct {
	USD    *float64 `json:"usd_per_output"`
	Budget float64  `json:"budget"`
}

// bindsJSON says which thresholds affect the selection.
type bindsJSON struct {
	Alpha bool `json:"alpha"`
	Tau   bool `json:"tau"`
	Cov   *int `json:"cov_would_select,omitempty"`
}

// coverageJSON counts the certainly caught outputs. AtMost is how many are caught if every
// undecided cell is a fail.
type coverageJSON struct {
	Covered int  `json:"covered"`
	AtMost  *int `json:"at_most,omitempty"`
	Bad     int  `json:"bad"`
}

// ffrJSON counts the certain false failures. AtMost, which is compared with tau, counts every
// undecided cell as a fail.
type ffrJSON struct {
	False  int  `json:"false_failures"`
	AtMost *int `json:"at_most,omitempty"`
	Good   int  `json:"good"`
	// All is the estimate for all outputs, labelled or not.
	All *widerJSON `json:"all_outputs,omitempty"`
}

type widerJSON struct {
	Rate    float64 `json:"rate"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Outputs int     `json:"outputs"`
}

// doubtJSON is the uncertainty from undecided cells.
type doubtJSON struct {
	As       string         `json:"count_as"`
	Selected int            `json:"selected_cells"`
	Others   int            `json:"other_cells"`
	Lower    *int           `json:"lower_bound,omitempty"` // for any decision of the cells
	Cells    map[string]int `json:"candidates"`            // undecided cells by candidate, if it has any
}

// JSON returns the selection as one indented JSON object; took is the duration of the search.
func (s *Selection) JSON(took time.Duration) ([]byte, error) {
	a := s.Answer
	j := selectionJSON{
		Method: s.Options.Method, Status: s.Status().String(), Proven: s.Proven(), Violates: s.Violates,
		Selected: s.names(a.Selected), ExcludedNotSubsumed: s.names(a.LeftOver), Addable: s.names(a.Addable),
		Coverage: coverageJSON{Covered: a.Covered, Bad: s.Bad}, FFR: ffrJSON{False: a.False - s.Doubt.Good, Good: s.Good},
		Engine: a.Engine, Nodes: a.Nodes, Millis: float64(took.Microseconds()) / 1000, Unlabeled: s.Matrix.Unlabeled,
	}
	j.Pinned, j.Banned = s.names(s.Instance.Keep), s.Banned
	if b := s.Binding; b != nil {
		j.Binds = &bindsJSON{Alpha: b.Alpha, Tau: b.Tau}
		if b.Cov > 0 {
			j.Binds.Cov = &b.Cov
		}
	}
	if b := s.Options.Budget; b != nil {
		j.Cost = &priceJSON{Budget: *b}
		if s.Found() {
			usd := s.Spends()
			j.Cost.USD = &usd
		}
	}
	if w, ok := s.Wider(confidence); ok {
		j.FFR.All = &widerJSON{w.FFR.Value, w.FFR.Low, w.FFR.High, w.Outputs}
	}
	if j.Violates == nil {
		j.Violates = []string{}
	}
	if m := float64(len(s.Matrix.Names)); m > 0 {
		j.FractionSelected, j.FractionNotSubsumed = float64(len(a.Selected))/m, float64(len(a.LeftOver))/m
	}
	switch a.Status {
	case solve.Optimal, solve.Feasible:
		gap, low := s.Gap(), s.lowerBound()
		j.Objective, j.LowerBound, j.Gap = &a.Objective, &low, &gap
	default:
		j.Best, j.BestProven, j.Uncaught = &coverageJSON{Covered: a.Best, Bad: s.Bad}, &a.BestProven, s.Uncaught
	}
	s.doubtJSON(&j)
	for _, p := range s.Dropped {
		j.Dropped = append(j.Dropped, [2]string{p.A, p.B})
	}
	return json.MarshalIndent(j, "", "  ")
}

// doubtJSON adds the uncertainty from undecided cells, if there are any.
func (s *Selection) doubtJSON(j *selectionJSON) {
	d := s.Doubt
	if d.Cells+d.Elsewhere == 0 {
		return
	}
	j.Undecided = &doubtJSON{As: s.Options.undecided(), Selected: d.Cells, Others: d.Elsewhere, Cells: s.undecidedCells()}
	if s.bounds() && s.Found() {
		j.Undecided.Lower = &d.LowerBound
		caught, failed := s.Answer.Covered+d.Bad, s.Answer.False
		j.Coverage.AtMost, j.FFR.AtMost = &caught, &failed
	}
}

// undecidedCells counts the undecided cells of each candidate that has any.
func (s *Selection) undecidedCells() map[string]int {
	cells := map[string]int{}
	for j, column := range s.Matrix.Cells {
		for _, cell := range column {
			if cell == matrix.Undecided {
				cells[s.Matrix.Names[j]]++
			}
		}
	}
	return cells
}
