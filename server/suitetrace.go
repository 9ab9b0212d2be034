package server

import (
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/otlp"
)

// traces returns the spans for a suite: those that the server received with the
// key of the run, and those that came with the suite; nil if the suite uses
// none. A suite gets no receiver of its own, and spans are not forwarded.
func traces(read *proviso.Suite, files proviso.Files, held *otlp.Store) (proviso.Spans, proviso.Mistakes) {
	t := read.Tracing
	var mistakes proviso.Mistakes
	note := func(at, code, message string, warning bool) {
		m := proviso.Mistake{Code: code, Message: message, Warning: warning}
		if read.Places != nil {
			m.Place = read.Place(at)
		}
		mistakes = append(mistakes, m)
	}
	for _, e := range []struct {
		key string
		to  *proviso.Endpoint
	}{{"emit", t.Emit}, {"forwarding", t.Forward}} {
		if e.to != nil {
			note("/tracing/"+e.key, proviso.Unsupported, "a server sends neither spans nor verdicts on: tracing."+e.key+" is for proviso eval", true)
		}
	}
	if !t.Enabled && len(t.Files) == 0 {
		return nil, mistakes
	}
	recorded := otlp.NewStore(otlp.StoreOptions{})
	for _, name := range t.Files {
		data, err := files.ReadFile(name)
		if err != nil {
			continue // reported when the suite was read
		}
		if err := recorded.Load(name, string(data)); err != nil {
			note("/tracing/file", proviso.Invalid, err.Error(), false)
		}
	}
	if !t.Enabled {
		return recorded, mistakes
	}
	if held == nil { // the suite is only read
		held = otlp.NewStore(otlp.StoreOptions{})
	}
	view := otlp.ViewOptions{Recorded: recorded, Redact: t.Redact}
	if ms := t.WaitMS; ms != nil {
		if view.Wait = min(time.Duration(*ms)*time.Millisecond, maxSuiteWait); *ms == 0 {
			view.Wait = -time.Millisecond // not at all
		}
	}
	return held.View(view), mistakes
}
