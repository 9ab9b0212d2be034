package score

import (
	"encoding/json"

	"github.com/proviso-eval/proviso/mutate"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/value"
)

// countsJSON is [Counts] with the score, which is null if no mutant is decided.
type countsJSON struct {
	Killed    int       `json:"killed"`
	Survived  int       `json:"survived"`
	Undecided int       `json:"undecided"`
	Score     *float64  `json:"score"`
	Interval  []float64 `json:"interval,omitempty"`
}

func (c Counts) json() countsJSON {
	out := countsJSON{Killed: c.Killed, Survived: c.Survived, Undecided: c.Undecided}
	if c.Decided() > 0 {
		share, i := c.Share(), c.Interval()
		out.Score, out.Interval = &share, []float64{i.Low, i.High}
	}
	return out
}

type instructionJSON struct {
	Line     int    `json:"line,omitempty"`
	Text     string `json:"text"`
	Category string `json:"category,omitempty"`
	countsJSON
	Basis      map[mutate.Basis]countsJSON `json:"basis,omitempty"`
	Also       int                         `json:"also_break_others"`
	Broken     int                         `json:"broken_before"`
	Assertions []string                    `json:"assertions"`
	NotRun     int                         `json:"judged_not_run"`
	Killers    []string                    `json:"killed_by"`
	Survivors  []Example                   `json:"survivors"`
	Add        json.RawMessage             `json:"add,omitempty"`
}

type killsJSON struct {
	Line   int    `json:"line,omitempty"`
	Text   string `json:"text"`
	Killed int    `json:"killed"`
}

type assertionJSON struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Judged  bool   `json:"judged"`
	NotRun  string `json:"not_run,omitempty"`
	Failing int    `json:"failing_before"`
	countsJSON
	Why   string      `json:"why_undecided,omitempty"`
	Kills []killsJSON `json:"kills"`
}

func orNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (in *Instruction) json() instructionJSON {
	out := instructionJSON{
		Line: in.Line, Text: in.Text, Category: in.Category, countsJSON: in.Counts.json(), Also: in.Also, Broken: in.Broken,
		Assertions: orNone(in.Assertions), NotRun: in.Judged, Killers: orNone(in.Killers), Survivors: orNone(in.Survivors),
	}
	if len(in.By) > 0 {
		out.Basis = map[mutate.Basis]countsJSON{}
		for basis, c := range in.By {
			out.Basis[basis] = c.json()
		}
	}
	if in.Add != nil {
		out.Add, _ = candidate.Object(in.Add, false).MarshalJSON() // values from suites always have a JSON form
	}
	return out
}

// JSON returns the report as one indented JSON object; docs/mutate.md describes it.
func (r *Report) JSON() ([]byte, error) {
	o := r.Outputs
	out := struct {
		countsJSON
		Outputs      map[string]int              `json:"outputs"`
		Basis        map[mutate.Basis]countsJSON `json:"basis"`
		Instructions []instructionJSON           `json:"instructions"`
		AnyAnswer    instructionJSON             `json:"any_answer"`
		Assertions   []assertionJSON             `json:"assertions"`
		NotRun       int                         `json:"judged_not_run"`
		Model        string                      `json:"model,omitempty"`
		Refuted      int                         `json:"refuted_claims,omitempty"`
		ModelErrors  []string                    `json:"model_errors,omitempty"`
		Tokens       int                         `json:"tokens"`
		Cost         float64                     `json:"cost"`
	}{
		countsJSON: r.Counts.json(), Basis: map[mutate.Basis]countsJSON{}, AnyAnswer: r.AnyAnswer.json(), NotRun: r.NotRun,
		Outputs: map[string]int{
			"given": o.Given, "labelled_bad": o.Bad, "unfit": o.Unfit, "failing": o.Failing, "undecided": o.Undecided, "not_needed": o.Over(), "usable": o.Usable,
		},
		Instructions: []instructionJSON{}, Assertions: []assertionJSON{}, Model: r.Model, Refuted: r.Refuted, ModelErrors: r.ModelErrs,
		Tokens: int(r.Usage.Prompt + r.Usage.Completion + r.Spent.Usage.Prompt + r.Spent.Usage.Completion), Cost: r.Cost + r.Spent.Cost,
	}
	for basis, c := range r.By {
		out.Basis[basis] = c.json()
	}
	for i := range r.Instructions {
		out.Instructions = append(out.Instructions, r.Instructions[i].json())
	}
	for i := range r.Assertions {
		a := &r.Assertions[i]
		j := assertionJSON{Name: a.Name, Type: a.Type, Judged: a.Judged, NotRun: a.NotRun, Failing: a.Failing, countsJSON: a.Counts.json(), Why: a.Why, Kills: []killsJSON{}}
		for at := -1; at < len(r.Instructions); at++ {
			if n := a.Kills[at]; n > 0 {
				in := r.Instruction(at)
				j.Kills = append(j.Kills, killsJSON{in.Line, in.Text, n})
			}
		}
		out.Assertions = append(out.Assertions, j)
	}
	return value.EncodeJSON(out, "  ")
}
