package notify

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/proviso-eval/proviso/report"
)

// alarm is the part of an alarm that people see. Messages contain the whole alarm.
type alarm struct {
	ID        string     `json:"id"`
	Watch     string     `json:"watch"`
	Kind      string     `json:"kind"`
	Assertion string     `json:"assertion"`
	State     string     `json:"state"`
	Opened    time.Time  `json:"opened"`
	Closed    *time.Time `json:"closed"`
	Reason    string     `json:"reason"`
	Since     *struct {
		Low  *time.Time `json:"low"`
		High *time.Time `json:"high"`
	} `json:"since"`
	Baseline *struct {
		Rate  *float64 `json:"rate"`
		Upper *float64 `json:"upper"`
		N     int      `json:"n"`
	} `json:"baseline"`
	Now *struct {
		Rate *float64 `json:"rate"`
		Low  *float64 `json:"low"`
		High *float64 `json:"high"`
		N    int      `json:"n"`
	} `json:"now"`
	Version string `json:"version"`
	Judge   string `json:"judge"`
	Changed []struct {
		What string     `json:"what"`
		From any        `json:"from"`
		To   any        `json:"to"`
		At   *time.Time `json:"at"`
	} `json:"changed"`
}

// Limits of the shown texts.
const (
	maxShown   = 300 // characters of a text
	maxChanged = 5
)

// plain is a stranger's text as one line without invisible characters.
func plain(text string, most int) string { return report.Line(text, most) }

// title describes the alarm in one line.
func (a *alarm) title() string {
	watch, assertion := plain(a.Watch, 100), plain(a.Assertion, 100)
	what := "an alarm of the watch " + watch
	switch a.Kind {
	case "agent":
		what = fmt.Sprintf("%s: %s fails more often", watch, assertion)
	case "judge":
		what = fmt.Sprintf("%s: the judge of %s decides anchors differently than before", watch, assertion)
		if assertion == "" {
			what = watch + ": the judge decides anchors differently than before"
		}
	case "mix":
		what = watch + ": the mix of the traffic has changed"
	case "silent":
		what = watch + ": nothing is known"
	}
	if a.State == "closed" {
		return "Over: " + what
	}
	return strings.ToUpper(what[:1]) + what[1:]
}

// row is one fact about an alarm. Its text is plain, and not escaped.
type row struct{ name, text string }

// rows are the facts about an alarm, the most important first.
func (a *alarm) rows() []row {
	var list []row
	add := func(name, text string) {
		if text != "" {
			list = append(list, row{name, plain(text, maxShown)})
		}
	}
	add("Why", a.Reason)
	if n := a.Now; n != nil && n.Rate != nil {
		text := percent(n.Rate)
		if n.Low != nil && n.High != nil {
			text += fmt.Sprintf(" (%s to %s)", percent(n.Low), percent(n.High))
		}
		add("Fails now", fmt.Sprintf("%s of %d", text, n.N))
	}
	if b := a.Baseline; b != nil && b.Rate != nil {
		text := fmt.Sprintf("%s of %d", percent(b.Rate), b.N)
		if b.Upper != nil {
			text += ", at most " + percent(b.Upper)
		}
		if b.N == 0 { // no earlier observations: the rate is the one that the watch allows
			add("Objective", "at most "+percent(cmp.Or(b.Upper, b.Rate)))
		} else {
			add("Before", text)
		}
	}
	if s := a.Since; s != nil {
		switch low, high := moment(s.Low), moment(s.High); {
		case low != "" && high != "" && low != high:
			add("Since", "between "+low+" and "+high)
		case low != "" || high != "":
			add("Since", max(low, high))
		}
	}
	for _, c := range a.Changed[:min(len(a.Changed), maxChanged)] {
		text := plain(c.What, 40) + ": " + plain(shown(c.From), 60) + " → " + plain(shown(c.To), 60)
		if at := moment(c.At); at != "" {
			text += " at " + at
		}
		add("Changed", text)
	}
	add("Version", a.Version)
	add("Judge", a.Judge)
	add("Opened", moment(&a.Opened))
	add("Closed", moment(a.Closed))
	return list
}

func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case float64:
		return fmt.Sprintf("%.4g", v)
	default:
		return fmt.Sprint(v)
	}
}

func percent(f *float64) string {
	if f == nil || math.IsNaN(*f) {
		return "?"
	}
	return fmt.Sprintf("%.1f %%", 100**f)
}

func moment(t *time.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}
