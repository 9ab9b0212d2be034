package server

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/store"
)

// Settings describes a server. It contains no secret.
type Settings struct {
	Version     string           `json:"version"`
	Mode        string           `json:"mode" enum:"view,serve"`
	Folder      string           `json:"folder,omitempty" doc:"What proviso view shows"`
	ReadOnly    bool             `json:"read_only"`
	Open        bool             `json:"open" doc:"Whether everybody on this machine may use it without a key"`
	Evaluations EvaluationTimes  `json:"evaluations"`
	Providers   []ProviderStatus `json:"providers"`
	Keys        []KeyStatus      `json:"keys" doc:"The newest active API keys; empty without the scope admin"`
	Limits      map[string]any   `json:"limits" doc:"Numbers, or texts with a unit"`
}

// ProviderStatus reports whether the server has the key of a provider.
type ProviderStatus struct {
	ID  string `json:"id" doc:"How ids of the provider begin"`
	Key string `json:"key" enum:"present,absent,not needed"`
}

// KeyStatus is an API key, without its secret.
type KeyStatus struct {
	ID       string        `json:"id"`
	Name     string        `json:"name"`
	Scopes   []store.Scope `json:"scopes"`
	LastUsed *time.Time    `json:"last_used,omitempty"`
}

// shownKeys limits the list of keys.
const shownKeys = 200

func (s *Server) settings(c *call) error {
	open, err := s.open(c.r.Context())
	if err != nil {
		return err
	}
	o := &s.o
	out := Settings{
		Version: o.Version, Mode: s.sessionOf(c.key).Mode, Folder: o.Folder, ReadOnly: o.OpenToken != "", Open: open,
		Evaluations: s.latencies.times(c.project), Providers: s.providers(), Keys: []KeyStatus{},
		Limits: map[string]any{
			"body bytes": o.BodyLimit, "run bytes": o.RunLimit, "requests a second": o.Rate, "time of an evaluation": o.EvaluateLimit.String(),
			"processor time of a request": o.CPUBudget.String(), "event streams": o.MaxStreams, "session": o.SessionLife.String(), "session since its login": o.SessionMost.String(),
			"runs are kept": keptFor(o.KeepRuns), "evaluations are kept": keptFor(o.KeepEvaluations),
		},
	}
	if c.key.Can(store.Admin) {
		list, err := o.Store.ListKeys(c.r.Context(), store.Page{Limit: shownKeys})
		if err != nil {
			return err
		}
		for _, k := range list.Items {
			if !k.Revoked.IsZero() || k.Project != c.project {
				continue
			}
			out.Keys = append(out.Keys, KeyStatus{ID: k.ID, Name: k.Name, Scopes: k.Scopes, LastUsed: timeShown(k.LastUsed)})
		}
	}
	return c.json(http.StatusOK, out)
}

// keptFor describes a retention time.
func keptFor(d time.Duration) string {
	if d <= 0 {
		return "forever"
	}
	return d.String()
}

// providers returns the model providers. Opening one shows whether its key is missing.
func (s *Server) providers() []ProviderStatus {
	list := []ProviderStatus{}
	for _, k := range provider.Kinds() {
		if k.Code || k.File || k.URL || k.Local || k.OpenEnded || !strings.HasSuffix(k.Name, ":") {
			continue
		}
		status := ProviderStatus{ID: strings.TrimSuffix(k.Name, ":"), Key: "present"}
		switch {
		case !lacksKey(k.Name, proviso.EnvMap{}):
			status.Key = "not needed"
		case lacksKey(k.Name, s.o.Env):
			status.Key = "absent"
		}
		list = append(list, status)
	}
	return slices.Clip(list)
}

func lacksKey(kind string, env proviso.Env) bool {
	if env == nil {
		env = proviso.EnvMap{}
	}
	_, err := provider.Open(proviso.ProviderSpec{ID: kind + "model"}, provider.Options{Env: env})
	return errors.Is(err, provider.ErrNoKey)
}

// EvaluationTimes is how long streamed evaluations took, from the request to the last verdict.
type EvaluationTimes struct {
	Count int      `json:"count" doc:"Of the last streamed evaluations of the project, at most 1000"`
	P50   *float64 `json:"p50_ms" doc:"Milliseconds; null if there are none"`
	P95   *float64 `json:"p95_ms" doc:"Milliseconds; null if there are none"`
}

// maxLatencies is how many evaluations of a project count.
const maxLatencies = 1000

// latencies are the durations of the last streamed evaluations. The zero value is ready to use.
// It is safe for concurrent use.
type latencies struct {
	mu sync.Mutex
	of map[store.Project]*ring
}

// ring is a ring buffer of durations. The oldest one is at next.
type ring struct {
	times []time.Duration
	next  int
}

func (l *latencies) add(p store.Project, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[store.Project]*ring{}
	}
	r := l.of[p]
	if r == nil {
		r = &ring{}
		l.of[p] = r
	}
	if len(r.times) < maxLatencies {
		r.times = append(r.times, took)
		return
	}
	r.times[r.next] = took
	r.next = (r.next + 1) % maxLatencies
}

// times returns the median and the 95th percentile.
func (l *latencies) times(p store.Project) EvaluationTimes {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of[p]
	if r == nil {
		return EvaluationTimes{}
	}
	sorted := slices.Sorted(slices.Values(r.times))
	at := func(percent int) *float64 { // nearest rank
		ms := milliseconds(sorted[(len(sorted)*percent+99)/100-1])
		return &ms
	}
	return EvaluationTimes{Count: len(sorted), P50: at(50), P95: at(95)}
}
