package throttle

import (
	"github.com/proviso-eval/proviso/permit"
)

// Ticket stands for a request that may be sent, and holds what the endpoint reports in the answer.
type Ticket struct {
	epoch  int64   // epoch of the grant; 0 if a refusal says nothing about it
	mark   float64 // value of [permit.Grant] Mark at this request
	report permit.Report
}

// Reports records the limits that the endpoint reports.
func (t *Ticket) Reports(requests, tokens permit.Remaining) {
	t.report.Requests, t.report.Tokens = requests, tokens
}

// reports reports whether a rate follows from what the endpoint reported.
func (t *Ticket) reports() bool { return t.report.Requests.Usable() || t.report.Tokens.Usable() }

// usedUp reports whether the endpoint reported that one of its limits is used up, so that a refusal
// says nothing new. A request has about each tokens.
func (t *Ticket) usedUp(each float64) bool {
	requests, tokens := t.report.Requests, t.report.Tokens
	return requests.Usable() && requests.Left < 1 || tokens.Usable() && tokens.Left < max(each, 1)
}
