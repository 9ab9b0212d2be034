package permit

import "time"

// How windows of an endpoint that does not report them are found.
const (
	// A window starts when the endpoint accepts a request after refusing at least dryMany
	// requests over dryFor, and at least dryShare of all requests in that time.
	dryFor   = 5 * time.Second
	dryMany  = 4
	dryShare = 0.5
	// A window needs this many requests: a vendor with a small bucket accepts one now and then.
	fewest = 16
	// While everything is refused, one request each `probes` tests whether the endpoint accepts
	// again; one each `probesLate` if the start of the last window is known.
	probes     = 4 * time.Second
	probesLate = 8 * time.Second

	minute = time.Minute // the window of vendors
	inside = 12 * time.Second
	// What was learnt is valid for this long.
	remembered = 15 * time.Minute
)

// minutes finds the windows of an endpoint that counts requests by whole minutes and does not
// say when it accepts requests again. A window lasts from one long run of refusals to the next;
// the requests accepted in between are its limit.
type minutes struct {
	Accepted time.Time `json:"accepted"` // when the newest accepted request was sent
	Refused  time.Time `json:"refused"`  // when the newest refused request was sent
	Dry      time.Time `json:"dry"`      // start of the current run of refusals; zero if there is none
	Count    int       `json:"count"`    // refusals in it
	Taken    float64   `json:"taken"`    // [Quotas.Taken] at its start

	Begun   time.Time `json:"begun"`   // start of the newest window
	Answers int       `json:"answers"` // requests accepted since
	Limit   int       `json:"limit"`   // requests of a window; 0 if unknown
	Learnt  time.Time `json:"learnt"`  // when Limit was learnt
}

// isDry reports whether the endpoint refuses everything. Taken is the current [Quotas.Taken]:
// some requests may have been accepted whose answers are still missing.
func (m *minutes) isDry(taken float64) bool {
	return !m.Dry.IsZero() && m.Refused.Sub(m.Dry) >= dryFor && m.Count >= dryMany && float64(m.Count) >= dryShare*(taken-m.Taken)
}

// note records answers. It reports whether a window has started, and how long to send nothing.
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
		default: // the number of refusals since then is unknown
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

// begin starts a window, if the last one had enough requests.
func (m *minutes) begin(at time.Time) bool {
	many := m.Answers >= fewest
	m.Limit = 0
	if took := at.Sub(m.Begun) - minute; many && took > -inside && took < inside {
		m.Limit, m.Learnt = m.Answers, at
	}
	m.Begun, m.Answers = at, 0
	return many
}

// byMinutes learns from answers without a report.
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
		// What was learnt in the last window does not apply to this one.
		e.Limit, e.Rate, e.Begun, e.Epoch = 0, firstRate, now, now.UnixMicro()
		e.Settled, e.Refused, e.Settles = 0, 0, now.Add(leaseSearching+late)
		if q := &e.Quotas.Requests; m.Limit > 0 && (q.Sure || q.Limit == 0) { // otherwise the endpoint reports it
			e.Rate = 0
			*q = quota{Limit: float64(m.Limit), Left: float64(m.Limit - a.Accepted), Until: m.Begun.Add(minute), Window: minute, At: now,
				Sure: true, Doubts: q.Doubts, Chances: q.Chances, Checked: q.Checked, Due: q.Due, Mark: q.Mark}
		}
	case e.Quotas.Requests.Sure && m.Limit > 0 && now.Sub(m.Learnt) < remembered:
		e.Quotas.Requests.At = now
	}
}
