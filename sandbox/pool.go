package sandbox

import (
	"container/list"
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// pool bounds the number of concurrent calls and of workers, and keeps idle
// workers for the next call of their source. When there is no room, an idle worker is
// ended, so that any number of sources can take turns: one at random. A suite calls its
// sources in turns, and of more than there is room for, the one that was idle longest
// is the next to be called.
type pool struct {
	slots chan struct{} // one token for each running call
	most  int           // weight of the workers that may exist at once

	mu    sync.Mutex
	alive int           // weight of the workers, idle or not
	idle  *list.List    // of *worker, the most recently used in front
	room  chan struct{} // closed, and replaced, when a worker becomes idle or goes

	check   time.Duration // how often idle workers are looked at
	watched bool          // they will be looked at
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

// How long a call waits for a worker of its source that serves another call, before a
// new worker is started for it, and before a worker of another source is ended for that.
// Most calls end much sooner, and starting a worker takes some milliseconds: without
// it, many concurrent calls of many sources would start workers for all of them, and end
// those of others for room.
const (
	patience     = 50 * time.Millisecond
	longPatience = time.Second
)

// get returns a worker of a source for a call that has a slot: an idle one, or
// a new one that has read the source. A call that waits for room or for a worker
// releases its slot meanwhile: the workers that use the room may themselves wait
// for slots, after an answer of the judge.
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

// await is what a call without a worker waits for: a channel that gives something,
// for so long if that is not 0.
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

// take returns an idle worker of the source for a call that has waited so long.
// Otherwise it makes room for a new worker, or says what to wait for: a busy worker of
// the source, or room.
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

// done records that a worker serves no call any more; pool.mu is held.
func (w *worker) done() {
	if w.busy {
		w.busy = false
		w.source.notBusy()
	}
}

// notBusy counts a busy worker less, and wakes one call that waits for it; pool.mu is
// held.
func (o *source) notBusy() {
	o.busy--
	if o.waiting > 0 {
		o.waiting--
		select {
		case o.freed <- struct{}{}:
		default: // more calls than wait have been woken
		}
	}
}

// lessen ends an idle worker for one that could not be started, and has fewer at once from
// then on; false if there is none.
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

// anyIdle returns one of the idle workers, of which there are some; p.mu is held.
func (p *pool) anyIdle() *list.Element {
	e := p.idle.Front()
	for range rand.IntN(p.idle.Len()) {
		e = e.Next()
	}
	return e
}

// remove removes a worker from the idle ones.
func (p *pool) remove(e *list.Element) *worker {
	w := p.idle.Remove(e).(*worker)
	w.source.notIdle(e)
	w.place = nil
	return w
}

// put keeps a worker for the next call, or ends it if it has served long enough
// or its source is no longer used.
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

// forget releases the place of a worker of a source.
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

// drop counts one user less. It returns the idle workers of a source without
// users, which the caller discards.
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

// idleCheck is how often workers without a call are looked at.
const idleCheck = 2 * time.Second

// idleUse is what an idle worker had used when it was last looked at.
type idleUse struct {
	calls int           // served until then
	cpu   time.Duration // of all its threads
	at    time.Time
	busy  bool // more than it may, when it was last looked at
}

// watch looks at the idle workers now and then, for as long as there are any. Code with
// side effects may keep threads between calls, but a thread that computes while nobody
// calls would take a processor until the next call. p.mu is held.
func (p *pool) watch() {
	if !p.watched && p.idle.Len() > 0 {
		p.watched = true
		time.AfterFunc(p.check, p.look)
	}
}

// look ends the idle workers that used more than a tenth of a processor twice in a row,
// without a call in between. A machine with much to do gives a thread no more than that,
// and what ends after a call has ended by then.
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
		if e == nil { // it was called meanwhile
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

// processorTime returns what the worker's process has computed; 0 if that is unknown.
func (w *worker) processorTime() time.Duration {
	if w.cmd == nil || w.cmd.Process == nil {
		return 0
	}
	return processorTime(w.cmd.Process.Pid)
}
