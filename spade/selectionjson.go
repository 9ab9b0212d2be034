package spade

import (
	"encoding/json"
	"time"

	"github.com/proviso-eval/proviso/spade/solve"
)

// selectionJSON is a selection as programs read it. The numbers that need a
// selection are null where there is none.
type selectionJSON struct {
	Method              string        `json:"method"`
	Status              string        `json:"status"`
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
	Unlabeled           int           `json:"unlabeled,omitempty"`
	Dropped             [][2]string   `json:"dropped_implications,omitempty"`
}

type coverageJSON struct {
	Covered int `json:"covered"`
	Bad     int `json:"bad"`
}

type ffrJSON struct {
	False int `json:"false_failures"`
	Good  int `json:"good"`
}

// JSON returns the selection as one indented JSON object; took is how long it
// took.
func (s *Selection) JSON(took time.Duration) ([]byte, error) {
	a := s.Answer
	j := selectionJSON{
		Method: s.Options.Method, Status: a.Status.String(), Violates: s.Violates,
		Selected: s.names(a.Selected), ExcludedNotSubsumed: s.names(a.LeftOver), Addable: s.names(a.Addable),
		Coverage: coverageJSON{a.Covered, s.Bad}, FFR: ffrJSON{a.False, s.Good},
		Engine: a.Engine, Nodes: a.Nodes, Millis: float64(took.Microseconds()) / 1000, Unlabeled: s.Matrix.Unlabeled,
	}
	if j.Violates == nil {
		j.Violates = []string{}
	}
	if m := float64(len(s.Matrix.Names)); m > 0 {
		j.FractionSelected, j.FractionNotSubsumed = float64(len(a.Selected))/m, float64(len(a.LeftOver))/m
	}
	switch a.Status {
	case solve.Optimal, solve.Feasible:
		gap := s.gap()
		j.Objective, j.LowerBound, j.Gap = &a.Objective, &a.LowerBound, &gap
	default:
		j.Best, j.BestProven, j.Uncaught = &coverageJSON{a.Best, s.Bad}, &a.BestProven, s.Uncaught
	}
	for _, p := range s.Dropped {
		j.Dropped = append(j.Dropped, [2]string{p.A, p.B})
	}
	return json.MarshalIndent(j, "", "  ")
}
