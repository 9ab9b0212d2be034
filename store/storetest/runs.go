package storetest

import (
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

var runTests = []test{
	{name: "create", run: func(b *bench) {
		n := store.NewRun{ID: "run_mine", Suite: "s", Version: "v", CreatedBy: "key_1", Options: []byte(`{"a":1}`), Rows: 7}
		r := must(b.CreateRun(b.Context(), n))(b)
		b.equal("run", r, store.Run{ID: "run_mine", Project: store.DefaultProject, Suite: "s", Version: "v", CreatedBy: "key_1", Options: n.Options, Rows: 7,
			Status: store.Queued, Created: start})
		r.Status, r.Waits = store.Unmet, "waits for a worker: none is running"
		b.equal("read back", must(b.Run(b.Context(), r.ID))(b), r)
		b.wants(proviso.Conflict, errorOf(b.CreateRun(b.Context(), n)))
		if id := b.newRun().ID; !strings.HasPrefix(id, store.RunID) {
			b.Errorf("the id %s was made", id)
		}
		b.wants(proviso.NotFound, errorOf(b.Run(b.Context(), "run_none")))
		b.wants(proviso.Limit, errorOf(b.CreateRun(b.Context(), store.NewRun{Options: make([]byte, store.MaxContent+1)})))
	}},
	{name: "plan", run: func(b *bench) {
		r := b.newRun()
		plan := store.RunPlan{Rows: 12, Hash: "h", Judges: []string{`judge "a"`, "b"}}
		got := must(b.PlanRun(b.Context(), r.ID, plan))(b)
		r.Rows, r.Hash, r.Judges = plan.Rows, plan.Hash, plan.Judges
		b.equal("planned", got, r)
		r.Status, r.Waits = store.Unmet, "waits for a worker: none is running"
		b.equal("read back", must(b.Run(b.Context(), r.ID))(b), r)
		b.wants(proviso.NotFound, errorOf(b.PlanRun(b.Context(), "run_none", plan)))
	}},
	{name: "cancel", run: func(b *bench) {
		r := b.newRun()
		b.clock.add(time.Minute)
		got := must(b.CancelRun(b.Context(), r.ID))(b)
		r.Status, r.Ended = store.Cancelled, start.Add(time.Minute)
		b.equal("cancelled", got, r)
		b.wants(proviso.Conflict, errorOf(b.CancelRun(b.Context(), r.ID)))
		b.equal("after a second time", must(b.Run(b.Context(), r.ID))(b), r)
		b.wants(proviso.NotFound, errorOf(b.CancelRun(b.Context(), "run_none")))
	}},
	{name: "delete", run: func(b *bench) {
		r, other := b.newRun(), b.newRun()
		for _, id := range []string{r.ID, other.ID} {
			must(b.AddResults(b.Context(), id, rowsOf(600, "a")))(b)
		}
		b.wants(proviso.Conflict, b.DeleteRun(b.Context(), r.ID))
		must(b.CancelRun(b.Context(), r.ID))(b)
		b.ok(b.DeleteRun(b.Context(), r.ID))
		b.wants(proviso.NotFound, b.DeleteRun(b.Context(), r.ID))
		b.wants(proviso.NotFound, errorOf(b.FinishedRows(b.Context(), r.ID)))
		b.equal("rows of the other", len(must(b.FinishedRows(b.Context(), other.ID))(b)), 600)
		b.equal("counts of the other", must(b.CountAssertions(b.Context(), other.ID))(b)[0].Passed, 600)
		must(b.CreateRun(b.Context(), store.NewRun{ID: r.ID}))(b)
		b.equal("rows of a new one with its id", len(must(b.FinishedRows(b.Context(), r.ID))(b)), 0)
	}},
	{name: "filters", run: func(b *bench) {
		make := func(suite, version, key string, cancel bool) {
			r := must(b.CreateRun(b.Context(), store.NewRun{Suite: suite, Version: version, CreatedBy: key}))(b)
			if cancel {
				must(b.CancelRun(b.Context(), r.ID))(b)
			}
			b.clock.add(time.Second)
		}
		make("a", "1", "k", false)
		make("a", "2", "l", true)
		make("b", "1", "k", false)
		make("'", "1", "l", true)
		for _, tt := range []struct {
			filter store.RunFilter
			want   int
		}{
			{store.RunFilter{}, 4},
			{store.RunFilter{Suite: "a"}, 2},
			{store.RunFilter{Suite: "'"}, 1},
			{store.RunFilter{Suite: "%"}, 0},
			{store.RunFilter{Version: "1"}, 3},
			{store.RunFilter{CreatedBy: "k", Suite: "a"}, 1},
			{store.RunFilter{Status: []store.RunStatus{store.Cancelled}}, 2},
			{store.RunFilter{Status: []store.RunStatus{store.Queued, store.Cancelled, store.Done}}, 2},
			{store.RunFilter{Status: []store.RunStatus{store.Unmet, store.Queued, store.Cancelled}}, 4},
			{store.RunFilter{Status: []store.RunStatus{store.Unmet}}, 2},
			{store.RunFilter{Status: []store.RunStatus{"none"}}, 0},
			{store.RunFilter{Since: start.Add(time.Second)}, 3},
			{store.RunFilter{Until: start.Add(time.Second)}, 1},
			{store.RunFilter{Since: start.Add(time.Second), Until: start.Add(3 * time.Second)}, 2},
		} {
			list := all(b, 1, pagesOf(b.ListRuns, tt.filter))
			if len(list) != tt.want {
				b.Errorf("%+v: %d runs, want %d", tt.filter, len(list), tt.want)
			}
		}
		b.equal("newest first", all(b, 10, pagesOf(b.ListRuns, store.RunFilter{}))[0].Suite, "'")
	}},
}

var lookTests = []test{
	{name: "looks", reopens: true, run: func(b *bench) {
		for want := 1; want <= 2; want++ {
			b.equal("looks", must(b.AddLook(b.Context(), "run_1", "a"))(b), want)
		}
		b.equal("of another assertion", must(b.AddLook(b.Context(), "run_1", "b"))(b), 1)
		b.reopen()
		b.equal("later", must(b.CountLooks(b.Context(), "run_1", "a"))(b), 2)
		b.equal("of none", must(b.CountLooks(b.Context(), "run_2", "a"))(b), 0)
	}},
}
