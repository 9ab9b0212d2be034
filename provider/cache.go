package provider

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/value"
)

// Cache stores answers, so that equal requests are made only once. One Cache serves all providers
// of a command. It is safe for concurrent use, and several processes may share a store.
type Cache struct {
	store  proviso.Cache
	ttl    time.Duration
	now    func() time.Time
	secret func([]byte) bool

	mu      sync.Mutex
	flights map[string]*flight
	stats   CacheStats
}

// CacheOptions configure a cache. The zero value works.
type CacheOptions struct {
	// TTL is the maximum age of an answer; 0 means no limit, because the answer to an equal request
	// to the same model stays valid.
	TTL time.Duration
	// Now is the clock; nil is the real one.
	Now func() time.Time
	// Secret reports whether an entry, as JSON, contains a secret. Such an entry is
	// not cached. If nil, no entry does.
	Secret func(entry []byte) bool
}

// CacheStats counts what a cache did.
type CacheStats struct {
	Hits      int     // requests answered from the store, or by an equal request in flight
	Misses    int     // requests that a provider had to answer
	SavedCost float64 // original cost of the hits in US dollars
	Unsaved   int     // answers that could not be written
	Err       error   // the first error
}

// NewCache returns a cache that keeps its answers in store.
func NewCache(store proviso.Cache, o CacheOptions) *Cache {
	c := &Cache{store: store, ttl: o.TTL, now: o.Now, secret: o.Secret, flights: map[string]*flight{}}
	if c.now == nil {
		c.now = time.Now
	}
	return c
}

// Stats returns the counters of the cache.
func (c *Cache) Stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// Provider returns p behind the cache. The identity identifies p, as [Identity] computes it. An
// answer from the cache has Cached set and costs 0; its original cost and latency are in Raw as
// recordedCost and recordedLatencyMs. Errors, empty answers, and answers that the caller cannot use
// are not stored. A provider that computes its answers locally is returned unchanged. The result
// has all abilities of p: see [proviso.As].
func (c *Cache) Provider(p proviso.Provider, identity string) proviso.Provider {
	if Computes(p) {
		return p
	}
	cp := &cached{Provider: p, cache: c, identity: identity}
	cp.abilities = abilities{p, cp.value}
	return cp
}

// innermost removes all decorators of p.
func innermost(p proviso.Provider) proviso.Provider {
	for {
		w, ok := p.(proviso.Wrapper)
		if !ok {
			return p
		}
		p = w.Unwrap()
	}
}

// cached is a provider behind a cache.
type cached struct {
	proviso.Provider
	abilities
	cache    *Cache
	identity string
}

var (
	_ proviso.Wrapper    = (*cached)(nil)
	_ proviso.Embedder   = (*cached)(nil)
	_ proviso.Classifier = (*cached)(nil)
	_ proviso.Moderator  = (*cached)(nil)
)

// Unwrap returns the provider behind the cache.
func (p *cached) Unwrap() proviso.Provider { return p.Provider }

// keyer is a provider whose answers depend on more than the prompt.
type keyer interface {
	// cacheKey describes the request, without secrets.
	cacheKey(ctx context.Context, ask proviso.Ask) (string, error)
}

// Answer returns the cached answer, or asks the provider.
func (p *cached) Answer(ctx context.Context, ask proviso.Ask) (proviso.Output, error) {
	asked := keyed(ask)
	parts := []string{"answer 1", p.identity, asked.Prompt, value.Stringify(value.Sorted(proviso.Keyless(asked.Config))), sampleKey(ask.Sample)}
	if k, ok := proviso.As[keyer](p.Provider); ok {
		more, err := k.cacheKey(ctx, asked)
		if err != nil {
			return proviso.Output{}, err
		}
		if more != "" {
			parts = append(parts, more)
		}
	}
	if shape := replyKey(ask.Reply); shape != "" {
		parts = append(parts, shape)
	}
	key := blobs.KeyIn(ctx, parts...)
	if ask.Trace != nil && ask.Trace.Needed { // a cached answer has no spans
		return p.Provider.Answer(ctx, ask)
	}
	return p.cache.once(ctx, key, func() (proviso.Output, error) {
		if out, ok := p.cache.look(key, ask.Usable); ok {
			return out, nil
		}
		p.cache.count(func(s *CacheStats) { s.Misses++ })
		start := p.cache.now()
		out, err := p.Provider.Answer(ctx, ask)
		if err == nil && out.Latency == nil && !out.Cached {
			took := p.cache.now().Sub(start)
			out.Latency = &took
		}
		if err == nil && !out.Cached && keepable(&out) && (ask.Usable == nil || ask.Usable(&out)) {
			p.cache.keep(key, value.ObjectOf("provider", p.ID(), "prompt", ask.Prompt, "sample", sampleOf(ask.Sample), "response", stored(&out)))
		}
		return out, err
	})
}

func sampleOf(s proviso.Sample) *value.Object {
	return value.ObjectOf("repeat", float64(s.Repeat), "vote", float64(s.Vote), "repair", float64(s.Repair))
}

func (c *Cache) count(change func(*CacheStats)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.stats)
}

// entry returns the entry of a key; nil if there is none, if it is too old, or if the store cannot
// be read.
func (c *Cache) entry(key string) *value.Object {
	o, written, err := c.store.Get(key)
	if err != nil || o == nil || c.ttl > 0 && c.now().Sub(written) > c.ttl {
		return nil
	}
	return o
}

// look returns the stored answer if usable accepts it; a nil usable accepts any.
func (c *Cache) look(key string, usable func(*proviso.Output) bool) (proviso.Output, bool) {
	response, _ := c.entry(key).At("response").(*value.Object)
	out, ok := restored(response)
	if !ok || !keepable(&out) || usable != nil && !usable(&out) {
		return proviso.Output{}, false
	}
	return c.hit(out), true
}

// hit converts a stored answer to one without cost and latency.
func (c *Cache) hit(out proviso.Output) proviso.Output {
	raw := out.Raw.Clone()
	if out.Cost != nil {
		raw.Set("recordedCost", *out.Cost)
	}
	if out.Latency != nil {
		raw.Set("recordedLatencyMs", toMilliseconds(*out.Latency))
	}
	c.count(func(s *CacheStats) {
		s.Hits++
		if out.Cost != nil {
			s.SavedCost += *out.Cost
		}
	})
	if out.Cost != nil { // an unknown cost stays unknown
		free := 0.0
		out.Cost = &free
	}
	out.Cached, out.Latency, out.Usage.Requests = true, nil, 0
	if raw.Len() > 0 {
		out.Raw = raw
	}
	return out
}

// keep writes an entry. The answer is valid even if the write fails, so a failure is only counted.
func (c *Cache) keep(key string, entry *value.Object) {
	if c.secret != nil && c.secret(value.AppendJSON(nil, entry)) {
		return
	}
	if err := c.store.Put(key, entry); err != nil {
		c.count(func(s *CacheStats) {
			s.Unsaved++
			if s.Err == nil {
				s.Err = err
			}
		})
	}
}

// flight is a request in flight that equal requests wait for.
type flight struct {
	done chan struct{}
	out  proviso.Output
	err  error
	over bool // the request ended with an answer or an error of its own, so it was not cancelled
}

// once calls ask, or waits for an equal request in flight. If that request is cancelled, one of the
// waiting callers makes it.
func (c *Cache) once(ctx context.Context, key string, ask func() (proviso.Output, error)) (proviso.Output, error) {
	for {
		c.mu.Lock()
		f, busy := c.flights[key]
		if !busy {
			f = &flight{done: make(chan struct{})}
			c.flights[key] = f
		}
		c.mu.Unlock()
		if !busy {
			return c.fly(ctx, key, f, ask)
		}
		select {
		case <-ctx.Done():
			return proviso.Output{}, ctx.Err()
		case <-f.done:
		}
		switch {
		case !f.over:
		case f.err != nil || !keepable(&f.out):
			return f.out, f.err
		case f.out.Cached:
			saved, _ := f.out.Raw.At("recordedCost").(float64)
			c.count(func(s *CacheStats) { s.Hits++; s.SavedCost += saved })
			return f.out, nil
		default:
			return c.hit(f.out), nil
		}
	}
}

func (c *Cache) fly(ctx context.Context, key string, f *flight, ask func() (proviso.Output, error)) (proviso.Output, error) {
	defer func() {
		c.mu.Lock()
		delete(c.flights, key)
		c.mu.Unlock()
		close(f.done)
	}()
	out, err := ask()
	f.out, f.err = out, err
	f.over = err == nil || ctx.Err() == nil
	return out, err
}

// keyed returns ask without the run id, which differs each time, wherever a template put it. The
// cache key is computed from the result.
func keyed(ask proviso.Ask) proviso.Ask {
	id, _ := ask.Own.At(proviso.EvalID).(string)
	if id == "" {
		return ask
	}
	ask.Own = ask.Own.Clone()
	ask.Own.Set(proviso.EvalID, proviso.EvalID)
	ask.Prompt = strings.ReplaceAll(ask.Prompt, id, proviso.EvalID)
	ask.Vars = withoutID(ask.Vars, id)
	ask.Config = withoutID(ask.Config, id)
	return ask
}

func withoutID(o *value.Object, id string) *value.Object {
	if o == nil {
		return nil
	}
	text := value.Stringify(o)
	if !strings.Contains(text, id) {
		return o
	}
	v, err := value.ParseJSON(strings.ReplaceAll(text, id, proviso.EvalID))
	if changed, ok := v.(*value.Object); ok && err == nil {
		return changed
	}
	return o
}
