package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
)

// maxWatchContent limits the content of a watch, including its anchors, in bytes.
const maxWatchContent = 8 << 20

// Version returns the hash of the content of a watch: SHA-256, in hexadecimal.
func (n *NewWatch) Version() string {
	sum := sha256.Sum256(n.Content)
	return hex.EncodeToString(sum[:])
}

// Check returns why a watch cannot be stored, or nil.
func (n *NewWatch) Check() error {
	if len(n.Content) > maxWatchContent {
		return proviso.Errorf(proviso.Limit, "the watch has %d bytes with its anchors, more than %d (8 MiB)", len(n.Content), maxWatchContent)
	}
	return checkText("name of the watch", n.Name, MaxName)
}

// Check returns why an event cannot be enqueued, or nil.
func (j EventJob) Check() error {
	return errors.Join(checkText("watch", j.Watch, MaxName), checkProbability(j.Probability))
}

func checkProbability(p float64) error {
	if p > 0 && p <= 1 {
		return nil
	}
	return proviso.Errorf(proviso.Invalid, "a probability has to be over 0 and at most 1, not %v", p)
}

func checkDollars(what string, f float64) error {
	if f >= 0 && !math.IsInf(f, 0) {
		return nil
	}
	return proviso.Errorf(proviso.Invalid, "the %s is %v", what, f)
}

// Check returns why a verdict cannot be stored, or nil.
func (v *WatchVerdict) Check() error {
	errs := []error{checkText("assertion", v.Assertion, MaxName), checkProbability(v.Probability), checkDollars("cost of a verdict", v.Cost)}
	for _, text := range [...]struct{ what, text string }{{"event", v.Event}, {"conversation", v.Conversation}, {"agent", v.Agent}, {"version of the set", v.Set}, {"version", v.Version}, {"judge", v.Judge}, {"segment", v.Segment}, {"model", v.Model}, {"prompt", v.Prompt}, {"reason", v.Reason}} {
		if most := maxEventText; text.what != "reason" && len(text.text) > most {
			errs = append(errs, proviso.Errorf(proviso.Limit, "the %s of a verdict has %d bytes, more than %d", text.what, len(text.text), most))
		}
		if !utf8.ValidString(text.text) {
			errs = append(errs, proviso.Errorf(proviso.Invalid, "the %s of a verdict is not valid UTF-8", text.what))
		}
	}
	switch {
	case v.Status > proviso.Skip:
		errs = append(errs, proviso.Errorf(proviso.Invalid, "there is no status %d", v.Status))
	case v.Event == "":
		errs = append(errs, proviso.Errorf(proviso.Invalid, "a verdict has no event"))
	case v.Time.IsZero():
		errs = append(errs, proviso.Errorf(proviso.Invalid, "the event of a verdict has no time"))
	case len(v.Reason) > MaxExcerpt:
		errs = append(errs, proviso.Errorf(proviso.Limit, "the reason of a verdict has %d bytes, more than %d", len(v.Reason), MaxExcerpt))
	}
	return errors.Join(errs...)
}

// Check returns why the result of a job cannot be stored, or nil.
func (r *EventResult) Check() error {
	errs := []error{checkDollars("cost of an event", r.Cost)}
	if len(r.Verdicts) > maxVerdicts {
		errs = append(errs, proviso.Errorf(proviso.Limit, "an event has %d verdicts, more than %d", len(r.Verdicts), maxVerdicts))
	}
	for i := range r.Verdicts {
		errs = append(errs, r.Verdicts[i].Check())
	}
	return errors.Join(errs...)
}

// maxEventText limits ids and names that come from events, in bytes.
const maxEventText = 500

// recentVerdicts is how far back a series can have steps shorter than an hour.
const recentVerdicts = 48 * time.Hour

// Check returns why a series filter is invalid, or nil; now is the current time.
func (f *SeriesFilter) Check(now time.Time) error {
	switch {
	case !slices.Contains([]SeriesBy{"", ByVersion, BySegment}, f.By):
		return &proviso.Error{Code: proviso.Invalid, Message: "a series is not by " + quote(string(f.By)), Valid: []string{string(ByVersion), string(BySegment)}}
	case !f.From.Before(f.To):
		return proviso.Errorf(proviso.Invalid, "the series ends before it begins")
	case f.Step < time.Minute || f.Step >= time.Hour && f.Step%time.Hour != 0:
		return proviso.Errorf(proviso.Invalid, "the step of a series is %v, not a multiple of an hour, or less than one and at least a minute", f.Step)
	case f.Step < time.Hour && f.From.Before(now.Add(-recentVerdicts)):
		return proviso.Errorf(proviso.Invalid, "steps of less than an hour go back 48 hours")
	case f.To.Sub(f.From)/f.Step > maxBuckets:
		return proviso.Errorf(proviso.Limit, "the series has %d steps, more than %d; choose longer ones", f.To.Sub(f.From)/f.Step, maxBuckets)
	}
	return nil
}

// Check returns why an acknowledgement cannot be stored, or nil.
func (a *Ack) Check() error {
	err := checkText("name of who acknowledges the alarm", a.By, MaxName)
	if a.Note == "" {
		return err
	}
	if n := utf8.RuneCountInString(a.Note); n > MaxAckNote {
		return errors.Join(err, proviso.Errorf(proviso.Limit, "the note has %d characters, more than %d", n, MaxAckNote))
	}
	return errors.Join(err, checkText("note", a.Note, 4*MaxAckNote))
}

// Check returns why an alarm cannot be stored, or nil.
func (a *Alarm) Check() error {
	if !slices.Contains([]AlarmState{AlarmOpen, AlarmAcked, AlarmClosed}, a.State) {
		return proviso.Errorf(proviso.Invalid, "there is no alarm state %s", quote(string(a.State)))
	}
	if len(a.Body) > MaxContent {
		return proviso.Errorf(proviso.Limit, "an alarm has %d bytes", len(a.Body))
	}
	return errors.Join(checkText("id of the alarm", a.ID, MaxName), checkText("kind of the alarm", a.Kind, MaxName), optionalText("assertion", a.Assertion))
}
