package server

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/suite"
)

// Needs of runs, beside those of package provider, [engine.NeedsJudge] and [engine.NeedsHost].
const (
	needsEnv     = "--allow-env "
	needsVersion = "proviso "
	needsReplay  = "--replay"
)

// capable is a [Runner] that knows its abilities, such as [Suites]. Any other runner is assumed
// to have all.
type capable interface {
	// Can reports whether this process can give suites something that one of them needs: a key,
	// or a host.
	Can(need string) bool
	// Usual returns the needs of many suites, and those that only this process can meet.
	Usual() []string
	// Only returns the need that suites must have for this process to execute them: it replays
	// recorded answers, and must not do so for others. "" means that it executes all suites.
	Only() string
	// Room returns an error if the disk has no room for the files of suites.
	Room() error
}

var _ capable = (*Suites)(nil)

// Can implements capable.
func (s *Suites) Can(need string) bool {
	if need == needsReplay {
		return s.Only() == needsReplay
	}
	if host, ok := strings.CutPrefix(need, engine.NeedsHost); ok {
		// If a vendor's address in the environment names a private host, the provider may reach
		// that host, but the suite may not. If the name hides that the host is private, rows
		// become errors.
		return slices.Contains(s.Engine.Policy.Hosts, host) || s.trust().Host(host) && !transport.Private(host)
	}
	if name, ok := strings.CutPrefix(need, needsEnv); ok {
		return slices.Contains(s.trust().Env, name)
	}
	if strings.HasPrefix(need, engine.TheJudge) {
		own, ofSuite := s.Engine.Judging()
		return need == own || need == ofSuite
	}
	if s.Only() == needsReplay {
		return true // no model is called
	}
	env := s.Engine.Engines.Env
	return env != nil && provider.Has(env, need)
}

// Only implements capable.
func (s *Suites) Only() string {
	if n := &s.Engine.Engines; n.Replay != "" || n.Cassette != nil && n.Cassette.Replays() {
		return needsReplay
	}
	return ""
}

// Usual implements capable.
func (s *Suites) Usual() []string {
	list := provider.UsualNeeds()
	if own, _ := s.Engine.Judging(); own != engine.NeedsJudge {
		list = append(list, own)
	}
	for _, host := range s.Engine.Policy.Hosts {
		list = append(list, engine.NeedsHost+host)
	}
	for _, name := range s.Engine.Policy.Env {
		list = append(list, needsEnv+name)
	}
	return list
}

// trust returns what suites may use of this process.
func (s *Suites) trust() *suite.Trust {
	policy, env := s.Engine.Policy, envOr(s.Engine.Engines.Env)
	policy.Trusted = false
	return policy.Suite(env)
}

// granted records what a suite uses that an operator must allow, and whether this process
// allows it.
type granted struct {
	mu   sync.Mutex
	here map[string]bool
}

func (g *granted) note(need string, here bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.here == nil {
		g.here = map[string]bool{}
	}
	g.here[need] = here
}

// watch records the hosts and variables that t is asked for.
func (g *granted) watch(t *suite.Trust) {
	allowed := t.Host
	t.Host = func(host string) bool {
		is := allowed(host)
		if !provider.VendorHost(host) {
			g.note(engine.NeedsHost+host, is)
		}
		return is
	}
	t.Uses = func(name string, may bool) {
		if provider.IsVariable(name) {
			g.note(needsEnv+name, may)
		}
	}
}

// needs returns what the suite needs of a process, sorted, and which of these this process
// lacks. It leaves out names that are not valid needs: a process then finds out late.
func (o *opened) needs() (all, lacks []string) {
	add := func(need string, here bool) {
		if store.CheckNeeds([]string{need}) != nil || len(all) >= store.MaxNeeds {
			return
		}
		if all = append(all, need); !here {
			lacks = append(lacks, need)
		}
	}
	if o.only != "" {
		add(o.only, true)
	}
	known := map[string]bool{}
	if o.engine != nil { // the judge comes first, so that it always fits within store.MaxNeeds
		known = o.engine.Needs()
		if by := o.engine.Judging(); by != "" && by != engine.NeedsJudge { // a specific judge replaces the general need
			here, is := known[engine.NeedsJudge]
			delete(known, engine.NeedsJudge)
			add(by, here || !is)
		} else if here, is := known[engine.NeedsJudge]; is {
			add(engine.NeedsJudge, here)
			delete(known, engine.NeedsJudge)
		}
	}
	for _, others := range [...]map[string]bool{o.granted.here, known} {
		for need, here := range others {
			add(need, here)
		}
	}
	slices.Sort(all)
	slices.Sort(lacks)
	return all, lacks
}

// judgeIn returns the judge that needs contains, or "".
func judgeIn(needs []string) string {
	i := slices.IndexFunc(needs, func(need string) bool { return strings.HasPrefix(need, engine.TheJudge) })
	if i < 0 {
		return ""
	}
	return needs[i]
}

// judgeFixed sets the judge of a plan to that of its run: all verdicts of a run come from one
// judge.
func judgeFixed(needs []string) store.Fix {
	return store.Fix{Need: judgeIn(needs), Of: engine.TheJudge, Place: engine.NeedsJudge}
}

// lacks returns the needs of the suite that this process cannot meet.
func (o *opened) lacks() []string {
	_, lacks := o.needs()
	return lacks
}

// canFor is how long an ability is cached if finding out reads files.
const canFor = time.Minute

// abilities determines what this process can do. It is safe for concurrent use.
type abilities struct {
	s  *Server
	mu sync.Mutex
	of map[string]ability // abilities of logins
}

type ability struct {
	is bool
	at time.Time
}

// can implements [store.Offer.Can].
func (a *abilities) can(need string) bool {
	if version, ok := strings.CutPrefix(need, needsVersion); ok {
		return version == a.s.o.Version
	}
	if need == engine.NeedsJudge || strings.HasPrefix(need, engine.TheJudge) && !strings.HasPrefix(need, engine.JudgeOfSuite) {
		if a.s.o.NoJudge != "" {
			return false
		}
		if need == engine.NeedsJudge {
			return true
		}
	}
	runner, ok := a.s.o.Runner.(capable)
	if !ok {
		return true
	}
	if !provider.IsLogin(need) {
		return runner.Can(need)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	known, is := a.of[need]
	if !is || time.Since(known.at) > canFor {
		known = ability{runner.Can(need), time.Now()}
		if a.of == nil {
			a.of = map[string]ability{}
		}
		a.of[need] = known
	}
	return known.is
}

// offer describes this process to the other processes on the store.
func (s *Server) offer(kind string) store.Offer {
	o := store.Offer{Kind: kind, Version: s.o.Version, Can: s.abilities.can, Fit: s.fitness.ask, Known: []string{engine.NeedsJudge}}
	if runner, ok := s.o.Runner.(capable); ok {
		o.Known, o.Only = append(o.Known, runner.Usual()...), runner.Only()
	}
	return o
}

// somebodyCan reports whether this process, or another one that executes runs, meets a need.
func (s *Server) somebodyCan(ctx context.Context, need string) bool {
	if s.abilities.can(need) {
		return true
	}
	living, err := s.o.Store.Processes(ctx)
	return err == nil && slices.ContainsFunc(living, func(p store.Process) bool { return p.Able([]string{need}) })
}

// nobodyReads reports whether all working processes lack the key for event contents.
func (s *Server) nobodyReads(ctx context.Context) bool {
	living, err := s.o.Store.Processes(ctx)
	return err == nil && len(living) > 0 && !slices.ContainsFunc(living, func(p store.Process) bool { return p.Unfit != store.ErrSealed.Error() })
}
