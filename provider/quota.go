package provider

import (
	"net/http"

	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/permit"
)

// ticket is a request that may be sent, and what the endpoint reports with the answer to it.
type ticket struct {
	epoch  int64   // of the grant; 0 if a refusal says nothing of it
	mark   float64 // of the quotas
	report permit.Report
}

// hear reads what the endpoint reports of its limits.
func (e *endpoint) hear(h http.Header, t *ticket) {
	if !e.replays {
		t.report.Requests, t.report.Tokens = transport.Remaining(h, e.now())
	}
}

// reports reports whether the endpoint reported anything from which a rate follows.
func (t *ticket) reports() bool { return t.report.Requests.Usable() || t.report.Tokens.Usable() }

// usedUp reports whether the endpoint reported that one of its limits is used up, so that a refusal
// says nothing new.
func (t *ticket) usedUp(each float64) bool {
	requests, tokens := t.report.Requests, t.report.Tokens
	return requests.Usable() && requests.Left < 1 || tokens.Usable() && tokens.Left < max(each, 1)
}
