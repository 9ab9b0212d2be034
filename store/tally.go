package store

import (
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
)

// Tally counts the rows of a run by prompt, and the questions to each judge. Prompts and judges
// beyond a limit are left out.
type Tally struct {
	Prompts []PromptCount `json:"prompts,omitempty"`
	Judges  []JudgeCount  `json:"judges,omitempty"`
}

// PromptCount counts the rows of one prompt.
type PromptCount struct {
	ID      string `json:"id"` // prompt id in the rows
	Passed  int    `json:"passed,omitempty"`
	Failed  int    `json:"failed,omitempty"`
	Errors  int    `json:"errors,omitempty"`
	Skipped int    `json:"skipped,omitempty"`
}

// JudgeCount counts the questions to one judge.
type JudgeCount struct {
	Judge    string  `json:"judge"` // its identity
	Verdicts int     `json:"verdicts,omitempty"`
	Errors   int     `json:"errors,omitempty"` // questions without a verdict
	Cached   int     `json:"cached,omitempty"` // verdicts that came from a cache
	Cost     float64 `json:"cost,omitempty"`   // US dollars
}

// RowUse is what one row adds to a [Tally].
type RowUse struct {
	Prompt string       // its id
	Judges []JudgeCount // a judge may occur more than once
}

// Limits of a tally, which is read and written as a whole.
const (
	maxTallied = 100  // prompts, and also judges
	maxTallyID = 1000 // bytes of an id
)

func (j *JudgeCount) count(status proviso.Status, cached bool) {
	switch {
	case status == proviso.Errored:
		j.Errors++
	default:
		j.Verdicts++
		if cached {
			j.Cached++
		}
	}
}

// Add counts a row.
func (t *Tally) Add(status proviso.Status, use RowUse) {
	if use.Prompt != "" {
		p := PromptCount{ID: use.Prompt}
		*counterOf(status, &p.Passed, &p.Failed, &p.Errors, &p.Skipped)++
		t.addPrompt(p)
	}
	for _, j := range use.Judges {
		t.addJudge(j)
	}
}

// Plus adds the counts of another tally.
func (t *Tally) Plus(other Tally) {
	for _, p := range other.Prompts {
		t.addPrompt(p)
	}
	for _, j := range other.Judges {
		t.addJudge(j)
	}
}

func (t *Tally) addPrompt(p PromptCount) {
	i := slices.IndexFunc(t.Prompts, func(had PromptCount) bool { return had.ID == p.ID })
	if i < 0 {
		if len(t.Prompts) < maxTallied && len(p.ID) <= maxTallyID {
			t.Prompts = append(t.Prompts, p)
		}
		return
	}
	had := &t.Prompts[i]
	had.Passed, had.Failed, had.Errors, had.Skipped = had.Passed+p.Passed, had.Failed+p.Failed, had.Errors+p.Errors, had.Skipped+p.Skipped
}

func (t *Tally) addJudge(j JudgeCount) {
	j.Judge = excerpt.Head(j.Judge, maxTallyID)
	i := slices.IndexFunc(t.Judges, func(had JudgeCount) bool { return had.Judge == j.Judge })
	if i < 0 {
		if len(t.Judges) < maxTallied {
			t.Judges = append(t.Judges, j)
		}
		return
	}
	had := &t.Judges[i]
	had.Verdicts, had.Errors, had.Cached, had.Cost = had.Verdicts+j.Verdicts, had.Errors+j.Errors, had.Cached+j.Cached, had.Cost+j.Cost
}
