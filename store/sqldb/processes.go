package sqldb

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// processKind is the kind of the shared items that describe processes. They are named by owner,
// as in the rows of runs.
const processKind = "process"

const (
	// maxProcesses limits how many processes are read.
	maxProcesses = 1000
	// maxNeedSets limits how many distinct lists of needs are read.
	maxNeedSets = 200
)

// offering is what this process can execute. It is safe for concurrent use.
type offering struct {
	mu     sync.Mutex
	offer  store.Offer
	unable map[string]time.Time // needs that turned out to be unmet, with the time until which they are not tried again
	told   store.Process        // what was last published to other processes

	ailment ailment
}

// Offer implements [store.Jobs].
func (d *DB) Offer(o store.Offer) {
	d.offering.mu.Lock()
	defer d.offering.mu.Unlock()
	d.offering.offer = o
}

// can reports whether this process meets all needs now.
func (o *offering) can(needs []string, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if only := o.offer.Only; only != "" && !slices.Contains(needs, only) {
		return false
	}
	return !slices.ContainsFunc(needs, func(need string) bool { return !o.does(need, now) })
}

func (o *offering) does(need string, now time.Time) bool {
	return !now.Before(o.unable[need]) && (o.offer.Can == nil || o.offer.Can(need))
}

// rest records needs that this process does not meet until a time, whatever its offer.
func (o *offering) rest(needs []string, until time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.unable == nil {
		o.unable = map[string]time.Time{}
	}
	for _, need := range needs {
		o.unable[need] = until
	}
}

// process describes this process, with those of the given needs that it meets now.
func (o *offering) process(id string, jobs int, started, now time.Time, needs []string) store.Process {
	o.mu.Lock()
	defer o.mu.Unlock()
	for need, until := range o.unable {
		if !now.Before(until) {
			delete(o.unable, need)
		}
	}
	p := store.Process{ID: id, Kind: o.offer.Kind, Version: o.offer.Version, Jobs: jobs, Only: o.offer.Only, Started: started, Seen: now, Unfit: o.ailment.why,
		All: o.offer.Can == nil && len(o.unable) == 0}
	for _, need := range slices.Concat(o.offer.Known, []string{o.offer.Only}, needs) {
		if need != "" && o.does(need, now) {
			p.Can = append(p.Can, need)
		}
	}
	slices.Sort(p.Can)
	p.Can = slices.Compact(p.Can)
	return p
}

// needSets returns the distinct lists of needs of runs that have not ended.
func (d *DB) needSets(ctx context.Context, condition string) ([][]string, error) {
	return collect(d, func(row scanner) (needs []string, err error) {
		err = row.Scan(listed(&needs))
		return needs, err
	})(d.query(ctx, "SELECT DISTINCT needs FROM run WHERE status IN ('queued', 'running')"+condition+" LIMIT ?", maxNeedSets))
}

// self describes this process; runs is false if it executes no runs.
func (d *DB) self(ctx context.Context) (p store.Process, runs bool, err error) {
	r := &d.runner
	r.mu.Lock()
	runs, owner, started := r.stop != nil, r.owner, r.started
	r.mu.Unlock()
	if !runs {
		return p, false, nil
	}
	sets, err := d.needSets(ctx, " AND needs <> '[]'")
	return d.offering.process(owner, d.options.Workers, started, d.now(), slices.Concat(sets...)), true, err
}

// appear publishes a heartbeat and the abilities of this process, unless the published ones are
// recent and unchanged.
func (d *DB) appear(ctx context.Context) error {
	p, is, err := d.self(ctx)
	if err != nil || !is {
		return err
	}
	o := &d.offering
	o.mu.Lock()
	told := o.told
	o.mu.Unlock()
	if told.ID == p.ID && told.All == p.All && told.Unfit == p.Unfit && slices.Equal(told.Can, p.Can) && p.Seen.Sub(told.Seen) < d.options.Lease/3 {
		return nil
	}
	content, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := d.PutShared(ctx, store.SharedItem{Kind: processKind, Name: p.ID, Content: content, Life: d.options.Lease}); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.told = p
	return nil
}

// Processes implements [store.Store].
func (d *DB) Processes(ctx context.Context) ([]store.Process, error) {
	if !d.Several() {
		p, is, err := d.self(ctx)
		if err != nil || !is {
			return nil, err
		}
		return []store.Process{p}, nil
	}
	items, err := d.ListShared(ctx, processKind, "", "", maxProcesses)
	if err != nil {
		return nil, err
	}
	var list []store.Process
	for _, item := range items {
		var p store.Process
		if err := json.Unmarshal(item.Content, &p); err != nil {
			return nil, d.failed("read", err)
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b store.Process) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

// unmet describes what the queued runs wait for that no live process can execute, by the stored
// form of their needs.
func (d *DB) unmet(ctx context.Context) (map[string]string, error) {
	sets, err := d.needSets(ctx, " AND status = 'queued'")
	if err != nil || len(sets) == 0 {
		return nil, err
	}
	living, err := d.Processes(ctx)
	if err != nil {
		return nil, err
	}
	why := map[string]string{}
	for _, needs := range sets {
		if text := store.WaitsFor(needs, living); text != "" {
			why[list(needs)] = text
		}
	}
	return why, nil
}

// explain sets the status and the reason of queued runs that no live process can execute.
func (d *DB) explain(ctx context.Context, runs []store.Run) error {
	if !slices.ContainsFunc(runs, func(r store.Run) bool { return r.Status == store.Queued }) {
		return nil
	}
	why, err := d.unmet(ctx)
	for i := range runs {
		if text := why[list(runs[i].Needs)]; runs[i].Status == store.Queued && text != "" {
			runs[i].Status, runs[i].Waits = store.Unmet, text
		}
	}
	return err
}

// ofStatus adds a condition on the status of runs. Unmet runs are stored as queued.
func (d *DB) ofStatus(ctx context.Context, c *conditions, statuses []store.RunStatus) error {
	queued, waiting := slices.Contains(statuses, store.Queued), slices.Contains(statuses, store.Unmet)
	if queued == waiting {
		stored := slices.DeleteFunc(slices.Clone(statuses), func(s store.RunStatus) bool { return s == store.Unmet })
		in(c, "status", texts(stored))
		return nil
	}
	why, err := d.unmet(ctx)
	if err != nil {
		return err
	}
	var sets []string
	for needs := range why {
		sets = append(sets, needs)
	}
	slices.Sort(sets)
	args, places := textList(sets)
	condition := "status = 'queued' AND needs IN " + places
	if queued {
		condition = "status = 'queued' AND needs NOT IN " + places
		if len(sets) == 0 {
			condition = "status = 'queued'"
		}
	}
	others := texts(slices.DeleteFunc(slices.Clone(statuses), func(s store.RunStatus) bool { return s == store.Queued || s == store.Unmet }))
	also, otherPlaces := textList(others)
	c.add("("+condition+" OR status IN "+otherPlaces+")", append(args, also...)...)
	return nil
}

// Waiting implements [store.Store].
func (d *DB) Waiting(ctx context.Context) ([]store.Waiting, error) {
	why, err := d.unmet(ctx)
	if err != nil {
		return nil, err
	}
	now := d.now()
	list := []store.Waiting{}
	_, err = collect(d, func(row scanner) (w store.Waiting, err error) {
		var needs string
		if err = row.Scan(&w.Project, &needs, &w.Queued, at(&w.Oldest), &w.Running, &w.Overdue, at(&w.Still)); err != nil {
			return w, err
		}
		if !d.Several() {
			w.Overdue = 0 // a single process needs no leases
		}
		if w.Queued > 0 {
			w.Needs = [][]string{fromList[string](needs)}
		}
		if why[needs] != "" {
			w.Unmet = w.Queued
		}
		if n := len(list); n == 0 || list[n-1].Project != w.Project {
			list = append(list, w)
			return w, nil
		}
		sum := &list[len(list)-1]
		sum.Needs = append(sum.Needs, w.Needs...)
		sum.Queued, sum.Unmet, sum.Running = sum.Queued+w.Queued, sum.Unmet+w.Unmet, sum.Running+w.Running
		sum.Overdue, sum.Still = sum.Overdue+w.Overdue, earlier(sum.Still, w.Still)
		sum.Oldest = earlier(sum.Oldest, w.Oldest)
		return w, nil
	})(d.query(ctx, `SELECT project, needs, count(*) FILTER (WHERE status = ?1), min(created) FILTER (WHERE status = ?1), count(*) FILTER (WHERE status = ?2),
		count(*) FILTER (WHERE status = ?2 AND lease < ?3), min(greatest(coalesce(started, 0), due)) FILTER (WHERE status = ?2)
		FROM run WHERE status IN (?1, ?2) GROUP BY project, needs ORDER BY project, needs`, string(store.Queued), string(store.Running), micros(now)))
	return list, err
}

// earlier returns the earlier of two times, ignoring zero times.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
