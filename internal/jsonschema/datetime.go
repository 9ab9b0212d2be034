package jsonschema

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/value"
)

// digits reads n decimal digits at i.
func digits(s string, i, n int) (int, bool) {
	if i+n > len(s) {
		return 0, false
	}
	v := 0
	for _, c := range []byte(s[i : i+n]) {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int(c-'0')
	}
	return v, true
}

// isDate is RFC 3339 full-date with a real day.
func isDate(s string) bool {
	_, _, _, ok := dateOf(s)
	return ok
}

func dateOf(s string) (year, month, day int, ok bool) {
	if len(s) != len("2006-01-02") || s[4] != '-' || s[7] != '-' {
		return 0, 0, 0, false
	}
	year, ok1 := digits(s, 0, 4)
	month, ok2 := digits(s, 5, 2)
	day, ok3 := digits(s, 8, 2)
	if !ok1 || !ok2 || !ok3 || month < 1 || month > 12 {
		return 0, 0, 0, false
	}
	last := time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return year, month, day, day >= 1 && day <= last
}

// clock is a time of day in the form of the formats.
type clock struct {
	hour, minute int
	second       float64
	text         string // text of the second
	zoned        bool
	offset       int // minutes ahead of UTC
	zoneHour     int
	zoneMinute   int
	zoneSign     int
}

// clockOf reads hh:mm:ss, a fraction and a zone: z, ±hh, ±hhmm or ±hh:mm.
func clockOf(s string) (c clock, ok bool) {
	var ok1, ok2, ok3 bool
	c.hour, ok1 = digits(s, 0, 2)
	c.minute, ok2 = digits(s, 3, 2)
	whole, ok3 := digits(s, 6, 2)
	if !ok1 || !ok2 || !ok3 || s[2] != ':' || s[5] != ':' {
		return c, false
	}
	i := 8
	if i < len(s) && s[i] == '.' {
		for i++; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		}
		if i == 9 {
			return c, false
		}
	}
	c.text = s[6:i]
	c.second = float64(whole)
	if i > 8 {
		c.second = value.ToNumber(c.text)
	}
	return c, c.zone(s[i:])
}

func (c *clock) zone(s string) (ok bool) {
	c.zoneSign = 1
	switch {
	case s == "":
		return true
	case s == "z" || s == "Z":
		c.zoned = true
		return true
	case s[0] == '-':
		c.zoneSign = -1
	case s[0] != '+':
		return false
	}
	c.zoned = true
	if c.zoneHour, ok = digits(s, 1, 2); !ok {
		return false
	}
	rest := strings.TrimPrefix(s[3:], ":")
	if rest != "" || len(s) > 3 {
		if c.zoneMinute, ok = digits(rest, 0, 2); !ok || len(rest) != 2 {
			return false
		}
	}
	c.offset = c.zoneSign * (c.zoneHour*60 + c.zoneMinute)
	return true
}

// valid applies the ranges; a leap second must fall on 23:59:60 UTC.
func (c *clock) valid(zoneRequired bool) bool {
	if c.zoneHour > 23 || c.zoneMinute > 59 || zoneRequired && !c.zoned {
		return false
	}
	if c.hour <= 23 && c.minute <= 59 && c.second < 60 {
		return true
	}
	minute := c.minute - c.zoneMinute*c.zoneSign
	hour := c.hour - c.zoneHour*c.zoneSign
	if minute < 0 {
		hour--
	}
	return (hour == 23 || hour == -1) && (minute == 59 || minute == -1) && c.second < 61
}

func isTime(s string) bool    { c, ok := clockOf(s); return ok && c.valid(true) }
func isISOTime(s string) bool { c, ok := clockOf(s); return ok && c.valid(false) }

// splitDateTime splits at the one "t" or white space of a date-time.
func splitDateTime(s string) (date, clock string, ok bool) {
	at, width := separator(s)
	if at < 0 {
		return "", "", false
	}
	rest := s[at+width:]
	if again, _ := separator(rest); again >= 0 {
		return "", "", false
	}
	return s[:at], rest, true
}

func separator(s string) (at, width int) {
	for i, r := range s {
		if r == 't' || r == 'T' || value.IsSpace(r) {
			return i, utf8.RuneLen(r)
		}
	}
	return -1, 0
}

func isDateTime(s string) bool {
	d, t, ok := splitDateTime(s)
	return ok && isDate(d) && isTime(t)
}

func isISODateTime(s string) bool {
	d, t, ok := splitDateTime(s)
	return ok && isDate(d) && isISOTime(t)
}

func compareDate(a, b string) (int, bool) {
	return strings.Compare(a, b), a != "" && b != ""
}

// instant is the point in time that ECMAScript's Date reads from the text.
func instant(date, clock string) (time.Time, bool) {
	year, month, day, ok := dateOf(date)
	if !ok {
		return time.Time{}, false
	}
	if clock == "" {
		return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC), true
	}
	c, ok := clockOf(clock)
	if !ok || c.second >= 60 || c.hour > 23 || c.minute > 59 {
		return time.Time{}, false
	}
	nanos := int64(c.second*1000) * int64(time.Millisecond)
	t := time.Date(year, time.Month(month), day, c.hour, c.minute-c.offset, 0, 0, time.UTC)
	return t.Add(time.Duration(nanos)), true
}

func compareTime(a, b string) (int, bool) {
	s, ok1 := instant("2020-01-01", a)
	t, ok2 := instant("2020-01-01", b)
	return s.Compare(t), ok1 && ok2 && a != "" && b != ""
}

func compareISOTime(a, b string) (int, bool) {
	s, ok1 := clockOf(a)
	t, ok2 := clockOf(b)
	if !ok1 || !ok2 {
		return 0, false
	}
	return strings.Compare(a[:2]+a[3:5]+s.text, b[:2]+b[3:5]+t.text), true
}

func dateTimeOf(s string) (time.Time, bool) {
	if isDate(s) {
		return instant(s, "")
	}
	d, t, ok := splitDateTime(s)
	if !ok {
		return time.Time{}, false
	}
	return instant(d, t)
}

func compareDateTime(a, b string) (int, bool) {
	s, ok1 := dateTimeOf(a)
	t, ok2 := dateTimeOf(b)
	return s.Compare(t), ok1 && ok2
}

func compareISODateTime(a, b string) (int, bool) {
	d1, t1, _ := splitDateTime(a)
	d2, t2, _ := splitDateTime(b)
	order, ok := compareDate(d1, d2)
	if !ok || order != 0 {
		return order, ok
	}
	return compareTime(t1, t2)
}
