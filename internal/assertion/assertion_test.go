package assertion_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

func TestOf(t *testing.T) {
	t.Parallel()
	v, err := value.ParseJSON(`{"id":"x","type":"not-contains","value":null,"threshold":"0.5","weight":2,"scope":{"each":"line","section":{"from":"A"}},
		"assert":[{"type":"equals"}],"criteria":["one",{"template":"t","params":{"n":1}}],"check":{"type":"word-count"},"severity":"must","when":"true"}`)
	if err != nil {
		t.Fatal(err)
	}
	a := assertion.Of(v.(*value.Object), "/a")
	if a.ID != "x" || a.Type != "not-contains" || a.Value != nil || a.Threshold != "0.5" || *a.Weight != 2 || a.Scope.Each != "line" || a.Scope.From != "A" ||
		a.Assert[0].Pointer != "/a/assert/0" || a.Criteria[1].Template != "t" || a.Check.Type != "word-count" || a.Severity != proviso.Must || a.When != "true" {
		t.Errorf("Of reads %+v", a)
	}
	if _, absent := a.Assert[0].Value.(value.Undefined); !absent {
		t.Errorf("an absent value is %#v", a.Assert[0].Value)
	}
}

// decode decodes an assertion, and returns the mistakes as pointer and message.
func decode(t *testing.T, text string, lenient bool) (*proviso.Assertion, []string) {
	t.Helper()
	v, err := value.ParseJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	var mistakes []string
	d := assertion.Decoder{Lenient: lenient, Report: func(e *proviso.Error) {
		m := e.Pointer + " " + e.Message
		if e.Warning {
			m = "warning " + m
		}
		mistakes = append(mistakes, m)
	}}
	a := &proviso.Assertion{}
	d.Assertion(a, "/a", v)
	return a, mistakes
}

// TestKeys: each key goes into its own field, or stays in Raw, and a value of a
// kind that the table does not list is a mistake at its place.
func TestKeys(t *testing.T) {
	t.Parallel()
	values := map[kind.Set]string{kind.Text: `"must"`, kind.Number: "2", kind.Boolean: "true", kind.List: `[{"type":"equals"}]`, kind.Object: `{"type":"equals"}`}
	none, _ := decode(t, `{"type":"equals"}`, false)
	for _, name := range assertion.Keys() {
		k := assertion.KeyOf(name)
		for one, text := range values {
			a, mistakes := decode(t, `{"type":"equals","`+name+`":`+text+`}`, false)
			valid := k.Kind&one != 0
			if name == "criteria" || name == "scope" { // their members have mistakes of their own
				valid = valid && len(mistakes) == 0
			}
			if valid != (len(mistakes) == 0) {
				t.Errorf("%s: %s, which takes %s: mistakes %q", name, text, k.Kind, mistakes)
			}
			if len(mistakes) > 0 && !strings.HasPrefix(mistakes[0], "/a/"+name) {
				t.Errorf("%s: %s: %s", name, text, mistakes[0])
			}
			a.Raw, none.Raw, a.Broken = nil, nil, false
			stays := slices.Contains([]string{"description", "alpha", "beta", "gamma"}, name) || name == "type"
			if valid && !stays && reflect.DeepEqual(a, none) {
				t.Errorf("%s: %s is in no field", name, text)
			}
		}
	}
}

func TestUnknownKey(t *testing.T) {
	t.Parallel()
	const text = `{"type":"equals","valu":"x","score":1,"weight":null,"check":{"type":1}}`
	_, strict := decode(t, text, false)
	want := []string{`/a/valu# unknown key "valu" in an assertion`, `/a/score# unknown key "score" in an assertion; write threshold`,
		"/a/check/type expected the name of an assertion type, got the number 1"}
	if !slices.Equal(strict, want) {
		t.Errorf("got %q, want %q", strict, want)
	}
	_, lenient := decode(t, text, true)
	want[0], want[1] = "warning "+want[0], "warning "+want[1]
	if !slices.Equal(lenient, want) {
		t.Errorf("got %q, want %q", lenient, want)
	}
}

func TestFields(t *testing.T) {
	t.Parallel()
	want := []string{"id", "instruction", "criteria", "check", "type", "when", "weight", "severity", "scope", "description"}
	if got := assertion.Fields(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
