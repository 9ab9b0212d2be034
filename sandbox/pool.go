package sandbox

import (
	"container/list"
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// pool limits the number of concurrent calls and of workers, and keeps idle workers for the
// next call of their source. When there is no room, it ends a random idle worker, so that any
// number of sources can take turns. Least recently used would be the wrong choice: a suite
// calls its sources in turns, so the source idle for longest is called next.
type pool struct {
	slots chan struct{} // one token for each running call
	most  int           // maximum weight of the workers

	mu    sync.Mutex
	alive int           // weight of all workers, idle or not
	idle  *list.List    // of *worker, most recently used first
	room  chan struct{} // closed, and replaced, when a worker becomes idle or ends

	check   time.Duration // how often idle workers are checked
	watched bool          // a check is scheduled
}

func newPool(running, most int, check time.Duration) *pool {
	return &pool{slots: make(chan struct{}, running), most: most, idle: list.New(), room: make(chan struct{}), check: check}
}

// enter waits for a slot.
func (p *pool) enter(ctx context.Context) error {
	select {
	case p.slots <- struct{}{}:
		return nil
	default:
	}
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *pool) leave() { <-p.slots }

// How long a call waits for a busy worker of its source before a new worker is started, and
// before a worker of another source is ended for that. Most calls end much sooner, and starting
// a worker takes some milliseconds: without waiting, many concurrent calls of many sources
// would start workers for all of them, and end those of others to make room.
const (
	patience     = 50 * time.Millisecond
	longPatience = time.Second
)

// get returns a worker of a source for a call that has a slot: an idle one, or a new one that
// has read the source. A call that waits for room or for a worker releases its slot meanwhile:
// the workers that take up the room may themselves wait for slots, after an answer of the
// judge.
func (p *pool) get(ctx context.Context, src *source, c *call) (*worker, error) {
	began := time.Now()
	for {
		w, wait := p.take(src, time.Since(began))
		if w != nil {
			return w, nil
		}
		if wait.what == nil {
			break
		}
		c.leave()
		if err := wait.end(ctx); err != nil {
			return nil, err
		}
		if err := c.enter(ctx); err != nil {
			return nil, err
		}
	}
	w, err := src.open(ctx)
	for isShortage(err) && p.lessen() {
		w, err = src.open(ctx)
	}
	if err != nil {
		p.mu.Lock()
		src.notBusy()
		p.mu.Unlock()
		p.forget(src)
		return nil, err
	}
	w.busy = true
	return w, nil
}

// await is what a call without a worker waits for: a channel, with a time limit if that is not
// 0.
type await struct {
	what  <-chan struct{}
	limit time.Duration
}

// end waits.
func (w await) end(ctx context.Context) error {
	if w.limit > 0 {
		limited, cancel := context.WithTimeout(ctx, w.limit)
		defer cancel()
		select {
		case <-w.what:
		case <-limited.Done():
		}
		return ctx.Err()
	}
	select {
	case <-w.what:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// take returns an idle worker of the source for a call that has waited for a time. Otherwise it
// makes room for a new worker, or returns what to wait for: a busy worker of the source, or
// room.
func (p *pool) take(src *source, waited time.Duration) (*worker, await) {
	for {
		p.mu.Lock()
		if e := src.newestIdle(); e != nil {
			w := p.remove(e)
			src.busy++
			w.busy = true
			p.mu.Unlock()
			if !w.dead() {
				return w, await{}
			}
			p.discard(w)
			continue
		}
		full := p.alive > 0 && p.alive+src.weight > p.most
		limit := patience
		if full {
			limit = longPatience
		}
		if src.busy > 0 && waited < limit {
			src.waiting++
			p.mu.Unlock()
			return nil, await{src.freed, limit - waited}
		}
		if !full {
			p.alive += src.weight
			src.busy++
			p.mu.Unlock()
			return nil, await{}
		}
		if p.idle.Len() > 0 {
			w := p.remove(p.anyIdle())
			p.mu.Unlock()
			p.discard(w)
			continue
		}
		room := p.room
		p.mu.Unlock()
		return nil, await{what: room}
	}
}

// done records that a worker no longer serves a call; pool.mu must be held.
func (w *worker) done() {
	if w.busy {
		w.busy = false
		w.source.notBusy()
	}
}

// notBusy counts one busy worker less, and wakes one call that waits for it; pool.mu must be
// held.
func (o *source) notBusy() {
	o.busy--
	if o.waiting > 0 {
		o.waiting--
		select {
		case o.freed <- struct{}{}:
		default: // enough tokens: some waiting calls gave up
		}
	}
}

// lessen ends an idle worker because a new one could not be started, and lowers the maximum
// weight; false if no worker is idle.
func (p *pool) lessen() bool {
	p.mu.Lock()
	if p.idle.Len() == 0 {
		p.mu.Unlock()
		return false
	}
	w := p.remove(p.anyIdle())
	p.most = min(p.most, p.alive-w.source.weight)
	p.mu.Unlock()
	p.discard(w)
	return true
}

// anyIdle returns a random idle worker; there must be one, and p.mu must be held.
func (p *pool) anyIdle() *list.Element {
	e := p.idle.Front()
	for range rand.IntN(p.idle.Len()) {
		e = e.Next()
	}
	return e
}

// remove removes a worker from the idle workers.
func (p *pool) remove(e *list.Element) *worker {
	w := p.idle.Remove(e).(*worker)
	w.source.notIdle(e)
	w.place = nil
	return w
}

// put keeps a worker for the next call, or ends it if it has served long enough or its source
// is no longer used.
func (p *pool) put(w *worker) {
	w.calls++
	if w.exhausted || w.calls >= w.source.language.calls || w.dead() || time.Since(w.born) > maxAge {
		p.discard(w)
		return
	}
	p.mu.Lock()
	if w.source.refs == 0 {
		p.mu.Unlock()
		p.discard(w)
		return
	}
	w.done()
	w.place = p.idle.PushFront(w)
	w.source.idle = append(w.source.idle, w.place)
	p.watch()
	p.wake()
	p.mu.Unlock()
}

// discard ends a worker and releases its place.
func (p *pool) discard(w *worker) {
	w.close()
	p.mu.Lock()
	w.done()
	p.mu.Unlock()
	p.forget(w.source)
}

// forget releases the room of a worker of a source.
func (p *pool) forget(src *source) {
	p.mu.Lock()
	p.alive -= src.weight
	p.wake()
	p.mu.Unlock()
}

func (p *pool) wake() {
	close(p.room)
	p.room = make(chan struct{})
}

// hold counts one more user of a source.
func (p *pool) hold(src *source) {
	p.mu.Lock()
	src.refs++
	p.mu.Unlock()
}

// drop counts one user less. If the source has no users left, it returns its idle workers,
// which the caller must discard.
func (p *pool) drop(src *source) (unused bool, last []*worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	src.refs--
	for src.refs == 0 && len(src.idle) > 0 {
		last = append(last, p.remove(src.idle[0]))
	}
	return src.refs == 0, last
}

// clear ends all idle workers.
func (p *pool) clear() {
	p.mu.Lock()
	var all []*worker
	for e := p.idle.Front(); e != nil; e = p.idle.Front() {
		all = append(all, p.remove(e))
	}
	p.mu.Unlock()
	for _, w := range all {
		p.discard(w)
	}
}

// idleCheck is how often idle workers are checked.
const idleCheck = 2 * time.Second

// idleUse is what an idle worker had used at its last check.
type idleUse struct {
	calls int           // number of calls served until then
	cpu   time.Duration // processor time of all its threads
	at    time.Time
	busy  bool // used too much processor time at the last check
}

// watch checks the idle workers at intervals while there are any. Code with side effects may
// keep threads between calls, but a thread that computes between calls would occupy a processor
// until the next call. p.mu must be held.
func (p *pool) watch() {
	if !p.watched && p.idle.Len() > 0 {
		p.watched = true
		time.AfterFunc(p.check, p.look)
	}
}

// look ends the idle workers that used more than a tenth of a processor twice in a row without
// a call in between. A busy machine may give a thread no more than that, and work that finishes
// shortly after a call has ended by the second check.
func (p *pool) look() {
	p.mu.Lock()
	var idle []*worker
	for e := p.idle.Front(); e != nil; e = e.Next() {
		idle = append(idle, e.Value.(*worker))
	}
	p.mu.Unlock()
	used := make([]time.Duration, len(idle))
	for i, w := range idle {
		used[i] = w.processorTime()
	}
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, w := range idle {
		e := w.place
		if e == nil { // it got a call meanwhile
			continue
		}
		last := w.seen
		busy := last.calls == w.calls && used[i]-last.cpu >= now.Sub(last.at)/10
		w.seen = idleUse{w.calls, used[i], now, busy}
		if busy && last.busy {
			p.remove(e)
			go p.discard(w)
		}
	}
	p.watched = false
	p.watch()
}

// processorTime returns the processor time that the worker's process has used; 0 if unknown.
func (w *worker) processorTime() time.Duration {
	if w.cmd == nil || w.cmd.Process == nil {
		return 0
	}
	return processorTime(w.cmd.Process.Pid)
}
