package monitor

import (
	"time"

	"github.com/proviso-eval/proviso/ingest"
)

// Forecast is what a [Sampler] plans an hour with. Nothing in it depends on verdicts.
type Forecast struct {
	Now     time.Time
	Traffic map[string]float64 // matching events a day, by segment
	Cost    float64            // US dollars of one evaluated event, on average; 0 if unknown
	Spent   float64            // US dollars of today (UTC)
}

// Sampler decides which events are evaluated. It is safe for concurrent use.
type Sampler struct{}

// NewSampler makes the sampler of a watch. The salt is that of the watch.
func NewSampler(w *Watch, salt string) *Sampler { return &Sampler{} }

// Plan fixes the probabilities of the hour that begins.
func (s *Sampler) Plan(f Forecast) {}

// Take reports whether an event is evaluated, and with which probability it was chosen.
func (s *Sampler) Take(e *ingest.Event) (probability float64, taken bool) { return 1, true }
