package notify

import (
	"slices"
	"time"
)

// hours are a part of the day in which a target gets no messages.
type hours struct {
	from, to int            // minutes of the day; to is exclusive, and on the next day if it is not after from
	days     []time.Weekday // days on which the hours begin; nil means every day
	zone     *time.Location
}

// quietHours are the quiet hours of a target.
type quietHours []hours

// until returns when the current quiet hours end; the zero time if there are none. It
// merges adjoining hours, up to seven times for each entry, so that quiet hours cannot be
// endless.
func (q quietHours) until(now time.Time) time.Time {
	end := now
	for range 7 * max(1, len(q)) {
		next := end
		for _, h := range q {
			if t := h.end(end); t.After(next) {
				next = t
			}
		}
		if next.Equal(end) {
			break
		}
		end = next
	}
	if end.Equal(now) {
		return time.Time{}
	}
	return end
}

// end returns when the hours that contain a time end; the zero time if there are none.
func (h hours) end(now time.Time) time.Time {
	local := now.In(h.zone)
	for back := range 2 { // hours of today, and those that began yesterday
		y, m, d := local.AddDate(0, 0, -back).Date()
		days := 0
		if h.to <= h.from {
			days = 1
		}
		// Wall-clock time decides, also on a night with a change to or from daylight saving
		// time.
		begin := time.Date(y, m, d, h.from/60, h.from%60, 0, 0, h.zone)
		end := time.Date(y, m, d+days, h.to/60, h.to%60, 0, 0, h.zone)
		day := time.Date(y, m, d, 12, 0, 0, 0, h.zone).Weekday()
		if (h.days == nil || slices.Contains(h.days, day)) && !local.Before(begin) && local.Before(end) {
			return end.UTC()
		}
	}
	return time.Time{}
}
