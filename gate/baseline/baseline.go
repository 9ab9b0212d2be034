// Package baseline writes the verdicts of a run to a small file that is reviewed and
// committed, and reads it back: one line with hashes, then one line for each row, without
// outputs. Start at [Write] and [Read]; docs/gate.md describes the format.
package baseline

import (
	"bufio"
	"cmp"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/value"
)

// format is the version of the file format; a reader refuses later versions.
const format = 1

// Write writes a run, with rows in their order in the run. Equal runs give equal bytes.
func Write(w io.Writer, r *gate.Run) error {
	out := bufio.NewWriter(w)
	usual := usualOf(r)
	var columns []any
	for _, c := range r.Columns {
		columns = append(columns, value.ObjectOf("prompt", c.Prompt, "provider", c.Provider))
	}
	h := value.ObjectOf("proviso", "baseline", "format", float64(format), "run", r.Name)
	for _, hash := range hashes(&r.Identity) {
		if *hash.to != "" {
			h.Set(hash.key, *hash.to)
		}
	}
	h.Set("repeats", float64(r.Identity.Repeats))
	h.Set("columns", columns)
	if len(usual.criteria) > 0 {
		h.Set("criteria", named(usual.criteria))
	}
	if len(usual.judges) > 0 {
		h.Set("judges", named(usual.judges))
	}
	line := append(value.AppendJSON(nil, h), '\n')
	for i := range r.Rows {
		if _, err := out.Write(line); err != nil {
			return err
		}
		line = append(value.AppendJSON(line[:0], rowOf(&r.Rows[i], usual)), '\n')
	}
	if _, err := out.Write(line); err != nil {
		return err
	}
	return out.Flush()
}

// hashKey is a hash in the identity, and its key.
type hashKey struct {
	key string
	to  *string
}

func hashes(i *gate.Identity) []hashKey {
	return []hashKey{{"suite", &i.Suite}, {"prompts", &i.Prompts}, {"judge", &i.Judge}, {"cases", &i.Cases}}
}

// defaults holds the most frequent criterion and judge of each assertion. Only rows that
// differ name their own, so that lines stay short.
type defaults struct{ criteria, judges map[string]string }

func usualOf(r *gate.Run) defaults {
	criteria, judges := map[string]map[string]int{}, map[string]map[string]int{}
	count := func(in map[string]map[string]int, name, hash string) {
		if in[name] == nil {
			in[name] = map[string]int{}
		}
		in[name][hash]++
	}
	for i := range r.Rows {
		for _, v := range r.Rows[i].Verdicts {
			count(criteria, v.Assertion, v.Criterion)
			count(judges, v.Assertion, v.Judge)
		}
	}
	return defaults{mostFrequent(criteria), mostFrequent(judges)}
}

// mostFrequent returns the most frequent hash for each name, unless that is "".
func mostFrequent(of map[string]map[string]int) map[string]string {
	out := map[string]string{}
	for name, counts := range of {
		best := slices.MaxFunc(slices.Sorted(maps.Keys(counts)), func(a, b string) int { return cmp.Compare(counts[a], counts[b]) })
		if best != "" {
			out[name] = best
		}
	}
	return out
}

// named converts a map to an object, sorted by name.
func named(of map[string]string) *value.Object {
	o := value.NewObject(len(of))
	for _, name := range slices.Sorted(maps.Keys(of)) {
		o.Set(name, of[name])
	}
	return o
}

// rowOf returns the line for a row.
func rowOf(r *gate.Row, usual defaults) *value.Object {
	o := value.ObjectOf("case", cmp.Or(r.Case.ID, r.Case.Name))
	if r.Case.ID == "" {
		o.Set("vars", r.Case.Vars)
	}
	if r.Case.Cluster != "" {
		o.Set("cluster", r.Case.Cluster)
	}
	if r.Case.Repeat > 0 {
		o.Set("repeat", float64(r.Case.Repeat))
	}
	o.Set("column", float64(r.Column))
	o.Set("status", r.Status.String())
	if r.Status != proviso.Errored {
		o.Set("score", score(r.Score))
	}
	o.Set("assertions", verdictsOf(r.Verdicts))
	exceptions(o, "criteria", r.Verdicts, usual.criteria, func(v *gate.Verdict) string { return v.Criterion })
	exceptions(o, "judges", r.Verdicts, usual.judges, func(v *gate.Verdict) string { return v.Judge })
	if r.Cost > 0 {
		o.Set("cost", r.Cost)
	}
	if r.Tokens > 0 {
		o.Set("tokens", float64(r.Tokens))
	}
	return o
}

// verdictsOf returns the verdicts by assertion name: one verdict, or a list if assertions
// share a name.
func verdictsOf(list []gate.Verdict) *value.Object {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b gate.Verdict) int { return cmp.Compare(a.Assertion, b.Assertion) })
	o := value.NewObject(len(sorted))
	for _, v := range sorted {
		switch before := o.At(v.Assertion).(type) {
		case nil:
			o.Set(v.Assertion, verdictOf(&v))
		case []any:
			o.Set(v.Assertion, append(before, verdictOf(&v)))
		default:
			o.Set(v.Assertion, []any{before, verdictOf(&v)})
		}
	}
	return o
}

// verdictOf returns 1 for pass, 0 for fail, "skip" or "error", or otherwise {status,
// score}.
func verdictOf(v *gate.Verdict) any {
	switch {
	case v.Status == proviso.Errored || v.Status == proviso.Skip:
		return v.Status.String()
	case v.Status == proviso.Pass && v.Score == 1:
		return 1.0
	case v.Status == proviso.Fail && v.Score == 0:
		return 0.0
	}
	return value.ObjectOf("status", v.Status.String(), "score", score(v.Score))
}

// score limits a score to the range 0 to 1, which scripts may exceed.
func score(f float64) float64 {
	if math.IsNaN(f) {
		return 0
	}
	return min(max(f, 0), 1)
}

// exceptions adds what differs from most rows: a text per name, or a list in the order of
// the verdicts if assertions share a name.
func exceptions(o *value.Object, key string, list []gate.Verdict, usual map[string]string, of func(*gate.Verdict) string) {
	differ, texts := map[string]bool{}, map[string][]any{}
	for i := range list {
		v := &list[i]
		differ[v.Assertion] = differ[v.Assertion] || of(v) != usual[v.Assertion]
		texts[v.Assertion] = append(texts[v.Assertion], of(v))
	}
	out := &value.Object{}
	for _, name := range slices.Sorted(maps.Keys(differ)) {
		switch {
		case !differ[name]:
		case len(texts[name]) == 1:
			out.Set(name, texts[name][0])
		default:
			out.Set(name, texts[name])
		}
	}
	if out.Len() > 0 {
		o.Set(key, out)
	}
}
