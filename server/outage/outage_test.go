package outage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/proviso-eval/proviso/server/outage"
	"github.com/proviso-eval/proviso/store"
)

// TestOutagesInLog: an outage has a line at its start, one for another reason, one every 30
// seconds, and one at its end; other lines are unchanged.
func TestOutagesInLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		var away atomic.Bool
		h := outage.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
				return slog.Attr{}
			}
			return a
		}}))
		lost := fmt.Errorf("reach: %w", store.ErrUnreachable)
		h.Watch(func(context.Context) error {
			if away.Load() {
				return lost
			}
			return nil
		})
		log := slog.New(h)
		for range 2 { // two outages
			away.Store(true)
			for i := range 70 {
				log.Warn("look for runs", "error", lost)
				log.With("a", "b").Warn("renew", "error", lost)
				if i == 10 {
					log.Warn("look for runs", "error", fmt.Errorf("reach: no such role: %w", store.ErrReadOnly))
				}
				time.Sleep(time.Second)
			}
			log.Warn("another mistake", "error", errors.New("no"))
			time.Sleep(time.Second / 2)
			away.Store(false)
			time.Sleep(2 * time.Second)
			synctest.Wait()
			log.Info("goes on")
		}
		const once = `msg="look for runs" error="reach: the database cannot be reached"
msg="look for runs" error="reach: no such role: the database cannot be written" left_out=21
msg="look for runs" error="reach: the database cannot be reached" left_out=58
msg="another mistake" error=no
msg="the database is there again" away_s=71 left_out=59
msg="goes on"
`
		if got := out.String(); got != once+once {
			t.Errorf("%s", got)
		}
	})
}

// TestOutageGoesOn: while requests fail, the log does not report that the database is available
// again, whatever a ping says.
func TestOutageGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		h := outage.New(slog.NewTextHandler(&out, nil))
		h.Watch(func(context.Context) error { return nil })
		log := slog.New(h)
		for range 100 {
			log.Warn("request", "error", store.Unreadable("api_key"))
			time.Sleep(700 * time.Millisecond)
		}
		synctest.Wait()
		if got := out.String(); strings.Count(got, "msg=request") != 3 || strings.Contains(got, "there again") {
			t.Errorf("while requests fail: %s", got)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := out.String(); strings.Count(got, "there again") != 1 {
			t.Errorf("afterwards: %s", got)
		}
	})
}
