package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso/judge/align"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/stats"
	"github.com/proviso-eval/proviso/store"
)

// JudgeUse is the activity of a judge in the latest runs.
type JudgeUse struct {
	Judge     string      `json:"judge" doc:"Its identity: model, parameters and mode"`
	Verdicts  int         `json:"verdicts"`
	Errors    int         `json:"errors" doc:"Questions without a verdict"`
	Cached    int         `json:"cached"`
	Cost      float64     `json:"cost" doc:"US dollars"`
	Runs      int         `json:"runs" doc:"In how many of the runs it was asked"`
	LastRun   string      `json:"last_run"`
	Alignment []Alignment `json:"alignment" doc:"Empty if it was not compared with people"`
	TooFew    string      `json:"too_few,omitempty" doc:"Labels of people that are there, and how many more it takes to measure the judge"`
}

// Alignment is a judge's agreement with human labels on one assertion.
type Alignment struct {
	Criterion  string       `json:"criterion" doc:"The assertion"`
	Labels     int          `json:"labels"`
	TruePass   int          `json:"true_pass"`
	FalsePass  int          `json:"false_pass" doc:"The judge passed what people failed"`
	TrueFail   int          `json:"true_fail"`
	FalseFail  int          `json:"false_fail" doc:"The judge failed what people passed"`
	Undecided  int          `json:"undecided"`
	From       string       `json:"from" enum:"align,labels" doc:"proviso align --save, which corrects for how the outputs were chosen, or the labels on this server as they are"`
	Agreement  EstimateJSON `json:"agreement"`
	Kappa      EstimateJSON `json:"kappa"`
	MeasuredAt string       `json:"measured_at,omitempty" doc:"The day"`
}

// EstimateJSON is a value with its 95 % interval; null if it cannot be estimated.
type EstimateJSON struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// JudgeList lists judges.
type JudgeList struct {
	Items []JudgeUse `json:"items"`
}

func (s *Server) listJudges(c *call) error {
	runs, err := s.latestRuns(c, c.q)
	if err != nil {
		return err
	}
	defer s.unlimited(c)()
	out := JudgeList{Items: []JudgeUse{}}
	at := map[string]int{} // index in out.Items
	for _, r := range s.counted(c, runs) {
		tally, err := s.tallyOf(c, r)
		if err != nil {
			return err
		}
		for _, j := range tally.Judges {
			i, ok := at[j.Judge]
			if !ok {
				if i = len(out.Items); i == maxJudges {
					continue
				}
				at[j.Judge] = i
				out.Items = append(out.Items, JudgeUse{Judge: j.Judge, LastRun: r.ID, Alignment: []Alignment{}})
			}
			u := &out.Items[i]
			u.Verdicts, u.Errors, u.Cached, u.Cost, u.Runs = u.Verdicts+j.Verdicts, u.Errors+j.Errors, u.Cached+j.Cached, u.Cost+j.Cost, u.Runs+1
		}
	}
	slices.SortFunc(out.Items, func(a, b JudgeUse) int { return strings.Compare(a.Judge, b.Judge) })
	if s.o.Alignment != "" && len(out.Items) > 0 {
		measured, err := align.Load(s.o.Alignment)
		if err != nil {
			return err
		}
		for _, e := range measured.Entries() {
			if i := slices.IndexFunc(out.Items, func(u JudgeUse) bool { return u.Judge == e.Judge }); i >= 0 {
				out.Items[i].Alignment = append(out.Items[i].Alignment, alignmentOf(e))
			}
		}
	}
	if err := s.addLabelled(c, runs, out.Items); err != nil {
		return err
	}
	return c.json(http.StatusOK, out)
}

// maxJudges limits the number of judges in a list.
const maxJudges = 1000

func alignmentOf(e align.Entry) Alignment {
	a := Alignment{Criterion: e.Assertion, Labels: e.N, TruePass: e.TP, FalsePass: e.FP, TrueFail: e.TN, FalseFail: e.FN, Undecided: e.Errors, From: "align"}
	if !e.Measured.IsZero() {
		a.MeasuredAt = e.Measured.Format("2006-01-02")
	}
	if e.Agreement.Agreement != nil {
		a.Agreement.Value = e.Agreement.Agreement
		if n := e.TP + e.FP + e.TN + e.FN; n > 0 && !e.Weighted { // separate samples need another interval
			in := stats.Wilson(e.TP+e.TN, n, 0.95)
			a.Agreement.Low, a.Agreement.High = &in.Low, &in.High
		}
	}
	if k := e.Kappa; k != nil {
		a.Kappa = EstimateJSON{&k.Value, &k.Low, &k.High}
	}
	return a
}

// addLabelled compares judges with the labels on this server, for assertions that proviso align
// has not measured. A key that may not see everything gets only the labels on its own runs.
func (s *Server) addLabelled(c *call, runs []store.Run, judges []JudgeUse) error {
	filters := []store.LabelFilter{{}}
	if !seesAll(c.key) {
		filters = nil
		for _, r := range runs {
			filters = append(filters, store.LabelFilter{Run: r.ID})
		}
	}
	var all label.Counts
	for _, f := range filters {
		counts, err := c.kept.CountLabels(c.r.Context(), f)
		if err != nil {
			return err
		}
		all.Judged = append(all.Judged, counts.Judged...)
	}
	of := map[string]*label.Counts{}
	for _, n := range all.Judged {
		if of[n.Judge] == nil {
			of[n.Judge] = &label.Counts{}
		}
		of[n.Judge].Judged = append(of[n.Judge].Judged, n)
	}
	for i := range judges {
		if counts := of[judges[i].Judge]; counts != nil {
			judges[i].addLabelled(counts)
		}
	}
	return nil
}

// addLabelled adds the alignment on a judge's verdicts.
func (u *JudgeUse) addLabelled(counts *label.Counts) {
	most := 0
	for _, name := range counts.Assertions() {
		if slices.ContainsFunc(u.Alignment, func(a Alignment) bool { return a.Criterion == name }) {
			continue
		}
		t := counts.WithJudge(name)
		a := align.Agreement{Assertion: name, Judge: u.Judge, N: t.N(), Confusion: stats.Confusion{TP: t.Both, FN: t.OnlyFirst, FP: t.OnlySecond, TN: t.Neither}}
		if few := a.NotMeasured(); few != "" {
			if a.N > most {
				most, u.TooFew = a.N, few
			}
			continue
		}
		share := float64(t.Agree()) / float64(t.N())
		a.Agreement, a.Kappa = &share, t.Kappa(labelConfidence)
		shown := alignmentOf(align.Entry{Agreement: a})
		shown.From = "labels"
		u.Alignment = append(u.Alignment, shown)
	}
}
