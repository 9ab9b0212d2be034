package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// WatchToCheck is a watch to check without storing it.
type WatchToCheck struct {
	Watch NewWatch         `json:"watch"`
	Set   *NewAssertionSet `json:"set,omitempty" doc:"The assertion set that assertions of the watch names, if it is to be stored before the watch"`
}

// WatchCheck is the effect that storing a watch would have.
type WatchCheck struct {
	Name     string   `json:"name"`
	Version  int      `json:"version" doc:"The version that is stored now; 0 if there is none"`
	Change   string   `json:"change" enum:"new,changed,unchanged" doc:"What PUT would make of it"`
	Warnings []string `json:"warnings" doc:"What will not work although the watch can be stored"`
}

// postWatchCheck checks a watch, and stores nothing.
func (s *Server) postWatchCheck(c *call) error {
	ctx, name := c.r.Context(), c.r.PathValue("watch")
	if err := monitor.CheckName(name); err != nil {
		return err
	}
	doc, err := parseBody(ctx, c.body)
	if err != nil {
		return err
	}
	sent, set, err := readWatchToCheck(ctx, name, doc)
	if err != nil {
		return err
	}
	if set != nil {
		if err := s.checkSet(ctx, set); err != nil {
			return err
		}
	}
	wrong, err := s.checkWatch(ctx, c, sent, set)
	for i := range wrong {
		wrong[i].Pointer = "/watch" + wrong[i].Pointer
	}
	if err != nil || len(wrong) > 0 {
		return wrongWatch(doc, wrong, err)
	}
	out := WatchCheck{Name: name, Change: "new", Warnings: s.warnings(ctx, sent.set)}
	if out.Warnings, err = c.unknownAgent(sent.conf.Match.Agent, out.Warnings); err != nil {
		return err
	}
	stored, err := c.kept.Watch(ctx, name)
	switch {
	case err == nil:
		out.Version, out.Change = stored.Number, "changed"
		if before, err := parseBody(ctx, stored.Content); err == nil && bytes.Equal(value.AppendJSON(nil, before.Root), value.AppendJSON(nil, member(doc, "watch"))) {
			out.Change = "unchanged"
		}
	case !isNotFound(err):
		return err
	}
	return c.json(http.StatusOK, out)
}

// member returns a member of the body.
func member(doc *document.Document, key string) any {
	o, _ := doc.Root.(*value.Object)
	return o.At(key)
}

// readWatchToCheck parses the body of a check. The error has all mistakes of the watch and the
// set.
func readWatchToCheck(ctx context.Context, name string, doc *document.Document) (*sentWatch, *watchedSet, error) {
	d := decoder{}
	o, ok := doc.Root.(*value.Object)
	if !ok {
		d.wants("", "an object {watch, set}", doc.Root)
		return nil, nil, d.problem(doc)
	}
	for key := range o.All() {
		if key != "watch" && key != "set" {
			d.unknown("", key, []string{"watch", "set"})
		}
	}
	sent := d.watch("/watch", name, o.At("watch"))
	var set *watchedSet
	if o.At("set") != nil {
		read, err := readSet(ctx, value.AppendJSON(nil, o.At("set")))
		if err == nil {
			set, err = openSet(ctx, read)
		}
		var p *Problem
		switch {
		case errors.As(err, &p) && len(p.Errors) > 0:
			for _, m := range p.Errors {
				m.Pointer = "/set" + m.Pointer
				d.mistakes = append(d.mistakes, m)
			}
		case err != nil:
			return nil, nil, err
		}
		if err == nil {
			secrets, _ := read.inlineSecrets(ctx)
			for _, m := range secrets {
				m.Pointer = "/set" + m.Pointer
				d.mistakes = append(d.mistakes, m)
			}
		}
	}
	if len(d.mistakes) > 0 {
		return nil, nil, d.problem(doc)
	}
	return sent, set, nil
}

// wrongWatch returns err, or else the problem of a watch with mistakes, with their positions in
// the body.
func wrongWatch(doc *document.Document, wrong []Mistake, err error) error {
	if err != nil {
		return err
	}
	d := decoder{mistakes: wrong}
	return d.problem(doc)
}

// checkWatch finds mistakes that only a server can find: a missing set or target, and
// objectives for assertions that the set lacks. The set need not be stored yet. Pointers are
// into the watch.
func (s *Server) checkWatch(ctx context.Context, c *call, sent *sentWatch, set *watchedSet) ([]Mistake, error) {
	var wrong []Mistake
	add := func(pointer string, err error) error {
		var e *proviso.Error
		if !errors.As(err, &e) || e.Code == proviso.Internal || e.Code == proviso.Unavailable {
			return err
		}
		m := mistakeOf(e)
		m.Pointer, m.Code = pointer, proviso.Invalid
		wrong = append(wrong, m)
		return nil
	}
	name, err := setNamed(sent.conf.Assertions)
	switch {
	case err != nil:
	case set == nil:
		if set, err = s.storedSetOf(ctx, c, name); err != nil {
			err = nearestSet(ctx, c, name, err)
		}
	case strings.Contains(name, "@"):
		err = proviso.Errorf(proviso.Invalid, "a set that comes with the watch has no version yet: set:NAME, not %s", strconv.Quote(shortened(sent.conf.Assertions)))
	}
	if err != nil {
		if err := add("/assertions", err); err != nil {
			return nil, err
		}
		set = nil
	}
	for i, target := range sent.conf.Notify {
		if err := s.checkTarget(target); err != nil {
			if err := add(document.Join("/notify", i), err); err != nil {
				return nil, err
			}
		}
	}
	if sent.set = set; set != nil {
		wrong = append(wrong, unknownObjectives(sent, set)...)
	}
	return wrong, nil
}

// unknownObjectives finds objectives for assertions that the set lacks.
func unknownObjectives(sent *sentWatch, set *watchedSet) []Mistake {
	var wrong []Mistake
	for _, id := range slices.Sorted(maps.Keys(sent.conf.Objectives)) {
		if slices.Contains(set.ids, id) {
			continue
		}
		message, near := nearestTo(fmt.Sprintf("%s has no assertion %s", shortened(sent.conf.Assertions), quotedShort(id)), id, set.ids)
		wrong = append(wrong, Mistake{Pointer: document.Join("/objectives", id), Code: proviso.Invalid, Message: message, Nearest: near, Valid: fewNames(set.ids)})
	}
	return wrong
}

// storedSetOf reads the set that a watch names.
func (s *Server) storedSetOf(ctx context.Context, c *call, name string) (*watchedSet, error) {
	doc, err := documentNamed(ctx, c.kept, store.AssertionSetKind, name)
	if err != nil {
		return nil, err
	}
	return s.monitor.watches.openedSet(ctx, doc)
}

// nearestSet adds the nearest name to the error for a missing set.
func nearestSet(ctx context.Context, c *call, name string, err error) error {
	name, version, _ := strings.Cut(name, "@")
	if !isNotFound(err) || version != "" {
		return err
	}
	list, failed := c.kept.ListDocuments(ctx, store.DocumentFilter{Kind: store.AssertionSetKind}, store.Page{Limit: store.MaxPage})
	if failed != nil {
		return failed
	}
	var names []string
	for _, d := range list.Items {
		names = append(names, d.Name)
	}
	return nearestOf(err, name, names, "set:")
}

// isWatch returns an error that suggests the nearest watch, if a filter names a missing one. ""
// is no filter.
func (c *call) isWatch(name string) error {
	if name == "" {
		return nil
	}
	_, err := c.kept.Watch(c.r.Context(), name)
	return c.nearestWatch(name, err)
}

// liveWatch returns the watch that the address names.
func (s *Server) liveWatch(c *call) (*liveWatch, error) {
	name := c.r.PathValue("watch")
	live, err := s.monitor.named(c.r.Context(), c.project, name)
	return live, c.nearestWatch(name, err)
}

// nearestWatch adds the nearest name to the error for a missing watch.
func (c *call) nearestWatch(name string, err error) error {
	if !isNotFound(err) {
		return err
	}
	list, failed := c.kept.ListWatches(c.r.Context(), store.Page{Limit: store.MaxPage})
	if failed != nil {
		return failed
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return nearestOf(err, name, names, "")
}

// nearestOf adds the nearest of some names to an error for a missing name.
func nearestOf(err error, name string, names []string, prefix string) error {
	e := &proviso.Error{Code: proviso.NotFound, Message: err.Error()}
	if near := document.Nearest(name, names); near != "" {
		e.Valid = []string{prefix + near}
		e.Message += document.DidYouMean(prefix+near, e.Valid)
	}
	return e
}

func (s *Server) checkTarget(target string) error {
	if s.o.Notifier == nil {
		return proviso.Errorf(proviso.Invalid, "this server has no notification target: its operator names them with `proviso serve --notify FILE`")
	}
	return s.o.Notifier.Check(target)
}

// unknownAgent adds a warning if other agents sent events and the watch's agent did not.
func (c *call) unknownAgent(agent string, warnings []string) ([]string, error) {
	var names []string
	for a, err := range store.All(c.r.Context(), c.kept.ListAgents) {
		if err != nil {
			return nil, err
		}
		names = append(names, a.Name)
	}
	if len(names) == 0 || slices.Contains(names, agent) {
		return warnings, nil
	}
	text := "no event of the agent " + quotedShort(agent) + " has come yet"
	if hint := document.DidYouMean(agent, names); hint != "" {
		text += hint
	} else if len(names) <= 10 {
		text += "; the agents are " + strings.Join(names, ", ")
	}
	return append(warnings, text), nil
}

// warnings lists what will not work in a watch with this set, although the watch can be stored.
func (s *Server) warnings(ctx context.Context, set *watchedSet) []string {
	list := []string{}
	if set == nil {
		return list
	}
	for _, one := range set.broken {
		list = append(list, quotedShort(one.id)+" cannot be evaluated on this server, and each of its verdicts will be an error: "+one.why)
	}
	if len(set.judged) == 0 || s.o.NoJudge == "" || s.somebodyCan(ctx, engine.NeedsJudge) {
		return list
	}
	who := set.judged[0] + " needs"
	if n := len(set.judged); n > 1 {
		who = fmt.Sprintf("%s and %d more assertions need", set.judged[0], n-1)
		if n == 2 {
			who = set.judged[0] + " and " + set.judged[1] + " need"
		}
	}
	return append(list, who+" a model as judge, and this server has none: "+s.o.NoJudge)
}
