package spade_test

import (
	"context"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/classify"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/internal/spadetest"
	"github.com/proviso-eval/proviso/value"
)

func TestCategoryNamed(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Quantity": delta.Quantity, "Content/Count": delta.Quantity, " count ": delta.Quantity, "Structural/PresentationFormat": delta.ResponseFormat,
		"Presentation Format": delta.ResponseFormat, "prompt_rephrasing": delta.PromptClarification, "DataPlaceholders": delta.DataIntegration,
		"Qualitative Assessment": delta.QualitativeCriteria, "other": delta.OtherCategory, "Counts": "", "": "", "Content/": "",
	} {
		if got, ok := delta.CategoryNamed(name); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v, want %q", name, got, ok, want)
		}
	}
}

func TestClassify(t *testing.T) {
	t.Parallel()
	h := historyOf(t, "A.\nB.", "B.\nA.\nC.", "  B.\nA.\nC.", "D.")
	for name, x := range map[string]struct {
		answer string
		whole  []string
		err    string
	}{
		"good":       {`{"changes":[{"n":1,"category":"Count"},{"n":2,"category":"Inclusion"}],"whole":["Inclusion","Content/Count","Inclusion"]}`, []string{"Quantity", "Inclusion"}, ""},
		"none":       {`{"changes":[{"n":2,"category":"Other"},{"n":1,"category":"Other"}],"whole":[]}`, nil, ""},
		"one short":  {`{"changes":[{"n":1,"category":"Count"}],"whole":[]}`, nil, "changes has no entry for 2"},
		"one more":   {`{"changes":[{"n":1,"category":"Count"},{"n":3,"category":"Count"}],"whole":[]}`, nil, "an n that is not one of 1 to 2"},
		"twice":      {`{"changes":[{"n":1,"category":"Count"},{"n":1,"category":"Other"}],"whole":[]}`, nil, "change 1 has two categories"},
		"key twice":  {`{"changes":[{"n":1,"category":"Count"},{"n":2,"category":"Count","category":"Inclusion"}],"whole":[]}`, nil, "more than once"},
		"unknown":    {`{"changes":[{"n":1,"category":"Count"},{"n":2,"category":"Kindness"}],"whole":[]}`, nil, "no category: Kindness"},
		"whole":      {`{"changes":[],"whole":["Kindness"]}`, nil, "whole has what is no category: Kindness"},
		"no whole":   {`{"changes":[{"n":1,"category":"Count"}]}`, nil, `no list under "whole"`},
		"prose":      {"It is a count.", nil, "no complete JSON object"},
		"wrong kind": {`{"changes":[1,"x",null],"whole":[]}`, nil, "an n that is not one"},
	} {
		m := &spadetest.Model{Reply: func(q spadetest.Question) (string, error) {
			if len(spadetest.Objects(q.Parts["changes"])) != 2 {
				return `{"changes":[{"n":1,"category":"Other"}` + strings.Repeat(`,{"n":2,"category":"Other"},{"n":3,"category":"Other"},{"n":4,"category":"Other"}`, min(1, len(spadetest.Objects(q.Parts["changes"]))/4)) + `],"whole":[]}`, nil
			}
			return x.answer, nil
		}}
		got := classify.All(context.Background(), h.Changes, &ask.Model{Provider: m}, 1)
		first := got[0]
		if x.err == "" && (first.Err != nil || !reflect.DeepEqual(first.Whole, x.whole)) {
			t.Errorf("%s: %+v", name, first)
		}
		if x.err != "" && (first.Err == nil || !strings.Contains(first.Err.Error(), x.err) || first.Spent.Calls != 2) {
			t.Errorf("%s: %+v, want %q", name, first, x.err)
		}
		// The others are still answered; the model is not asked about units that only
		// moved.
		if got[1].Err != nil || !reflect.DeepEqual(got[1].Deltas, []string{delta.PromptClarification, delta.OtherCategory}) && !reflect.DeepEqual(got[1].Deltas, []string{delta.OtherCategory, delta.PromptClarification}) {
			t.Errorf("%s: %+v", name, got[1])
		}
		if got[2].Err != nil || len(got[2].Deltas) != 0 || got[2].Spent.Calls != 0 {
			t.Errorf("%s: %+v", name, got[2])
		}
		if got[3].Err != nil || len(got[3].Deltas) != 4 {
			t.Errorf("%s: %+v", name, got[3])
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	for _, c := range classify.All(ctx, h.Changes, &ask.Model{Provider: &spadetest.Model{Reply: spadetest.Obedient}}, 0) {
		if !errors.Is(c.Err, context.Canceled) {
			t.Errorf("%+v", c)
		}
	}
}

// published is the labelled data of the paper. It has no licence, so it is not in the
// repository.
const published = "../../shared/spade/taxonomy.jsonl"

// TestPublishedTaxonomy scores the paper's model from its published data, and a model
// that agrees with the human labels.
func TestPublishedTaxonomy(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(published)
	if err != nil {
		t.Skip("the data are not here")
	}
	list, mistakes := classify.ReadLabelled("taxonomy.jsonl", data)
	if err := mistakes.Err(); err != nil || len(list) != 96 {
		t.Fatalf("%d rows, %v", len(list), err)
	}
	said, changes := make([][]string, len(list)), make([]delta.Change, len(list))
	var people []classify.LabelledChange // of the changes that the model is asked about
	for i := range list {
		said[i], changes[i] = list[i].Predicted, list[i].Change
		if slices.ContainsFunc(changes[i].Deltas, func(d proviso.Delta) bool { return !d.Moved }) {
			people = append(people, list[i])
		}
	}
	s := classify.ScoreOf(list, said)
	if f, ok := s.Micro.F1(); !ok || f < 0.8087 || f > 0.8089 || s.Micro.Both != 184 || s.Micro.Model != 71 || s.Micro.People != 16 || s.Exact != 47 || s.Rows != 96 {
		t.Errorf("%v %+v", f, s)
	}
	next := 0
	m := &spadetest.Model{Reply: func(q spadetest.Question) (string, error) {
		var each, whole []any
		for _, o := range spadetest.Objects(q.Parts["changes"]) {
			each = append(each, value.ObjectOf("n", o.At("n"), "category", "Other"))
		}
		for _, c := range people[next].Categories {
			whole = append(whole, c)
		}
		next++
		return value.Stringify(value.ObjectOf("changes", each, "whole", append([]any{}, whole...))), nil
	}}
	classes := classify.All(context.Background(), changes, &ask.Model{Provider: m}, 1)
	for i, c := range classes {
		if c.Err != nil {
			t.Fatalf("%s: %v", list[i].Name, c.Err)
		}
		said[i] = append([]string{}, c.Whole...)
	}
	s = classify.ScoreOf(list, said)
	if f, _ := s.Micro.F1(); f != 1 || len(people) != 87 { // the others change only positions and white space
		t.Errorf("%v %d %+v", f, len(people), s)
	}
}

func FuzzTaxonomy(f *testing.F) {
	f.Add(`{"diff": "+ a\n- b\n  c", "ground_truth": ["Content/Count"], "predicted": []}`)
	f.Fuzz(func(t *testing.T, text string) {
		list, mistakes := classify.ReadLabelled("t.jsonl", []byte(text))
		if mistakes.Err() == nil && len(list) == 0 {
			t.Error("no mistake, and nothing read")
		}
	})
}
