package storetest

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

func claimOf(key, request string) store.Claim {
	return store.Claim{CreatedBy: "key_1", Key: key, Request: store.HashSecret(request)}
}

// claimed checks that the caller gets a claim.
func (b *bench) claimed(c store.Claim) {
	b.Helper()
	if r := must(b.Claim(b.Context(), c))(b); r != nil {
		b.Fatalf("the claim was answered: %+v", r)
	}
}

// answered checks that a claim already has an answer, with a body.
func (b *bench) answered(c store.Claim, body string) {
	b.Helper()
	r := must(b.Claim(b.Context(), c))(b)
	if r == nil {
		b.Fatal("the claim was not answered")
	}
	b.equal("response", *r, store.Response{Status: 202, MediaType: "application/json", Location: "/v1/runs/1", Body: []byte(body)})
}

func (b *bench) replyTo(c store.Claim, body string) store.Reply {
	return store.Reply{Claim: c, Expires: b.clock.Now().Add(24 * time.Hour),
		Response: store.Response{Status: 202, MediaType: "application/json", Location: "/v1/runs/1", Body: []byte(body)}}
}

var replyTests = []test{
	{name: "claim and reply", run: func(b *bench) {
		c := claimOf("one", "request")
		b.claimed(c)
		b.wants(proviso.Conflict, errorOf(b.Claim(b.Context(), c)), store.ErrInProgress)
		b.wants(proviso.Conflict, errorOf(b.Claim(b.Context(), claimOf("one", "other"))), store.ErrOtherRequest)
		b.ok(b.Reply(b.Context(), b.replyTo(c, "done\x00")))
		b.answered(c, "done\x00")
		b.wants(proviso.Conflict, errorOf(b.Claim(b.Context(), claimOf("one", "other"))), store.ErrOtherRequest)
		b.ok(b.Reply(b.Context(), b.replyTo(c, "another")))
		b.ok(b.Release(b.Context(), c))
		b.answered(c, "done\x00")
	}},
	{name: "of other keys", run: func(b *bench) {
		mine, theirs := claimOf("one", "mine"), claimOf("one", "theirs")
		theirs.CreatedBy = "key_2"
		b.claimed(mine)
		b.claimed(theirs)
		b.ok(b.Reply(b.Context(), b.replyTo(mine, "mine")))
		b.wants(proviso.Conflict, errorOf(b.Claim(b.Context(), theirs)), store.ErrInProgress)
	}},
	{name: "release", run: func(b *bench) {
		c := claimOf("one", "request")
		b.ok(b.Release(b.Context(), c))
		b.claimed(c)
		b.ok(b.Release(b.Context(), claimOf("one", "other")))
		b.wants(proviso.Conflict, errorOf(b.Claim(b.Context(), c)), store.ErrInProgress)
		b.ok(b.Release(b.Context(), c))
		b.claimed(claimOf("one", "other"))
	}},
	{name: "expire", run: func(b *bench) {
		c := claimOf("one", "request")
		b.claimed(c)
		b.clock.add(store.ClaimLease)
		other := claimOf("one", "other")
		b.claimed(other) // the first claim lapsed
		b.ok(b.Reply(b.Context(), b.replyTo(c, "late")))
		b.wants(proviso.Conflict, errorOf(b.Claim(b.Context(), other)), store.ErrInProgress)
		b.ok(b.Reply(b.Context(), b.replyTo(other, "done")))
		b.clock.add(23 * time.Hour)
		b.answered(other, "done")
		b.clock.add(time.Hour)
		b.claimed(c)
	}},
	{name: "with a run", run: func(b *bench) {
		c := claimOf("one", "request")
		b.claimed(c)
		reply := b.replyTo(c, "run")
		must(b.CreateRun(b.Context(), store.NewRun{ID: "run_1", Reply: &reply}))(b)
		b.answered(c, "run")

		d := claimOf("two", "request")
		b.claimed(d)
		reply = b.replyTo(d, "run")
		b.wants(proviso.Conflict, errorOf(b.CreateRun(b.Context(), store.NewRun{ID: "run_1", Reply: &reply})))
		b.wants(proviso.Conflict, errorOf(b.Claim(b.Context(), d)), store.ErrInProgress) // neither was stored
	}},
	{name: "with an evaluation", run: func(b *bench) {
		c := claimOf("one", "request")
		b.claimed(c)
		reply := b.replyTo(c, "evaluated")
		e := must(b.AddEvaluation(b.Context(), store.NewEvaluation{Reply: &reply}))(b)
		if e.Reply != nil {
			b.Error("the evaluation holds the reply")
		}
		b.answered(c, "evaluated")
	}},
	{name: "mistakes", run: func(b *bench) {
		for _, key := range notNames {
			b.wants(proviso.Invalid, errorOf(b.Claim(b.Context(), claimOf(key, "x"))))
		}
		b.wants(proviso.Invalid, errorOf(b.Claim(b.Context(), store.Claim{Key: "k"})))
		for _, key := range names {
			b.claimed(claimOf(key, "x"))
		}
		r := b.replyTo(claimOf("big", "x"), "")
		r.Body = make([]byte, store.MaxContent+1)
		b.wants(proviso.Limit, b.Reply(b.Context(), r))
		b.wants(proviso.Invalid, b.Reply(b.Context(), store.Reply{Claim: claimOf("one", "x")}))
	}},
	{name: "all at once", run: func(b *bench) {
		var won atomic.Int32
		atOnce(30, func(int) {
			switch r, err := b.Claim(b.Context(), claimOf("one", "request")); {
			case err == nil && r == nil:
				won.Add(1)
			case !errors.Is(err, store.ErrInProgress):
				b.Errorf("claim: %v, %v", r, err)
			}
		})
		b.equal("winners", won.Load(), 1)
	}},
}
