package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/store"
)

// said returns a person's label on an assertion of a row.
func said(by string, row int, assertion string, v label.Verdict) store.NewLabel {
	return store.NewLabel{CreatedBy: "key_1", Label: label.Label{By: by, Verdict: v,
		Subject: label.Subject{Run: "run_1", Index: row, Assertion: assertion}}}
}

// labels adds labels.
func (b *bench) labels(list ...store.NewLabel) []store.Label {
	b.Helper()
	var out []store.Label
	for _, n := range list {
		out = append(out, must(b.AddLabel(b.Context(), n))(b))
		b.clock.add(time.Second)
	}
	return out
}

// shown lists labels in a short form: person, row, assertion and verdict.
func (b *bench) shown(f store.LabelFilter) string {
	b.Helper()
	var texts []string
	for _, l := range all(b, 3, pagesOf(b.ListLabels, f)) {
		text := fmt.Sprintf("%s %d %s %s", l.By, l.Index, l.Assertion, l.Verdict)
		if !l.InForce {
			text = "(" + text + ")"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// countsHold checks that the counts of a run match its labels.
func (b *bench) countsHold(run string) {
	b.Helper()
	var list []*label.Label
	for _, l := range all(b, 1000, pagesOf(b.ListLabels, store.LabelFilter{Run: run})) {
		list = append(list, &l.Label)
	}
	got, want := must(b.CountLabels(b.Context(), store.LabelFilter{Run: run}))(b), label.Count(list, "")
	b.equal("with the judge", got.WithJudge(""), want.WithJudge(""))
	b.equal("assertions", got.Assertions(), want.Assertions())
	b.equal("between people", fmt.Sprint(got.Between()), fmt.Sprint(want.Between()))
}

var labelTests = []test{
	{name: "add", run: func(b *bench) {
		n := store.NewLabel{CreatedBy: "key_1", Label: label.Label{Subject: label.Subject{Run: "run_1", Index: 7, Assertion: "cites a source"},
			Verdict: label.Fail, Note: "no <b>source</b>\nat all 🧪", Evidence: []label.Span{{Start: 0, End: 3}, {Start: 7, End: 9}}, By: "key_1", Name: "Ana",
			Case: "case 1", OutputID: "out-1", Judge: "judge", Judged: "pass", Queue: "q", Stratum: label.Random, Rank: 3, Population: 40}}
		l := must(b.AddLabel(b.Context(), n))(b)
		if !strings.HasPrefix(l.ID, store.LabelID) {
			b.Errorf("the id is %q", l.ID)
		}
		want := store.Label{Label: n.Label, CreatedBy: "key_1", InForce: true}
		want.ID, want.Created = l.ID, start
		b.equal("returned", l, want)
		b.equal("read back", must(b.Label(b.Context(), l.ID))(b), want)
		b.equal("listed", must(b.ListLabels(b.Context(), store.LabelFilter{}, store.Page{}))(b).Items, []store.Label{want})
		given := said("Ben", 1, "", label.Unsure)
		given.ID, given.Created = "label_mine", start.Add(-time.Hour)
		b.equal("with its own id and time", must(b.AddLabel(b.Context(), given))(b).Created, given.Created)
	}},
	{name: "mistakes", run: func(b *bench) {
		l := b.labels(said("ana", 0, "a", label.Pass))[0]
		for what, change := range map[string]func(*store.NewLabel){
			"verdict":  func(n *store.NewLabel) { n.Verdict = "good" },
			"nothing":  func(n *store.NewLabel) { n.Run = "" },
			"both":     func(n *store.NewLabel) { n.Evaluation = "eval_1" },
			"row":      func(n *store.NewLabel) { n.Index = -1 },
			"nobody":   func(n *store.NewLabel) { n.By = "" },
			"evidence": func(n *store.NewLabel) { n.Evidence = []label.Span{{Start: 3, End: 3}} },
			"name":     func(n *store.NewLabel) { n.Name = "\x1b[31m" },
			"lease":    func(n *store.NewLabel) { n.Lease = "a\nb" },
		} {
			n := said("ana", 0, "a", label.Fail)
			change(&n)
			_, err := b.AddLabel(b.Context(), n)
			if err == nil {
				b.Errorf("%s: it is kept", what)
				continue
			}
			b.wants(proviso.Invalid, err)
		}
		long := said("ana", 0, "a", label.Fail)
		long.Note = strings.Repeat("ü", label.MaxNote+1)
		b.wants(proviso.Limit, errorOf(b.AddLabel(b.Context(), long)))
		again := said("ben", 0, "a", label.Fail)
		again.ID = l.ID
		b.wants(proviso.Conflict, errorOf(b.AddLabel(b.Context(), again)))
		b.wants(proviso.NotFound, errorOf(b.Label(b.Context(), "label_none")))
		b.wants(proviso.NotFound, b.DeleteLabel(b.Context(), "label_none", ""))
		b.equal("kept", b.shown(store.LabelFilter{History: true}), "ana 0 a pass")
	}},
	{name: "replace and remove", reopens: true, run: func(b *bench) {
		list := b.labels(said("ana", 0, "a", label.Pass), said("ben", 0, "a", label.Pass), said("ana", 0, "a", label.Fail), said("ana", 0, "", label.Unsure), said("ana", 0, "a", label.Unsure))
		b.equal("in force", b.shown(store.LabelFilter{}), "ana 0 a unsure, ana 0  unsure, ben 0 a pass")
		b.equal("history", b.shown(store.LabelFilter{History: true}), "ana 0 a unsure, ana 0  unsure, (ana 0 a fail), ben 0 a pass, (ana 0 a pass)")
		b.wants(proviso.Refused, b.DeleteLabel(b.Context(), list[4].ID, "ben"), store.ErrNotOwn)
		b.ok(b.DeleteLabel(b.Context(), list[4].ID, "ana"))
		b.reopen()
		b.equal("after one is removed", b.shown(store.LabelFilter{}), "ana 0  unsure, ana 0 a fail, ben 0 a pass")
		b.ok(b.DeleteLabel(b.Context(), list[0].ID, "")) // a replaced label
		b.equal("after an earlier one is removed", b.shown(store.LabelFilter{}), "ana 0  unsure, ana 0 a fail, ben 0 a pass")
		b.ok(b.DeleteLabel(b.Context(), list[2].ID, "ana"))
		b.equal("after all are removed", b.shown(store.LabelFilter{History: true}), "ana 0  unsure, ben 0 a pass")
		b.wants(proviso.NotFound, b.DeleteLabel(b.Context(), list[2].ID, "ana"))
		b.reopen()
		b.labels(said("ana", 0, "a", label.Pass))
		b.equal("and said again", b.shown(store.LabelFilter{}), "ana 0 a pass, ana 0  unsure, ben 0 a pass")
	}},
	{name: "filters", run: func(b *bench) {
		other := said("ana", 2, "a", label.Pass)
		other.Run, other.Queue = "run_2", "q"
		of := store.NewLabel{Label: label.Label{By: "ana", Verdict: label.Pass, Subject: label.Subject{Evaluation: "eval_1", Assertion: "a"}}}
		b.labels(said("ana", 0, "a", label.Pass), said("ben", 0, "a", label.Pass), said("ana", 1, "", label.Pass), other, of, said("ana", 0, "a", label.Fail))
		zero, whole, a := 0, "", "a"
		for _, tt := range []struct {
			filter store.LabelFilter
			want   int
		}{
			{store.LabelFilter{}, 5}, {store.LabelFilter{History: true}, 6}, {store.LabelFilter{Run: "run_1"}, 3}, {store.LabelFilter{Run: "run_2"}, 1},
			{store.LabelFilter{Evaluation: "eval_1"}, 1}, {store.LabelFilter{Index: &zero}, 2}, {store.LabelFilter{Assertion: &whole}, 1}, {store.LabelFilter{Assertion: &a}, 4},
			{store.LabelFilter{By: "ben"}, 1}, {store.LabelFilter{Queue: "q"}, 1}, {store.LabelFilter{Since: start.Add(3 * time.Second)}, 3}, {store.LabelFilter{By: "'; --"}, 0},
		} {
			if list := all(b, 2, pagesOf(b.ListLabels, tt.filter)); len(list) != tt.want {
				b.Errorf("%+v: %d labels, want %d", tt.filter, len(list), tt.want)
			}
		}
		for _, name := range names {
			n := said(name, 0, name, label.Pass)
			n.Note, n.Case = name, name
			b.labels(n)
			b.equal("labels of "+name, len(all(b, 5, pagesOf(b.ListLabels, store.LabelFilter{By: name, Assertion: &name}))), 1)
		}
	}},
	{name: "counts", run: func(b *bench) {
		judged := func(by string, row int, v label.Verdict, judge string) store.NewLabel {
			n := said(by, row, "a", v)
			n.Judge, n.Judged = "judge", judge
			return n
		}
		b.labels(judged("ana", 0, label.Pass, "pass"), judged("ana", 1, label.Fail, "pass"), judged("ana", 2, label.Unsure, "pass"), judged("ana", 3, label.Fail, "error"),
			judged("ben", 0, label.Fail, "pass"), judged("ben", 1, label.Fail, "pass"), judged("ben", 2, label.Fail, "fail"), judged("cleo", 1, label.Pass, "pass"), said("ben", 3, "a", label.Fail))
		got := must(b.CountLabels(b.Context(), store.LabelFilter{Run: "run_1"}))(b)
		b.equal("with the judge", got.WithJudge("a"), label.Table{Both: 2, OnlySecond: 3, Neither: 1})
		b.equal("between people", fmt.Sprintf("%+v", got.Between()),
			"[{A:ana B:ben Table:{Both:0 OnlyFirst:1 OnlySecond:0 Neither:2}} {A:ana B:cleo Table:{Both:0 OnlyFirst:0 OnlySecond:1 Neither:0}} {A:ben B:cleo Table:{Both:0 OnlyFirst:0 OnlySecond:1 Neither:0}}]")
		got = must(b.CountLabels(b.Context(), store.LabelFilter{By: "cleo"}))(b)
		b.equal("of one person", fmt.Sprint(got.WithJudge(""), len(got.Between())), "{1 0 0 0} 2")
		none := must(b.CountLabels(b.Context(), store.LabelFilter{Run: "none"}))(b)
		b.countsHold("run_1")
		for i, l := range all(b, 100, pagesOf(b.ListLabels, store.LabelFilter{})) {
			switch i % 3 {
			case 0:
				b.ok(b.DeleteLabel(b.Context(), l.ID, ""))
			case 1:
				b.labels(judged(l.By, l.Index, label.Pass, "fail"))
			default:
				again := b.labels(judged(l.By, l.Index, label.Unsure, "pass"), judged(l.By, l.Index, label.Fail, "fail"))
				b.ok(b.DeleteLabel(b.Context(), again[1].ID, ""))
			}
			b.countsHold("run_1")
		}
		b.equal("of none", fmt.Sprint(none.WithJudge(""), none.Between()), "{0 0 0 0} []")
	}},
	{name: "all at once", run: func(b *bench) {
		atOnce(10, func(g int) {
			for i := range 20 { // everybody labels the same rows
				b.works(errorOf(b.AddLabel(b.Context(), said(fmt.Sprint("p", g%5), i, "a", label.Pass))))
			}
		})
		b.countsHold("run_1")
		b.equal("in force", len(all(b, 1000, pagesOf(b.ListLabels, store.LabelFilter{}))), 100)
		b.equal("all", len(all(b, 1000, pagesOf(b.ListLabels, store.LabelFilter{History: true}))), 200)
	}},
	{name: "stable", run: func(b *bench) {
		n := 0
		stable(b, func(l store.Label) string { return l.ID }, pagesOf(b.ListLabels, store.LabelFilter{}), func() {
			n++
			b.labels(said("ana", n, "a", label.Pass))
		})
		for _, after := range []string{"x", store.Cursor("runs", "1"), store.Cursor("labels", "x")} {
			b.wants(proviso.Invalid, errorOf(b.ListLabels(b.Context(), store.LabelFilter{}, store.Page{After: after})))
		}
	}},
}
