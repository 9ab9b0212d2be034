package propose_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/spade/internal/spadetest"
	"github.com/proviso-eval/proviso/spade/propose"
)

// scripted is a model that finds a criterion of one category in every sentence, and gives
// the first and the second list of candidates.
func scripted(category, first, second string) *spadetest.Model {
	return &spadetest.Model{Reply: func(q spadetest.Question) (string, error) {
		switch {
		case q.Step == "criteria":
			return strings.ReplaceAll(spadetest.OneEach(q), `"Inclusion"`, `"`+category+`"`), nil
		case q.Repair > 0:
			return `{"candidates":[` + second + `]}`, nil
		}
		return `{"candidates":[` + first + `]}`, nil
	}}
}

// TestProposeTakesBack: a candidate that decides outputs wrongly and that the model gives up
// is dropped, and a correct one is not.
func TestProposeTakesBack(t *testing.T) {
	t.Parallel()
	trials := labelled([]string{"a b c", "a b", "x y z", "a c"}, []string{"a b c d"})
	first := `{"name":"words","description":"W.","covers":[1],"type":"word-count","max":2},
		{"name":"no_d","description":"D.","covers":[2],"type":"not-icontains","text":"d"}`
	m := scripted("Quantity", first, `{"name":"words","covers":[]},{"name":"no_d","covers":[]}`)
	p := proposeWith(t, m, propose.Options{Trials: trials, Tau: 0.25}, "Be brief.\nName no d.")
	if got := namesOf(p); !reflect.DeepEqual(got, []string{"no_d"}) {
		t.Errorf("%v", got)
	}
	if len(p.Dropped) == 0 || p.Dropped[0].Candidate != "words" || !strings.HasPrefix(p.Dropped[0].Reason, "the model took it back: it fails 2 of 4 good outputs") {
		t.Errorf("%+v", p.Dropped)
	}
}

// TestProposeSparesRounds: there is no second question about what is already decided, or about
// what a few outputs cannot show.
func TestProposeSparesRounds(t *testing.T) {
	t.Parallel()
	templates := template.New(template.Options{})
	t.Cleanup(func() { _ = templates.Close() })
	judged := check.New(check.Options{Templates: templates, Grader: &grader{}})
	three := labelled([]string{"fine"}, []string{"b", "c", "d"})
	for name, x := range map[string]struct {
		o      propose.Options
		m      *spadetest.Model
		prompt string
		rounds int // number of questions
	}{
		"a rule decides it": {propose.Options{Rules: true}, scripted("Quantity", "", ""), "Use at most 3 sentences.", 2},
		"a rule decides something else of it": {
			propose.Options{Rules: true}, scripted("Inclusion", "", ""), "Use at most 3 sentences.", 3,
		},
		"a rule decides it wrongly": {
			propose.Options{Rules: true, Trials: labelled([]string{"One is. Two is. Three is. Four is.", "Fine."}, nil), Tau: 0.25}, scripted("Quantity", "", ""), "Use at most 3 sentences.", 3,
		},
		"judged on two of three bad outputs": {propose.Options{Trials: three, Judged: judged}, &spadetest.Model{Reply: spadetest.Obedient}, "Be kind.", 2},
		"judged on both of two bad outputs":  {propose.Options{Trials: three[:3], Judged: judged}, &spadetest.Model{Reply: spadetest.Obedient}, "Be kind.", 3},
		"the numbers of an example are its own": {
			propose.Options{}, scripted("ExampleDemonstration", `{"name":"lines","description":"L.","covers":[1],"type":"line-count","min":2,"max":null}`, ""), "Do as here: 5 apples.", 2,
		},
		"the numbers of a sentence are not": {
			propose.Options{}, scripted("Quantity", `{"name":"lines","description":"L.","covers":[1],"type":"line-count","min":2,"max":null}`, ""), "Do as here: 5 apples.", 3,
		},
	} {
		proposeWith(t, x.m, x.o, x.prompt)
		if x.m.Count() != x.rounds {
			t.Errorf("%s: %d questions, want %d: %s", name, x.m.Count(), x.rounds, x.m.Asked[len(x.m.Asked)-1].Again["problems"])
		}
	}
}

// TestProposeShowsKnown shows which part of an answer a known assertion checks, and only the
// text around the quote of a long sentence.
func TestProposeShowsKnown(t *testing.T) {
	t.Parallel()
	e, mistakes := propose.ReadEarlier("c.yaml", []byte("assertions:\n- {id: short, type: sentence-count, value: {max: 2}, scope: {section: {from: '## Summary'}}, when: vars.limit == 3.0}\n"))
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	m := &spadetest.Model{Reply: func(q spadetest.Question) (string, error) {
		if q.Step == "criteria" {
			return `{"criteria":[{"n":1,"quote":"be kind","category":"Inclusion","criterion":"It is kind.","vague":true}]}`, nil
		}
		return spadetest.Obedient(q)
	}}
	p := proposeWith(t, m, propose.Options{Earlier: e, Trials: labelled([]string{"a"}, nil)}, strings.Repeat("so ", 300)+"be kind "+strings.Repeat("on ", 300)+".")
	q := m.Asked[1]
	if want := `"scope":{"section":{"from":"## Summary"}},"when":"vars.limit == 3.0"`; !strings.Contains(q.Parts["known"], want) {
		t.Errorf("%q is missing in %s", want, q.Parts["known"])
	}
	if text := q.Parts["criteria"]; !strings.Contains(text, "be kind") || len(text) > 700 {
		t.Errorf("%d bytes: %s", len(text), text)
	}
	if i := slices.IndexFunc(p.Candidates, func(c proviso.Candidate) bool { return c.Name == "check_1" }); i < 0 || len(p.Candidates[i].Delta.Text) < 1000 {
		t.Errorf("the sentence of the candidate is shortened, or there is none: %v", namesOf(p))
	}
}

// TestProposeAsksOnce: if two versions of a sentence differ only in punctuation, the model is
// asked about the one that the prompt has.
func TestProposeAsksOnce(t *testing.T) {
	t.Parallel()
	m := &spadetest.Model{Reply: spadetest.Obedient}
	p := proposeWith(t, m, propose.Options{Dropped: true}, "the result is kind\nGreet in 2 words.", "The result is kind.\nGreet in 3 words.")
	said := m.Asked[0].Parts["sentences"]
	if strings.Contains(said, "the result is kind") || !strings.Contains(said, "The result is kind.") || !strings.Contains(said, "Greet in 2 words.") {
		t.Errorf("%s", said)
	}
	if len(p.Candidates) != 3 || len(p.Gone) != 0 {
		t.Errorf("%v, gone: %+v", namesOf(p), p.Gone)
	}
}

// TestProposeForUncaughtInTurn: an output that an answer catches is in no later question, and
// the next question knows the assertion.
func TestProposeForUncaughtInTurn(t *testing.T) {
	t.Parallel()
	trials := labelled([]string{"fine", "well"}, []string{"b x", "c", "d", "e", "f x", "g", "h x", "i x", "j x"})
	m := scripted("Exclusion", `{"name":"no_x","description":"X.","covers":[1],"type":"not-icontains","text":"x"}`, "")
	first := proposeWith(t, &spadetest.Model{Reply: spadetest.Obedient}, propose.Options{}, "Never say x.")
	e, mistakes := propose.ReadEarlier("c.yaml", first.YAML(nil))
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for i := range trials {
		ids = append(ids, trials[i].ID)
	}
	p := proposeWith(t, m, propose.Options{Earlier: e, Trials: trials, Tau: 0.25, Uncaught: ids}, "Never say x.")
	var asked []spadetest.Question
	for _, q := range m.Asked {
		if q.Step == "criteria" {
			asked = append(asked, q)
		}
	}
	if len(asked) != 2 || !strings.Contains(asked[1].Parts["outputs"], `"id":"b6"`) || strings.Contains(asked[1].Parts["outputs"], ` x"`) {
		t.Fatalf("%d questions: %v", len(asked), asked[len(asked)-1].Parts["outputs"])
	}
	if strings.Contains(asked[0].Parts["known"], "no_x") || !strings.Contains(asked[1].Parts["known"], "no_x") {
		t.Errorf("%s then %s", asked[0].Parts["known"], asked[1].Parts["known"])
	}
	if got := namesOf(p); !reflect.DeepEqual(got, []string{"check_1", "no_x"}) {
		t.Errorf("%v", got)
	}
}
