package main

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/value"
)

// eventLines reads the events of a file, each with its mistakes and their positions.
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
	var twice *value.DuplicateKeyError
	if _, _, err := value.ParseUniqueJSON(line.Text); errors.As(err, &twice) {
		place := document.JSONPlace(name, line, document.Join("", twice.Key), true)
		return ingest.Event{}, proviso.Mistakes{{Place: place, Code: proviso.Invalid, Message: twice.Error()}}
	}
	e, list := ingest.ReadEvent(o, time.Time{})
	var wrong proviso.Mistakes
	for _, m := range list {
		key := strings.HasPrefix(m.Message, "unknown field")
		wrong = append(wrong, proviso.Mistake{Place: document.JSONPlace(name, line, m.Pointer, key), Code: m.Code, Message: m.Error()})
	}
	return e, wrong
}

// seenEvents is the result of a first pass over a file of events.
type seenEvents struct {
	agents  []string        // in order of appearance, at most maxSeenAgents
	members map[member]bool // at most maxSeenMembers
	large   int             // events that are too large
	list    proviso.Mistakes
}

// member is a member of segment in an agent's events.
type member struct{ agent, name string }

// Limits of what is remembered about a file.
const (
	maxSeenAgents  = 1000
	maxSeenMembers = 10_000
)

// checkEvents reads all events once, so that every mistake is known before the first event is
// evaluated. An event that is too large causes only a warning: a server would reject it and accept
// the others.
func (a *app) checkEvents(name string) (*seenEvents, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, proviso.Errorf(proviso.Invalid, "%s cannot be read twice; write the events to a file first", name)
	}
	s := &seenEvents{members: map[member]bool{}}
	all, disordered, err := monitor.Disorder(s.read(name))
	if err != nil {
		return nil, err
	}
	switch err := a.mistakes(s.list); {
	case err != nil:
		return nil, err
	case all == 0 && s.large == 0:
		return nil, proviso.Errorf(proviso.Invalid, "%s has no events; expected %s", name, holdsEvents)
	case 2*disordered > all-1 || all >= 100 && 10*disordered > all:
		return nil, proviso.Errorf(proviso.Invalid, "%s is not in the order in which events came: of %s, %d are more than an hour away from those around them; "+
			"sort the file by time first, such as with: jq -cs 'sort_by(.time)[]' %s > sorted.jsonl", name, plural.Of(all, "event"), disordered, name)
	}
	if s.large > 0 {
		fmt.Fprintf(a.err, "proviso: %s left out because of their size, as a server would\n", plural.Of(s.large, "event"))
	}
	return s, nil
}

// read yields the events of a file that have no mistakes, and records the mistakes of the others.
func (s *seenEvents) read(name string) iter.Seq2[ingest.Event, error] {
	return func(yield func(ingest.Event, error) bool) {
		for e, wrong := range eventLines(name) {
			for _, m := range wrong {
				if m.Code == proviso.NotFound && m.Place.Line == 0 {
					yield(e, proviso.Errorf(proviso.NotFound, "%s", m.Message))
					return
				}
				if m.Warning = m.Code == proviso.Limit; m.Warning {
					s.large++
				}
				s.list.Add(m)
			}
			if len(wrong) > 0 {
				continue
			}
			if len(s.agents) < maxSeenAgents && !slices.Contains(s.agents, e.Agent) {
				s.agents = append(s.agents, e.Agent)
			}
			for name := range e.Segment {
				if len(s.members) < maxSeenMembers {
					s.members[member{e.Agent, name}] = true
				}
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// segmentless warns about watches that split by a member of segment that no event of their agent
// has.
func (s *seenEvents) segmentless(doc *document.Document, list []replayed) proviso.Mistakes {
	var out proviso.Mistakes
	for i := range list {
		w := &list[i].watch
		if w.Sample.Segment == "" || !slices.Contains(s.agents, w.Match.Agent) || s.members[member{w.Match.Agent, w.Sample.Segment}] || len(s.members) == maxSeenMembers {
			continue
		}
		var names []string
		for at := range s.members {
			if at.agent == w.Match.Agent {
				names = append(names, at.name)
			}
		}
		out = append(out, proviso.Mistake{
			Place: doc.Place(document.Join(document.Join(document.Join("", w.Name), "sample"), "segment")), Code: proviso.NotFound, Warning: true, Nearest: document.Nearest(w.Sample.Segment, names),
			Message: fmt.Sprintf("no event of the agent %q has the member %q in its segment, so all count as one segment", w.Match.Agent, w.Sample.Segment),
		})
	}
	return out
}

// unseen finds the watches whose agent occurs in no event. That is a mistake if no watch has an
// event, and otherwise a warning.
func (s *seenEvents) unseen(file string, doc *document.Document, list []replayed) proviso.Mistakes {
	var out proviso.Mistakes
	for i := range list {
		w := &list[i].watch
		if slices.Contains(s.agents, w.Match.Agent) || len(s.agents) == maxSeenAgents {
			continue
		}
		names := s.agents[:min(len(s.agents), 10)]
		m := proviso.Mistake{
			Place: doc.Place(document.Join(document.Join(document.Join("", w.Name), "match"), "agent")), Code: proviso.NotFound, Nearest: document.Nearest(w.Match.Agent, s.agents),
			Message: fmt.Sprintf("no event has the agent %q: the agents of %s are %s", w.Match.Agent, file, strings.Join(names, ", ")),
		}
		if more := len(s.agents) - len(names); more > 0 {
			m.Message += fmt.Sprintf(" and %d more", more)
		}
		out = append(out, m)
	}
	for i := range out {
		out[i].Warning = len(out) < len(list)
	}
	return out
}

// events yields the events of a file that was already checked, without those that are too large.
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
