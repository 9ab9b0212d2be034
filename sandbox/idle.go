package sandbox

import "time"

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
