package report

import (
	"bufio"
	"cmp"
	"context"
	"math"

	"github.com/proviso-eval/proviso/stats"
	"github.com/proviso-eval/proviso/value"
)

// Batch is the result of a suite for one agent: how many cases passed, and how often each
// assertion passed. While some cases are undecided, their pass rate is a range. The rates
// of assertions and the mean score cover decided verdicts only. A case counts once for each
// prompt, provider and repeat.
type Batch struct {
	// AgentID is the suite's id, else the name of its only provider.
	AgentID string `json:"agent_id"`
	// TestSuite is the suite's description, else its file name.
	TestSuite string       `json:"test_suite"`
	Results   BatchResults `json:"results"`
	RunID     string       `json:"run_id,omitempty"`
	Judges    []BatchJudge `json:"judges,omitempty"`
	Cost      float64      `json:"cost"`                    // US dollars, for answers and deciding
	Incurred  *float64     `json:"incurred_cost,omitempty"` // what this run spent; only if answers came from a cache
}

// BatchResults are the counts of a [Batch].
type BatchResults struct {
	TotalCases  int `json:"total_cases"`
	PassedCases int `json:"passed_cases"`
	FailedCases int `json:"failed_cases"`
	// AverageScore is the mean score of the assertion set, or of the cases if there is no
	// set; null if nothing was decided.
	AverageScore *float64 `json:"average_score"`
	// AssertionBreakdown has each assertion by its id, else its metric, else its name, such
	// as `not-contains "refund"`.
	AssertionBreakdown map[string]BatchAssertion `json:"assertion_breakdown"`

	ErrorCases   int       `json:"error_cases"`
	SkippedCases int       `json:"skipped_cases"`
	PassRate     *float64  `json:"pass_rate"`          // null while cases are undecided, and if no case counts
	Range        *Interval `json:"pass_rate_range"`    // the pass rates if all undecided cases failed and if all passed; null if no case counts
	Interval     *Interval `json:"pass_rate_interval"` // spans the intervals around both ends of the range; null if no case counts
}

// BatchAssertion counts the verdicts on one assertion.
type BatchAssertion struct {
	PassRate        *float64   `json:"pass_rate"`          // null if it was never decided
	Interval        *Interval  `json:"pass_rate_interval"` // null if it was never decided
	Passed          int        `json:"passed"`
	Failed          int        `json:"failed"`
	Errors          int        `json:"errors"`
	Skipped         int        `json:"skipped"`
	CannotTell      int        `json:"cannot_tell,omitempty"`       // outputs for which the judge cannot tell whether a criterion is met
	CannotTellShare float64    `json:"cannot_tell_share,omitempty"` // share of all outputs that were to be decided
	Cost            float64    `json:"cost"`                        // US dollars for deciding
	Judges          []string   `json:"judges,omitempty"`            // identities; empty if no judge model took part
	Agreement       *BatchWith `json:"agreement,omitempty"`         // with human labels; absent if no judge model took part
}

// BatchWith is the agreement of an assertion's judges with human labels. With several
// judges, it is that of the least trusted one.
type BatchWith struct {
	Validated bool     `json:"validated"`
	Weak      bool     `json:"weak,omitempty"` // human labels disagree too often
	Text      string   `json:"text"`
	Labels    int      `json:"labels,omitempty"`
	Missing   *Missing `json:"missing,omitempty"` // labels still needed for a measurement; absent if the judge is measured, or if there are no labels
	Kappa     *float64 `json:"kappa,omitempty"`
	TPR       *float64 `json:"tpr,omitempty"`
	TNR       *float64 `json:"tnr,omitempty"`
}

// Missing is the number of labels still needed to measure a judge.
type Missing struct {
	Good int `json:"good"` // labels of outputs that people passed
	Bad  int `json:"bad"`  // labels of outputs that people failed
}

// BatchJudge is the work of one judge. CachedTokens is the part of PromptTokens that its
// vendor read from the vendor's own cache.
type BatchJudge struct {
	Judge        string  `json:"judge"`
	Verdicts     int     `json:"verdicts"`
	Cached       int     `json:"cached"`
	Errors       int     `json:"errors"` // questions without a verdict
	PromptTokens int64   `json:"prompt_tokens"`
	CachedTokens int64   `json:"cached_tokens"`
	TotalTokens  int64   `json:"total_tokens"`
	Cost         float64 `json:"cost"`
}

// Interval is the range of a rate. A pass_rate_interval has a confidence of 95 % (Wilson).
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// NewBatch returns the batch result of a run.
func NewBatch(m *Meta, s *Summary) *Batch {
	t := s.Totals()
	counts := s.rows
	b := &Batch{AgentID: m.agent(), TestSuite: m.Suite, RunID: m.RunID, Cost: t.Cost}
	if t.Incurred != t.Cost {
		b.Incurred = &t.Incurred
	}
	r := &b.Results
	r.TotalCases, r.PassedCases, r.FailedCases, r.ErrorCases, r.SkippedCases = t.Rows(), t.Passed, t.Failed, t.Errors, t.Skipped
	if counts.Asked() > 0 {
		low, high := counts.ends()
		interval := counts.interval()
		r.Range, r.Interval = &Interval{Low: low, High: high}, &interval
		if low == high {
			r.PassRate = &low
		}
	}
	if mean := s.decided.value() / float64(s.scored); s.scored > 0 && !math.IsNaN(mean) && !math.IsInf(mean, 0) {
		r.AverageScore = &mean
	}
	r.AssertionBreakdown = breakdown(m, s)
	for _, j := range s.Judges() {
		b.Judges = append(b.Judges, BatchJudge{j.Identity, j.Verdicts, j.Cached, j.Errors, j.Usage.Prompt, j.Usage.Cached, j.Usage.Total, j.Cost})
	}
	return b
}

// breakdown combines assertions with the same name.
func breakdown(m *Meta, s *Summary) map[string]BatchAssertion {
	byName := map[string]*AssertionSummary{}
	list := s.Assertions()
	for i := range list {
		a := &list[i]
		name := cmp.Or(a.Label(), a.Name())
		joined := byName[name]
		if joined == nil {
			joined = &AssertionSummary{ID: a.Label()}
			byName[name] = joined
		}
		joined.plus(a.Counts)
		joined.Cost += a.Cost
		joined.CannotTell += a.CannotTell
		for _, judge := range a.Judges {
			for _, text := range a.asked {
				joined.judgedBy(judge, text)
			}
		}
	}
	out := make(map[string]BatchAssertion, len(byName))
	for name, a := range byName {
		x := BatchAssertion{Passed: a.Passed, Failed: a.Failed, Errors: a.Errors, Skipped: a.Skipped, CannotTell: a.CannotTell, CannotTellShare: a.cannotTellShare(), Cost: a.Cost, Judges: a.Judges}
		x.PassRate, x.Interval = a.share()
		x.Agreement = m.with(a)
		out[name] = x
	}
	return out
}

// with returns the agreement of an assertion's judges with human labels.
func (m *Meta) with(a *AssertionSummary) *BatchWith {
	t, judged := m.trust(a)
	if !judged {
		return nil
	}
	w := &BatchWith{Validated: t.Validated, Weak: t.Weak, Text: t.Text, Labels: t.Labels, Kappa: t.Kappa, TPR: t.TPR, TNR: t.TNR}
	if t.TooFew {
		w.Missing = &Missing{Good: t.MissingGood, Bad: t.MissingBad}
	}
	return w
}

// share returns the pass rate with its interval; nil if nothing was decided.
func (c Counts) share() (*float64, *Interval) {
	if c.Decided() == 0 {
		return nil, nil
	}
	rate, low, high := c.decidedRate()
	return &rate, &Interval{Low: low, High: high}
}

// decidedRate returns the rate for programs. It covers decided verdicts only, because the
// errors are given separately. It is NaN if nothing was decided.
func (c Counts) decidedRate() (rate, low, high float64) {
	i := stats.Wilson(c.Passed, c.Decided(), confidence)
	return float64(c.Passed) / float64(c.Decided()), i.Low, i.High
}

// agent returns the name of the evaluated agent; "" if there are several.
func (m *Meta) agent() string {
	if id := m.Config.At("id"); id != nil {
		return value.ToString(id)
	}
	name := ""
	for i := range m.Columns {
		if i > 0 && m.Columns[i].provider() != name {
			return ""
		}
		name = m.Columns[i].provider()
	}
	return name
}

// renderBatch writes the batch result as JSON.
func renderBatch(_ context.Context, w *bufio.Writer, in *Input) error {
	return value.WriteJSON(w, NewBatch(in.Meta, in.Summary), "  ")
}
