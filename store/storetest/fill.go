package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/store"
)

// Fill fills two projects of a store with something of each kind. seen returns everything that
// a store shows of them, as a text.
func Fill(t testing.TB, s Backend) (seen func(Backend) string) {
	t.Helper()
	b := &bench{TB: t, Backend: s, ProjectStore: s.In(store.DefaultProject), clock: &clock{now: start}}
	keys := []store.NewKey{{Name: "ci", Scopes: []store.Scope{store.Evaluate}}, {Name: "team", Project: "team-a", Scopes: []store.Scope{store.Read, store.Ingest}, Providers: []string{"openai:*"}}}
	for _, k := range keys {
		b.ok(errorOf(b.CreateKey(b.Context(), k)))
	}
	tenants := []tenant{b.tenant(store.DefaultProject), b.tenant("team-a")}
	for _, in := range tenants { // two people, and a replaced label
		for _, by := range []string{"ben", "cy", "ben"} {
			n := said(by, 0, "a", label.Fail)
			n.Run, n.Judge, n.Judged = in.run.ID, in.name, "fail"
			must(in.AddLabel(b.Context(), n))(b)
		}
		b.ok(errorOf(in.PutDocument(b.Context(), suiteOf("s", "a second version \u00e9 of "+in.name))))
		must(in.SettleEvents(b.Context(), in.own, []store.EventResult{{EventLease: in.job, Again: start.Add(time.Hour), Error: "the judge has not answered",
			Verdicts: []store.WatchVerdict{verdictOn("e2", "a", proviso.Pass), verdictOn("e2", "b", proviso.Errored)}}}))(b)
	}
	n := imported("run_interrupted", "key_1", 2)
	n.Trailer = nil
	b.ok(errorOf(b.ImportRun(b.Context(), n, sending(rowsOf(1, "a"), nil))))
	claim := claimOf("key", "request")
	b.claimed(claim)
	b.ok(b.Reply(b.Context(), b.replyTo(claim, "body")))
	return func(from Backend) string {
		t.Helper()
		r := &bench{TB: t, Backend: from, ProjectStore: from.In(store.DefaultProject), clock: b.clock}
		text := ""
		for _, in := range tenants {
			in.ProjectStore = from.In(store.Project(in.name))
			text += r.seen(in) + "\n"
			for _, run := range []string{in.run.ID, in.pushed.ID} {
				for _, row := range all(r, 1, func(ctx context.Context, p store.Page) (store.List[store.Result], error) {
					return in.ListResults(ctx, run, store.ResultFilter{}, p)
				}) {
					text += string(row.JSON) + "\n"
				}
			}
			file := must(in.RunFile(r.Context(), in.pushed.ID))(r)
			text += string(file.Header) + string(file.Trailer) + "\n"
		}
		text += words(must(from.In(store.DefaultProject).RunFile(r.Context(), "run_interrupted"))(r)) + "\n"
		for _, k := range must(store.AllKeys(r.Context(), from))(r) {
			text += words(k) + "\n"
		}
		return text
	}
}
