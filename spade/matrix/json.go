package matrix

import (
	"encoding/json"
	"github.com/proviso-eval/proviso/spade/trial"
)

// gridJSON is the JSON form of the grid's rates.
type gridJSON struct {
	Candidates []columnJSON `json:"candidates"`
	Outputs    outputsJSON  `json:"outputs"`
	Cells      cellsJSON    `json:"cells"`
	Kept       int          `json:"kept"` // cells that were decided at an earlier time
	Tokens     int64        `json:"tokens"`
	Cost       float64      `json:"cost"`
}

type columnJSON struct {
	Name string `json:"name"`
	cellsJSON
	AsksModel   bool     `json:"asks_model"`
	NotRunnable string   `json:"not_runnable,omitempty"`
	Reasons     []string `json:"reasons,omitempty"`
	Threw       []string `json:"exceptions,omitempty"`
}

// cellsJSON counts cells; thrown ones are included in the failed.
type cellsJSON struct {
	Passed        int     `json:"passed"`
	Failed        int     `json:"failed"`
	Thrown        int     `json:"threw"`
	Undecided     int     `json:"undecided"`
	ThrowRate     float64 `json:"throw_rate"`
	UndecidedRate float64 `json:"undecided_rate"`
}

type outputsJSON struct {
	Total      int `json:"total"`
	Good       int `json:"good"`
	Bad        int `json:"bad"`
	Unlabelled int `json:"unlabelled"`
}

// JSON returns how often each candidate passed, failed, threw and was undecided, as
// one indented JSON object.
func (g *Grid) JSON() ([]byte, error) {
	n := trial.CountLabels(g.Entries)
	j := gridJSON{Candidates: []columnJSON{}, Outputs: outputsJSON{len(g.Entries), n.Good, n.Bad, n.Left}, Tokens: g.Usage.Total, Cost: g.Cost}
	var all Rate
	for i, r := range g.Rates() {
		c := g.Columns[i]
		j.Candidates = append(j.Candidates, columnJSON{Name: g.Names[i], cellsJSON: r.encoded(), AsksModel: c.AsksModel, NotRunnable: c.NotRunnable, Reasons: c.Why, Threw: c.Thrown})
		j.Kept += c.Kept
		all = Rate{all.Passed + r.Passed, all.Failed + r.Failed, all.Threw + r.Threw, all.Undecided + r.Undecided}
	}
	j.Cells = all.encoded()
	return json.MarshalIndent(j, "", "  ")
}

func (r Rate) encoded() cellsJSON {
	n := float64(max(1, r.Passed+r.Failed+r.Undecided))
	return cellsJSON{r.Passed, r.Failed, r.Threw, r.Undecided, float64(r.Threw) / n, float64(r.Undecided) / n}
}
