package monitor

import "github.com/proviso-eval/proviso/ingest"

// Matcher selects the events of a watch. It is safe for concurrent use.
type Matcher struct{ agent string }

// Compile checks the condition of a watch.
func (w *Watch) Compile() (*Matcher, error) { return &Matcher{w.Match.Agent}, nil }

// Match reports whether the watch is about an event.
func (m *Matcher) Match(e *ingest.Event) (bool, error) { return e.Agent == m.agent, nil }
