package proxy

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 3 * time.Minute // longer than clients keep connections, so that they do not use a closed one
	maxHeader     = 256 << 10
	summaryEvery  = time.Minute
)

// Serving configures how a proxy serves and stops.
type Serving struct {
	TLS   *tls.Config   // nil serves without TLS
	Drain time.Duration // how long requests are still accepted while /readyz fails
	Stop  time.Duration // time limit for open requests to finish
	Flush time.Duration // time limit for sending events after that
	Ready func()        // called once requests are served; may be nil
}

// Serve accepts requests from l until ctx ends. Then it shuts down: /readyz fails for Drain while
// requests are still accepted, open requests finish within Stop, and events are sent within Flush.
// The error reports what was cut off or dropped.
func (p *Proxy) Serve(ctx context.Context, l net.Listener, s Serving) error {
	srv := &http.Server{Handler: p, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(p.log.Handler(), slog.LevelDebug), TLSConfig: s.TLS}
	sending, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		if p.recorder != nil {
			p.recorder.run(sending)
		}
	}()
	go p.summarize(sending)
	failed := make(chan error, 1)
	p.ready.Store(true)
	if s.Ready != nil {
		s.Ready()
	}
	go func() {
		if s.TLS != nil {
			failed <- srv.ServeTLS(l, "", "")
			return
		}
		failed <- srv.Serve(l)
	}()
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
		p.ready.Store(false)
		p.log.Info("stopping")
		if s.Drain > 0 {
			select {
			case <-time.After(s.Drain):
			case <-failed:
			}
		}
	}
	p.ready.Store(false)
	err = errors.Join(err, p.stop(context.WithoutCancel(ctx), srv, s.Stop))
	return errors.Join(err, p.flush(s.Flush, sent, cut))
}

// stop waits for open requests, and cuts off those that take too long.
func (p *Proxy) stop(ctx context.Context, srv *http.Server, most time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	err := srv.Shutdown(ctx)
	if err != nil {
		err = errors.Join(proviso.Errorf(proviso.Timeout, "requests in progress were cut off after %v", most), srv.Close())
		p.settle()
	}
	if p.network != nil {
		p.network.CloseIdleConnections()
	}
	return err
}

// settle waits briefly for the handlers of requests that were cut off.
func (p *Proxy) settle() {
	for end := time.Now().Add(cutOff); p.open.Load() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// cutOff is the time limit for requests that were cut off to end.
const cutOff = 2 * time.Second

// flush sends the recorded events, and reports what was dropped.
func (p *Proxy) flush(most time.Duration, sent <-chan struct{}, cut func()) error {
	r := p.recorder
	if r == nil {
		return nil
	}
	timer := time.AfterFunc(most, cut)
	defer timer.Stop()
	p.building.Wait()
	before := r.counts[stopped].Load()
	r.finish()
	<-sent
	lost := r.counts[stopped].Load() - before
	p.log.Info("stopped", p.tallies()...)
	if lost > 0 {
		why := cmp.Or(r.trouble(), fmt.Sprintf("the server did not take them within %v", most))
		return proviso.Errorf(proviso.Timeout, "dropped %d of the events: %s", lost, why)
	}
	return nil
}

// tallies returns the counters for the log.
func (p *Proxy) tallies() []any {
	r := p.recorder
	var args []any
	for i := range results {
		args = append(args, resultNames[i], r.counts[i].Load())
	}
	events, bytes := r.pending()
	return append(args, "waiting", events, "waiting_bytes", bytes)
}

// summarize regularly logs the counters, if they have changed.
func (p *Proxy) summarize(ctx context.Context) {
	if p.recorder == nil {
		return
	}
	tick := time.NewTicker(summaryEvery)
	defer tick.Stop()
	var last [results]int64
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var now [results]int64
		for i := range now {
			now[i] = p.recorder.counts[i].Load()
		}
		if now != last {
			p.log.Info("events", p.tallies()...)
			last = now
		}
	}
}

// refuse answers with an error of the proxy itself, in a form that the clients of all vendors can
// read.
func refuse(w http.ResponseWriter, status int, code, message string) {
	answer(w, status, value.Stringify(value.ObjectOf("type", "error",
		"error", value.ObjectOf("type", "proxy_error", "code", code, "message", "proviso proxy: "+message, "param", nil))))
}

// dotted reports whether a path has a segment . or .., however it is escaped: an upstream might
// leave the path of its address.
func dotted(path string) bool {
	plain, err := url.PathUnescape(path)
	if err != nil {
		plain = path
	}
	for part := range strings.FieldsFuncSeq(plain, func(r rune) bool { return r == '/' || r == '\\' }) {
		if part == "." || part == ".." {
			return true
		}
	}
	return false
}
