package runs_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/gate/runs"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/value"
)

// FuzzRead: a row of a run file is either damaged, or read with the same status and
// number of verdicts as a full decoder finds. A run is equal to itself.
func FuzzRead(f *testing.F) {
	for _, row := range []string{
		`{"caseId":"c","promptIdx":0,"verdict":"pass","score":1,"vars":{"a":"x"},"gradingResult":{"componentResults":[{"status":"pass","score":1,"assertion":{"type":"contains","value":"a"}},{"status":"error","assertion":{"id":"j","type":"judge"},"judge":"m"}]},"response":{"output":"o","latencyMs":3},"cost":0.1,"repeat":{"index":1,"of":2},"testCase":{"id":"c","description":"d"}}`,
		`{"promptIdx":1,"verdict":"fail","gradingResult":{"componentResults":[{"status":"fail","members":2,"assertion":{"type":"assert-set"}},{"status":"fail","score":0,"assertion":{"type":"equals"}},{"status":"skip","assertion":{"metric":"m"}}]}}`,
		`{"promptIdx":0,"verdict":"pass","gradingResult":{"componentResults":[{"status":"pass","score":1e400,"members":-1,"assertion":{"criteria":["polite"],"type":""}},{"members":1e300}]},"cost":-1,"response":{"latencyMs":-3}}`,
		`{"promptIdx":1e9}`, `{"promptIdx":0,"verdict":1,"vars":[],"gradingResult":[{}],"repeat":7}`, `{"promptIdx":0,"vars":{"\ud800":"\u0000"}}`,
	} {
		f.Add(row)
	}
	name := filepath.Join(f.TempDir(), "run.jsonl")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := value.ParseJSON(text)
		o, ok := v.(*value.Object)
		if err != nil || !ok {
			return
		}
		row := value.ObjectOf("index", 0.0)
		for key, member := range o.All() {
			if key != "index" && key != "proviso" && key != "trailer" {
				row.Set(key, member)
			}
		}
		encoded := value.AppendJSON(nil, row)
		if !strings.HasPrefix(string(encoded), `{"index":0,`) { // not a row of a run
			return
		}
		header := runfile.Header{Suite: "demo"}
		if err := os.WriteFile(name, append(append(append(header.Line(), encoded...), '\n'), "{\"trailer\":{}}\n"...), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := runfile.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		run, err := runs.Read(r, "last")
		if err != nil {
			if !strings.Contains(err.Error(), "row 0 is damaged") {
				t.Errorf("%s: %v", encoded, err)
			}
			return
		}
		if len(run.Rows) != 1 {
			t.Fatalf("%s: %d rows", encoded, len(run.Rows))
		}
		whole, err := record.Decode(0, encoded)
		if err != nil {
			t.Fatal(err)
		}
		got := run.Rows[0]
		if got.Status != whole.Verdict() || got.Cost < 0 || got.LatencyMS < 0 || math.IsNaN(got.Cost) || got.Column >= len(run.Columns) {
			t.Errorf("%s: %+v, and the whole row is %v", encoded, got, whole.Verdict())
		}
		if list := whole.Verdicts(); len(list) != len(got.Verdicts) {
			t.Errorf("%s: %d verdicts, and in the whole row %d", encoded, len(got.Verdicts), len(list))
		} else {
			for i, v := range got.Verdicts {
				if v.Status != list[i].Status && v.Status != proviso.Errored && !v.Waived {
					t.Errorf("%s: verdict %d is %v, and in the whole row %v", encoded, i, v.Status, list[i].Status)
				}
			}
		}
		c, err := gate.Compare(run, run, gate.Options{})
		if err == nil && len(c.Cases.Broke)+len(c.Cases.Fixed) > 0 {
			t.Errorf("%s: a run differs from itself: %+v", encoded, c.Cases)
		}
	})
}
