package runs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/gate/runs"
	"github.com/proviso-eval/proviso/internal/runfile"
)

// benchRow is a row with five assertions, as `proviso eval` writes it. Every fifth
// case has an assertion of its own.
func benchRow(i int) string {
	assertions := []string{`{"type":"contains","value":"refund"}`, `{"type":"not-contains","value":"as an AI"}`,
		`{"type":"regex","value":"\\b[0-9]+\\b","metric":"number"}`, `{"type":"javascript","id":"short","value":"output.length < 2000"}`,
		fmt.Sprintf(`{"type":"icontains","value":"item-%05d"}`, i/5*5)}
	list, components := "", ""
	for n, a := range assertions {
		if n > 0 {
			list += ","
			components += ","
		}
		list += a
		components += `{"pass":true,"score":1,"reason":"Assertion passed","status":"pass","assertion":` + a + `}`
	}
	return fmt.Sprintf(`"id":"20261123-033806-jf3b/%d","caseId":"%012x","testIdx":%d,"promptIdx":0,"promptId":"p1","provider":{"id":"openai:gpt","label":""},`+
		`"prompt":{"raw":"Answer the question of a customer about item-%05d politely and in at most five sentences.","label":"first"},"vars":{"topic":"item-%05d","question":"Where is my refund?"},`+
		`"testCase":{"vars":{"topic":"item-%05d","question":"Where is my refund?"},"assert":[%s]},"response":{"output":"Your refund for item-%05d was sent 3 days ago. It takes up to 5 days until the bank has it. We are sorry that you had to wait and hope to see you again.",`+
		`"tokenUsage":{"total":90,"prompt":50,"completion":40,"cached":0,"numRequests":1},"cost":0.0003,"latencyMs":812.5},"success":true,"verdict":"pass","failureReason":0,"score":1,"namedScores":{"number":1},`+
		`"gradingResult":{"pass":true,"score":1,"reason":"All assertions passed","namedScores":{"number":1},"tokensUsed":{"total":0,"prompt":0,"completion":0,"cached":0,"numRequests":0},"componentResults":[%s]},"latencyMs":812.5,"cost":0.0003,"metadata":{}`,
		i, i*7919, i, i, i, i, list, i, components)
}

func BenchmarkRead(b *testing.B) {
	rows := make([]string, 20_000)
	size := 0
	for i := range rows {
		rows[i] = benchRow(i)
		size += len(rows[i])
	}
	path := kept(b, nil, rows...).Path()
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		r, err := runfile.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		run, err := runs.Read(r, "")
		if err != nil || len(run.Rows) != len(rows) || len(run.Rows[0].Verdicts) != 5 {
			b.Fatal(err)
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompare reads two runs of 20,000 rows with five assertions each, and compares
// them.
func BenchmarkCompare(b *testing.B) {
	rows := make([]string, 20_000)
	for i := range rows {
		rows[i] = benchRow(i)
	}
	base := kept(b, nil, rows...).Path()
	for i := 0; i < len(rows); i += 37 {
		rows[i] = strings.Replace(rows[i], `"status":"pass"`, `"status":"fail"`, 1)
	}
	head := kept(b, nil, rows...).Path()
	b.ReportAllocs()
	for b.Loop() {
		var sides []*gate.Run
		for _, path := range []string{base, head} {
			r, err := runfile.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			run, err := runs.Read(r, path)
			if err != nil {
				b.Fatal(err)
			}
			if err := r.Close(); err != nil {
				b.Fatal(err)
			}
			sides = append(sides, run)
		}
		c, err := gate.Compare(sides[0], sides[1], gate.Options{})
		if err != nil || len(c.Cases.Broke) != 541 {
			b.Fatal(err, len(c.Cases.Broke))
		}
	}
}
