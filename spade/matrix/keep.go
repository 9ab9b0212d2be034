package matrix

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/value"
)

// Keep saves decided cells, so that trying the same candidates on the same outputs again
// decides only new cells: after an interrupted run, or after a change of one candidate. A
// cell's key consists of the candidate's definition, the output with its prompt and variables,
// and the engine.
//
// Keep does not save undecided cells, nor cells of candidates that ask a model, because the
// judge keeps their verdicts by its identity, nor cells of candidates that read files or the
// network, because their results can change. Keep is safe for concurrent use.
type Keep struct {
	// Store has one entry per output, with the cells of all candidates.
	Store *blobs.Store
	// Engine identifies everything besides the candidate and output that affects verdicts,
	// such as the version of proviso.
	Engine string

	mu  sync.Mutex
	err error
}

func (k *Keep) failed(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		k.err = err
	}
}

func (k *Keep) failure() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

// cellKeys holds the keys of candidates in the entries of a [Keep]. A nil *cellKeys keeps
// nothing.
type cellKeys struct {
	keep  *Keep
	keys  []string         // by candidate; "" if it is not kept
	named map[string][]int // the candidates of each key
}

// keySize is the length of a candidate's key in an entry: 64 bits in hexadecimal.
const keySize = 16

func newCellKeys(list []proviso.Candidate, p *trying) *cellKeys {
	c := &cellKeys{keep: p.o.Keep, keys: make([]string, len(list)), named: map[string][]int{}}
	for i := range list {
		if p.alone[i] == nil || p.g.Columns[i].AsksModel || !repeatable(list[i].Assertion) {
			continue
		}
		key := blobs.Key("candidate 1", definition(list[i].Assertion))[:keySize]
		c.keys[i] = key
		c.named[key] = append(c.named[key], i)
	}
	return c
}

// definition returns the parts of an assertion that can change its verdict.
func definition(a *proviso.Assertion) string {
	o := value.NewObject(a.Raw.Len())
	keys := slices.Clone(a.Raw.Keys())
	slices.Sort(keys)
	for _, key := range keys {
		switch v := a.Raw.At(key); key {
		case "id", "description", "metric", "severity":
		case "config":
			config, _ := v.(*value.Object)
			config = config.Clone()
			if config.Delete(candidate.ProvenanceKey); config.Len() > 0 {
				o.Set(key, config)
			}
		default:
			o.Set(key, v)
		}
	}
	return value.Stringify(o)
}

// repeatable reports whether a candidate always gives the same result for an output.
func repeatable(a *proviso.Assertion) bool {
	if a.Raw == nil || strings.Contains(value.Stringify(a.Raw), "file://") {
		return false
	}
	kind, ok := check.Lookup(strings.TrimPrefix(a.Type, "not-"))
	return ok && kind.Needs&check.NeedsNetwork == 0 && !slices.ContainsFunc(a.Assert, func(inner *proviso.Assertion) bool { return !repeatable(inner) })
}

// cellPack holds the kept cells of one output. A nil *cellPack keeps nothing. It is safe for
// concurrent use.
type cellPack struct {
	*cellKeys
	mu     sync.Mutex // guards kept and fresh
	key    string
	kept   map[int]said
	others map[string]string // cells of candidates that are not being tried, by key
	fresh  bool              // there are unsaved cells
}

// The states of a cell in an entry; each is followed by the keys of its candidates.
const (
	keptPassed = "passed"
	keptFailed = "failed"
	keptThrew  = "threw"
)

// maxOthers bounds how many cells of other candidates an entry keeps.
const maxOthers = 4096

// saveSlow is the time from which a cell is saved at once. Faster cells wait until all cells
// of their output are decided, because deciding them again takes hardly longer than saving
// them.
const saveSlow = 50 * time.Millisecond

// load reads the kept cells of a trial.
func (c *cellKeys) load(t *trial.Trial) *cellPack {
	if c == nil || len(c.named) == 0 {
		return nil
	}
	about := []string{"cells 1", c.keep.Engine, value.Stringify(t.Output), value.Stringify(t.Vars)}
	if t.HasPrompt {
		about = append(about, t.Prompt)
	}
	p := &cellPack{cellKeys: c, key: blobs.Key(about...), kept: map[int]said{}, others: map[string]string{}}
	entry, _, err := c.keep.Store.Get(p.key)
	if err != nil {
		return p // treated as if nothing was kept; a write reports the error
	}
	for _, state := range [...]string{keptPassed, keptFailed, keptThrew} {
		list, _ := entry.At(state).(string)
		for ; len(list) >= keySize; list = list[keySize:] {
			key := list[:keySize]
			if len(c.named[key]) == 0 && len(p.others) < maxOthers {
				p.others[key] = state
			}
			for _, j := range c.named[key] {
				p.kept[j] = keptAs(state)
			}
		}
	}
	return p
}

func keptAs(state string) said {
	switch state {
	case keptPassed:
		return said{cell: Passed, kept: true}
	case keptThrew:
		return said{cell: Failed, threw: true, kept: true, reason: "it threw when it was tried before"}
	}
	return said{cell: Failed, kept: true}
}

// get returns a kept cell.
func (p *cellPack) get(j int) (said, bool) {
	if p == nil {
		return said{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.kept[j]
	return s, ok
}

// put keeps a cell if it is decided, and saves it at once if it took longer than saveSlow.
func (p *cellPack) put(j int, s said, took time.Duration) {
	if p == nil || p.keys[j] == "" || s.cell == Undecided {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, same := range p.named[p.keys[j]] {
		p.kept[same] = s
	}
	if p.fresh = true; took > saveSlow {
		p.write()
	}
}

// save writes the new cells.
func (p *cellPack) save() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.write()
}

// write writes the new cells; mu is held.
func (p *cellPack) write() {
	if !p.fresh {
		return
	}
	states := map[string][]string{}
	for key, state := range p.others {
		states[state] = append(states[state], key)
	}
	for key, list := range p.named {
		s, ok := p.kept[list[0]]
		if !ok {
			continue
		}
		state := keptFailed
		switch {
		case s.threw:
			state = keptThrew
		case s.cell == Passed:
			state = keptPassed
		}
		states[state] = append(states[state], key)
	}
	o := value.NewObject(3)
	for _, state := range [...]string{keptPassed, keptFailed, keptThrew} {
		slices.Sort(states[state])
		o.Set(state, strings.Join(states[state], ""))
	}
	if err := p.keep.Store.Put(p.key, o); err != nil {
		p.keep.failed(err)
	}
	p.fresh = false
}
