package main

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// maxEventMistakes bounds the mistakes of a file of events that are shown.
const maxEventMistakes = 20

// eventLines reads the events of a file, each with its mistakes, which have places.
func eventLines(name string) iter.Seq2[ingest.Event, proviso.Mistakes] {
	return func(yield func(ingest.Event, proviso.Mistakes) bool) {
		file, err := openFile(name, holdsEvents)
		if err != nil {
			yield(ingest.Event{}, proviso.Mistakes{{Code: proviso.NotFound, Message: err.Error()}})
			return
		}
		defer file.Close()
		for line, err := range document.Lines(file) {
			e, wrong := eventOfLine(name, line, err)
			if !yield(e, wrong) {
				return
			}
		}
	}
}

func eventOfLine(name string, line document.Line, err error) (ingest.Event, proviso.Mistakes) {
	var broken *document.LineError
	if errors.As(err, &broken) {
		code := broken.Code
		if code == "" {
			code = proviso.Invalid
		}
		return ingest.Event{}, proviso.Mistakes{{Place: proviso.Place{File: name, Line: broken.Line, Column: broken.Column, Excerpt: broken.Excerpt}, Code: code, Message: broken.Message}}
	}
	if err != nil {
		return ingest.Event{}, proviso.Mistakes{{Place: proviso.Place{File: name, Line: line.Number}, Code: proviso.NotFound, Message: err.Error()}}
	}
	o, ok := line.Value.(*value.Object)
	if !ok {
		return ingest.Event{}, proviso.Mistakes{{Place: document.JSONPlace(name, line, "", false), Code: proviso.Invalid, Message: "an event has to be an object, not " + kind.Of(line.Value)}}
	}
	e, list := ingest.ReadEvent(o, time.Time{})
	var wrong proviso.Mistakes
	for _, m := range list {
		key := strings.HasPrefix(m.Message, "unknown field")
		wrong = append(wrong, proviso.Mistake{Place: document.JSONPlace(name, line, m.Pointer, key), Code: m.Code, Message: m.Error()})
	}
	return e, wrong
}

// checkEvents reads all events once, so that every mistake is known before the first is
// evaluated. An event that is too large is only a warning: a server would reject it, and
// take the others.
func (a *app) checkEvents(name string) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return proviso.Errorf(proviso.Invalid, "%s is no file that can be read twice; write the events to a file first", name)
	}
	var list proviso.Mistakes
	events, mistakes, large := 0, 0, 0
	for _, wrong := range eventLines(name) {
		events++
		for _, m := range wrong {
			if m.Code == proviso.NotFound && m.Place.Line == 0 {
				return proviso.Errorf(proviso.NotFound, "%s", m.Message)
			}
			if m.Warning = m.Code == proviso.Limit; m.Warning {
				large++
			} else {
				mistakes++
			}
			if len(list) < maxEventMistakes {
				list = append(list, m)
			}
		}
	}
	if more := mistakes + large - len(list); more > 0 {
		list = append(list, proviso.MoreMistakes(more, mistakes == 0))
	}
	if err := a.mistakes(list); err != nil {
		return err
	}
	if events == 0 {
		return proviso.Errorf(proviso.Invalid, "%s has no events; expected %s", name, holdsEvents)
	}
	if large > 0 {
		fmt.Fprintf(a.err, "proviso: %s left out because of their size, as a server would\n", plural(large, "event"))
	}
	return nil
}

// events yields the events of a file that was checked, without those that are too large.
func events(name string) iter.Seq2[ingest.Event, error] {
	return func(yield func(ingest.Event, error) bool) {
		for e, wrong := range eventLines(name) {
			tooLarge := len(wrong) > 0
			for _, m := range wrong {
				if m.Code != proviso.Limit {
					yield(e, proviso.Errorf(proviso.Invalid, "%s has changed since it was checked: %s", name, m.String()))
					return
				}
			}
			if !tooLarge && !yield(e, nil) {
				return
			}
		}
	}
}
