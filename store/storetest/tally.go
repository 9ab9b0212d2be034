package storetest

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// judgedRow returns the JSON of a row with a prompt, whose second verdict is from a judge.
func judgedRow(prompt, status, more string) []byte {
	return []byte(`{"promptId":"` + prompt + `","response":{"output":"\"promptId\":\"no\""},"gradingResult":{"componentResults":[{"status":"pass","assertion":{"type":"equals"}},` +
		`{"status":"` + status + `","judge":"j \"1\"","cost":0.25` + more + `,"assertion":{"type":"judge"}}]}}`)
}

var tallyTests = []test{
	{name: "counts", run: func(b *bench) {
		run := b.newRun()
		b.equal("of no row", must(b.Tally(b.Context(), run.ID))(b), store.Tally{})
		rows := []store.Result{
			{Index: 0, Status: proviso.Pass, JSON: judgedRow("p", "pass", `,"cached":true`)},
			{Index: 1, Status: proviso.Fail, JSON: judgedRow("q", "fail", "")},
			{Index: 2, Status: proviso.Errored, JSON: judgedRow("p", "error", "")},
			{Index: 3, Status: proviso.Skip, JSON: []byte("not json \xff")},
		}
		b.equal("added", must(b.AddResults(b.Context(), run.ID, rows[:2]))(b), 2)
		b.equal("added with old ones", must(b.AddResults(b.Context(), run.ID, rows))(b), 2)
		want := store.Tally{
			Prompts: []store.PromptCount{{ID: "p", Passed: 1, Errors: 1}, {ID: "q", Failed: 1}},
			Judges:  []store.JudgeCount{{Judge: `j "1"`, Verdicts: 2, Errors: 1, Cached: 1, Cost: 0.75}},
		}
		b.equal("tally", must(b.Tally(b.Context(), run.ID))(b), want)
		b.equal("counted", must(b.Run(b.Context(), run.ID))(b).Uncounted, false)
		b.ok(errorOf(b.ImportRun(b.Context(), imported("run_pushed", "", len(rows)), sending(rows, nil))))
		b.equal("tally of a pushed run", must(b.Tally(b.Context(), "run_pushed"))(b), want)
	}},
	{name: "limit", run: func(b *bench) {
		run := b.newRun()
		rows := make([]store.Result, 150)
		for i := range rows {
			rows[i] = store.Result{Index: i, Status: proviso.Pass, JSON: judgedRow(string(rune('一'+i)), "pass", "")}
		}
		must(b.AddResults(b.Context(), run.ID, rows))(b)
		b.equal("prompts", len(must(b.Tally(b.Context(), run.ID))(b).Prompts), 100)
	}},
	{name: "bare rows", run: func(b *bench) {
		run := b.newRun()
		must(b.AddResults(b.Context(), run.ID, rowsOf(3, "a")))(b)
		list := must(b.ListResults(b.Context(), run.ID, store.ResultFilter{Bare: true}, store.Page{Limit: 2}))(b)
		b.equal("rows", len(list.Items), 2)
		b.equal("row", string(list.Items[1].JSON), `{"index":1}`)
		b.equal("next page", must(b.ListResults(b.Context(), run.ID, store.ResultFilter{Bare: true, Assertion: "a"}, store.Page{After: list.Next}))(b).Items[0].Index, 2)
	}},
}
