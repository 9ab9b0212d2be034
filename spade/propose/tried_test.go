package propose_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/spade/internal/spadetest"
	"github.com/proviso-eval/proviso/spade/propose"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/value"
)

// labelled returns trials with texts of good and bad outputs.
func labelled(good, bad []string) []trial.Trial {
	var list []trial.Trial
	add := func(id, label string, texts []string) {
		for i, text := range texts {
			list = append(list, trial.Trial{ID: id + string(rune('1'+i)), Label: label, Output: text, Vars: value.ObjectOf("limit", 3.0)})
		}
	}
	add("g", "1", good)
	add("b", "0", bad)
	return list
}

// TestProposeTries sends candidates that fail good outputs, or catch nothing, back to the
// model once, with the outputs, and uses what is better.
func TestProposeTries(t *testing.T) {
	t.Parallel()
	trials := labelled([]string{"a b c", "a b", "x y z", "a c"}, []string{"a b c d", "nothing", "bad word here", "more"})
	first := `{"name":"words","description":"W.","covers":[1],"type":"word-count","max":2},
		{"name":"silent","description":"S.","covers":[2],"type":"not-icontains","text":"worm"}`
	for name, x := range map[string]struct {
		again    string
		names    string
		improved int
	}{
		"better":       {`{"name":"words","description":"W.","covers":[1],"type":"word-count","value":{"min":null,"max":3},"scope":null,"when":null}`, `words {"max":3}, silent "worm"`, 1},
		"no better":    {`{"name":"words","description":"W.","covers":[1],"type":"word-count","max":1}`, `words {"max":2}, silent "worm"`, 0},
		"wrong":        {`{"name":"words","description":"W.","covers":[1],"type":"wrod-count","max":3}`, `words {"max":2}, silent "worm"`, 0},
		"left out":     {``, `words {"max":2}, silent "worm"`, 0},
		"the variable": {`{"name":"words","description":"W.","covers":[1],"type":"word-count","max":"{{ limit }}"}`, `words {"max":"{{ limit }}"}, silent "worm"`, 1},
	} {
		m := &spadetest.Model{Reply: func(q spadetest.Question) (string, error) {
			switch {
			case q.Step == "criteria":
				return spadetest.OneEach(q), nil
			case q.Repair > 0:
				return `{"candidates":[` + x.again + `]}`, nil
			}
			return `{"candidates":[` + first + `]}`, nil
		}}
		p := proposeWith(t, m, propose.Options{Trials: trials, Tau: 0.25}, "Be brief.\nName no bad word.")
		var got []string
		for _, c := range p.Candidates {
			got = append(got, c.Name+" "+value.Stringify(c.Assertion.Value))
		}
		if strings.Join(got, ", ") != x.names || p.Versions[0].Improved != x.improved {
			t.Errorf("%s: %s, improved %d", name, strings.Join(got, ", "), p.Versions[0].Improved)
		}
		told := m.Asked[len(m.Asked)-1]
		for _, want := range []string{
			"it fails 2 of 4 good outputs, such as output g1 (Word count 3 is greater than maximum 2) and output g3 (",
			"it fails none of the 4 bad outputs, and nothing catches output b1",
		} {
			if !strings.Contains(told.Again["problems"], want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, told.Again["problems"])
			}
		}
		// g1, g2, b1 and b2 were shown before.
		if got := told.Again["outputs"]; got != `{"id":"g3","label":"good","variables":{"limit":3},"output":"x y z"}` {
			t.Errorf("%s: %s", name, got)
		}
	}
	// A correct candidate takes one question, and so does one that catches nothing if nothing
	// is open.
	m := &spadetest.Model{Reply: func(q spadetest.Question) (string, error) {
		if q.Step == "criteria" {
			return spadetest.OneEach(q), nil
		}
		return `{"candidates":[{"name":"letters","description":"L.","covers":[1],"type":"regex","pattern":"^[a-cx-z ]+$"},{"name":"silent","description":"S.","covers":[2],"type":"not-icontains","text":"worm"}]}`, nil
	}}
	p := proposeWith(t, m, propose.Options{Trials: labelled([]string{"a b c"}, []string{"a d"}), Tau: 0.25}, "Be brief.\nName no bad word.")
	if m.Count() != 2 || len(p.Candidates) != 2 {
		t.Errorf("asked %d times, %v", m.Count(), namesOf(p))
	}
}

// TestProposeDrops drops a candidate that fails most of many good outputs, and keeps the
// reason in the file.
func TestProposeDrops(t *testing.T) {
	t.Parallel()
	m := &spadetest.Model{Reply: func(q spadetest.Question) (string, error) {
		if q.Step == "criteria" {
			return spadetest.OneEach(q), nil
		}
		return `{"candidates":[{"name":"stars","description":"S.","covers":[1],"type":"contains","text":"*"}]}`, nil
	}}
	good := strings.Split(strings.Repeat("a ", 8), " ")[:8]
	versions := []string{"Use stars."}
	p := proposeWith(t, m, propose.Options{Trials: labelled(good, []string{"b"}), Tau: 0.25}, versions...)
	if len(p.Candidates) != 0 || len(p.Dropped) != 2 || !strings.HasPrefix(p.Dropped[0].Reason, "it fails 8 of 8 good outputs, such as output g1 (") {
		t.Fatalf("%+v %+v", p.Candidates, p.Dropped)
	}
	for file, data := range map[string][]byte{"c.yaml": p.YAML(nil), "c.json": must(p.JSON())} {
		e, mistakes := propose.ReadEarlier(file, data)
		if err := mistakes.Err(); err != nil || !reflect.DeepEqual(e.Dropped, p.Dropped) {
			t.Errorf("%s: %v %+v", file, err, e)
			continue
		}
		again := proposeWith(t, m, propose.Options{Earlier: e}, versions...)
		if len(again.Dropped) != 0 || !reflect.DeepEqual(again.Before, p.Dropped) {
			t.Errorf("%s: %+v", file, again)
		}
	}
}

// grader fails texts with the word bad.
type grader struct{ asked int }

func (g *grader) Grade(_ context.Context, q proviso.Question) (proviso.Grade, error) {
	g.asked++
	return proviso.Grade{Pass: !strings.Contains(q.Output, "bad"), Reason: "graded"}, nil
}

// TestProposeTriesJudged decides judged candidates on the outputs that the model sees.
func TestProposeTriesJudged(t *testing.T) {
	t.Parallel()
	m := &spadetest.Model{Reply: spadetest.Obedient}
	g := &grader{}
	templates := template.New(template.Options{})
	t.Cleanup(func() { _ = templates.Close() })
	p := proposeWith(t, m, propose.Options{
		Trials: labelled([]string{"bad", "bad too", "fine"}, []string{"bad"}), Judged: check.New(check.Options{Templates: templates, Grader: g}),
	}, "Be kind.")
	if g.asked != 3 || len(p.Candidates) != 1 { // three outputs; a repeated candidate is not judged again
		t.Errorf("asked %d times: %+v", g.asked, p)
	}
	if told := m.Asked[len(m.Asked)-1]; !strings.Contains(told.Again["problems"], "it fails 2 of 2 good outputs, such as output g1 (graded) and output g2 (graded)") {
		t.Errorf("%v", told.Again)
	}
}

// TestProposeForUncaught asks what is wrong with bad outputs, and does not mark a sentence as
// asked about.
func TestProposeForUncaught(t *testing.T) {
	t.Parallel()
	m := &spadetest.Model{Reply: spadetest.Obedient}
	trials := labelled([]string{"fine", "well"}, []string{"b", "c", "d", "e", "f"})
	first := proposeWith(t, m, propose.Options{}, "Be kind.\n# Form\nBe brief.")
	e, mistakes := propose.ReadEarlier("c.yaml", first.YAML(nil))
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	before := m.Count()
	m.Reply = func(q spadetest.Question) (string, error) {
		if q.Step == "criteria" {
			return `{"criteria":[{"n":2,"quote":"Be brief","category":"Quantity","criterion":"One word.","vague":false}]}`, nil
		}
		return `{"candidates":[{"name":"one word","description":"One.","covers":[1],"type":"word-count","max":1}]}`, nil
	}
	p := proposeWith(t, m, propose.Options{Earlier: e, Trials: trials, Uncaught: []string{"b1", "b2", "b3", "b4", "b5", "g1", "nobody"}}, "Be kind.\n# Form\nBe brief.")
	if got := namesOf(p); !reflect.DeepEqual(got, []string{"check_1", "check_2", "one_word"}) || m.Count() != before+6 || !reflect.DeepEqual(p.Asked, first.Asked) {
		t.Errorf("%v, asked %d times", got, m.Count()-before)
	}
	q := m.Asked[before]
	if !strings.Contains(q.Parts["outputs"], `"id":"b4"`) || strings.Contains(q.Parts["outputs"], `"id":"b5"`) || !strings.Contains(q.Parts["known"], "check_1") || strings.Contains(q.Parts["sentences"], "Form") {
		t.Errorf("%v", q.Parts)
	}
}
