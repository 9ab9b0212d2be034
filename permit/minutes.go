package permit

import "time"

// How to find the windows of an endpoint that does not report them.
const (
	// A window begins when an endpoint accepts a request after refusing dryMany of them over dryFor.
	dryFor  = 5 * time.Second
	dryMany = 4
	// Of the requests that were sent in this time, at least this share was refused.
	dryShare = 0.5
	// A window of fewer requests is none: a vendor with a small bucket accepts one now and then.
	fewest = 16
	// While it refuses all, one probe every `probes` checks whether it accepts again; one every
	// `probesLate` if it is known when the last window began.
	probes     = 4 * time.Second
	probesLate = 8 * time.Second

	minute = time.Minute // the window of vendors
	inside = 12 * time.Second
	// What was learnt so holds for so long; then it is learnt anew.
	remembered = 15 * time.Minute
)

// minutes finds the windows of an endpoint that counts requests by whole minutes, and refuses
// them without a word on when it accepts again: from a long time in which it refused all to the
// next is a window, and what it accepted between is its limit.
type minutes struct {
	Accepted time.Time `json:"accepted"` // when the newest request was sent that was accepted
	Refused  time.Time `json:"refused"`  // and that was refused
	Dry      time.Time `json:"dry"`      // when the first was sent since which all were refused
	Count    int       `json:"count"`    // of these
	Taken    float64   `json:"taken"`    // of [Quotas.Taken], when the first was known

	Begun   time.Time `json:"begun"`   // when a window was found to begin
	Answers int       `json:"answers"` // that were accepted since
	Limit   int       `json:"limit"`   // of a window; 0 if it is unknown
	Learnt  time.Time `json:"learnt"`  // when it was
}

// isDry reports whether the endpoint refuses all, when so many requests have been taken. Those
// that it accepts may be answered long after others are refused.
func (m *minutes) isDry(taken float64) bool {
	return !m.Dry.IsZero() && m.Refused.Sub(m.Dry) >= dryFor && m.Count >= dryMany && float64(m.Count) >= dryShare*(taken-m.Taken)
}

// note takes note of answers, when so many requests have been taken. It reports whether a window
// has begun, and how long the endpoint should not be asked.
func (m *minutes) note(now time.Time, a *Ask, taken float64) (begun bool, pause time.Duration) {
	refused, accepted := now.Add(-max(a.RefusedAge, 0)), now.Add(-max(a.AcceptedAge, 0))
	if a.Refusals > 0 && refused.After(m.Accepted) {
		if m.Dry.IsZero() {
			m.Dry, m.Count, m.Taken = refused, 0, taken
		}
		if m.Count += a.Refusals; refused.After(m.Refused) {
			m.Refused = refused
		}
	}
	dry := m.isDry(taken)
	if a.Accepted > 0 {
		switch {
		case m.Dry.IsZero() || !accepted.After(m.Dry):
		case accepted.After(m.Refused):
			begun = dry && m.begin(accepted)
			m.Dry, dry = time.Time{}, false
		default: // how many were refused since is unknown
			m.Dry, m.Count, m.Taken, dry = accepted, 0, taken, false
		}
		m.Answers += a.Accepted
		if accepted.After(m.Accepted) {
			m.Accepted = accepted
		}
	}
	switch next := m.Begun.Add(minute).Sub(now); {
	case !dry || a.Refusals == 0:
	case next <= 0 || next > minute:
		pause = probes
	case m.Limit > 0:
		pause = next
	default:
		pause = min(next, probesLate)
	}
	return begun, pause
}

// begin begins a window, if the last one had enough requests.
func (m *minutes) begin(at time.Time) bool {
	many := m.Answers >= fewest
	m.Limit = 0
	if took := at.Sub(m.Begun) - minute; many && took > -inside && took < inside {
		m.Limit, m.Learnt = m.Answers, at
	}
	m.Begun, m.Answers = at, 0
	return many
}

// byMinutes learns from answers that report nothing of the limits of an endpoint.
func (e *Endpoint) byMinutes(now time.Time, a *Ask) {
	if a.Accepted == 0 && a.Refusals == 0 {
		return
	}
	m := &e.Minutes
	begun, pause := m.note(now, a, e.Quotas.Taken)
	if until := now.Add(pause); pause > 0 && until.After(e.NotBefore) {
		e.NotBefore = until
	}
	switch {
	case begun:
		// Nothing that was learnt of the last window holds.
		e.Limit, e.Rate, e.Begun, e.Epoch = 0, firstRate, now, now.UnixMicro()
		e.Settled, e.Refused, e.Settles = 0, 0, now.Add(leaseSearching+late)
		if q := &e.Quotas.Requests; m.Limit > 0 && (q.Sure || q.Limit == 0) { // or the endpoint reports it
			e.Rate = 0
			*q = quota{Limit: float64(m.Limit), Left: float64(m.Limit - a.Accepted), Until: m.Begun.Add(minute), Window: minute, At: now,
				Sure: true, Doubts: q.Doubts, Chances: q.Chances, Checked: q.Checked, Due: q.Due, Mark: q.Mark}
		}
	case e.Quotas.Requests.Sure && m.Limit > 0 && now.Sub(m.Learnt) < remembered:
		e.Quotas.Requests.At = now
	}
}
