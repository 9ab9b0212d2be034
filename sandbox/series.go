package sandbox

import (
	"context"
	"errors"

	"github.com/proviso-eval/proviso"
)

// Limits of the calls of a series that are in flight to a worker. The bytes fit into a
// channel's buffer: otherwise this process could wait for the worker to read, and the worker
// for this process.
const (
	seriesCalls = 64
	seriesBytes = 32 << 10
)

var _ proviso.Series = (*function)(nil)

// CallSeries implements [proviso.Series]. The calls go to one worker, which already has the
// next call when it finishes one, so that a short call does not wait for two processes to be
// scheduled. Each call has its own time limit. A call that asks a question, or whose worker
// ends, is repeated on its own, as by Call.
func (f *function) CallSeries(ctx context.Context, args [][]any, each func(i int, result any, err error)) {
	for i := 0; i < len(args); {
		served, again := 0, true
		if len(args)-i > 1 && !f.source.profile.acting && !f.closed.Load() && ctx.Err() == nil {
			served, again = f.source.series(ctx, args[i:], func(k int, v any, err error) { each(i+k, v, err) })
		}
		i += served
		if again && i < len(args) {
			v, err := f.Call(ctx, args[i]...)
			each(i, v, err)
			i++
		}
	}
}

// series makes some of the calls, starting with the first, and returns how many were served.
// again is true if the next call has to be made on its own.
func (o *source) series(ctx context.Context, args [][]any, each func(k int, v any, err error)) (served int, again bool) {
	ids, frames := o.seriesFrames(args)
	if len(ids) == 0 {
		return 0, true
	}
	c := o.newCall(o.soft)
	if c.enter(ctx) != nil {
		return 0, true
	}
	defer c.leave()
	w, err := o.pool.get(ctx, o, c)
	if err != nil {
		return 0, true // the call on its own reports the reason
	}
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, func() { w.abort(canceled) })
		defer stop()
	}
	defer c.end()
	c.begin(ctx, w, ids[0])
	_, err = w.channel.Write(frames)
	for k, id := range ids {
		var reply frame
		if err == nil {
			c.begin(ctx, w, id)
			reply, err = w.reader.next(c.maxReply)
		}
		if err != nil || reply.id != id || reply.kind == kindQuestion || k == len(ids)-1 && !w.reader.idle() {
			o.pool.discard(w)
			return k, true
		}
		v, err := o.outcome(reply, c)
		each(k, v, o.named(err))
		var e *proviso.Error
		if errors.As(err, &e) && e.Code != proviso.Refused && e.Code != proviso.Unavailable {
			o.pool.discard(w) // as in Call
			return k + 1, false
		}
		if reply.worn() {
			w.exhausted = true
			ids = ids[:k+1]
			break
		}
	}
	w.calls += len(ids) - 1
	o.pool.put(w)
	return len(ids), false
}

// seriesFrames returns the frames of as many calls as may be in flight, and their ids; none if
// the first call is too large or cannot be encoded.
func (o *source) seriesFrames(args [][]any) (ids []uint64, frames []byte) {
	for _, list := range args[:min(len(args), seriesCalls)] {
		kind, payload, err := encodeArgs(list, o.language.undefined)
		if err != nil || len(frames)+frameHeader+4+len(payload) > seriesBytes {
			break
		}
		ids = append(ids, newID())
		frames = appendFrame(frames, frame{kind, ids[len(ids)-1], payload})
	}
	return ids, frames
}
