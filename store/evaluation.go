package store

import (
	"time"

	"github.com/proviso-eval/proviso"
)

// NewEvaluation is an evaluation to be stored.
type NewEvaluation struct {
	ID        string // from NewID, or "" to generate one
	CreatedBy string // id of the API key that is charged
	Agent     string // agent that produced the output, "" if unknown
	Set       string // hash of the assertion set's version, "" if the assertions were in the request
	Judge     string // judge identity
	Status    proviso.Status
	Score     *float64 // nil while undecided
	Passed    int
	Failed    int
	Errors    int
	Skipped   int
	Usage     proviso.Usage
	Cost      float64 // US dollars
	Elapsed   time.Duration
	Request   []byte // JSON, nil if contents are private
	Response  []byte // JSON, nil if contents are private
	Reply     *Reply // stored in the same transaction, nil if there is none
}

// Evaluation is one output that was judged.
type Evaluation struct {
	NewEvaluation // without Reply
	Created       time.Time
}

// EvaluationFilter selects evaluations; zero fields select all.
type EvaluationFilter struct {
	CreatedBy string
	Agent     string
	Status    []proviso.Status
	Since     time.Time // created then or later
	Until     time.Time // created before
}
