package report_test

import (
	"encoding/xml"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
)

// junit is a JUnit document as a CI system parses it.
type junit struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
	Suites   []struct {
		Name  string `xml:"name,attr"`
		Tests int    `xml:"tests,attr"`
		Cases []struct {
			Name    string  `xml:"name,attr"`
			Failure *reason `xml:"failure"`
			Error   *reason `xml:"error"`
			Skipped *reason `xml:"skipped"`
			Out     string  `xml:"system-out"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

type reason struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

func readJUnit(t testing.TB, text string) junit {
	t.Helper()
	var d junit
	if err := xml.Unmarshal([]byte(text), &d); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	tests := 0
	for _, s := range d.Suites {
		tests += s.Tests
		if s.Tests != len(s.Cases) {
			t.Errorf("suite %q says %d, has %d", s.Name, s.Tests, len(s.Cases))
		}
	}
	if tests != d.Tests {
		t.Errorf("%d tests, %d in suites", d.Tests, tests)
	}
	return d
}

func TestJUnitKeepsOutcomesApart(t *testing.T) {
	t.Parallel()
	m, sum, results := sample(t)
	d := readJUnit(t, shown(t, "junit", m, sum, keep(t, m, sum, results)))
	if d.Tests != 8 || d.Failures != 5 || d.Errors != 2 || d.Skipped != 0 {
		t.Errorf("counts %+v", d)
	}
	cases := d.Suites[0].Cases
	two := cases[2].Failure
	if two == nil || two.Type != "not-contains, regex" || !strings.Contains(two.Text, `regex: Expected output to satisfy regex "^H"`) {
		t.Errorf("the failure is %+v", two)
	}
	if down := cases[4].Error; down == nil || down.Message != "echo: connection refused" || cases[4].Failure != nil {
		t.Errorf("the error is %+v", down)
	}
	if cases[6].Failure != nil || cases[6].Error != nil {
		t.Error("a row that passed has a failure")
	}
}

func TestJUnitIsHarmless(t *testing.T) {
	t.Parallel()
	eachHostile(t, func(t *testing.T, text string) {
		m, sum, rows := everywhere(t, text)
		got := shown(t, "junit", m, sum, rows)
		if !utf8.ValidString(got) {
			t.Fatal("not UTF-8")
		}
		d := readJUnit(t, got)
		if d.Tests != 4 || d.Failures != 1 || d.Errors != 1 || d.Skipped != 1 || len(d.Suites) != 2 || d.Suites[0].Name == d.Suites[1].Name {
			t.Errorf("counts %+v", d)
		}
		if strings.ContainsAny(text, "\x00\x1b") || !utf8.ValidString(text) || len(text) > 10000 {
			return // shown as escapes, or shortened
		}
		out := d.Suites[0].Cases[0].Out
		if !strings.Contains(out, "output: "+text+"\n") && utf8.ValidString(text) && !strings.ContainsAny(text, "\ufffe\uffff\v\f") {
			t.Errorf("the output %q is not in %q", text, out)
		}
	})
}

// repeated returns the repeats of one case, of which passing pass.
func repeated(t testing.TB, of, need, passing int) []*proviso.Result {
	var results []*proviso.Result
	for i := range of {
		c := caseOf(t, i, `{"description":"flaky","vars":{},"assert":[{"type":"contains","value":"a"}]}`)
		c.ID, c.Repeat, c.Repeats, c.RepeatPass = "same", i, of, need
		status := proviso.Fail
		if i < passing {
			status = proviso.Pass
		}
		results = append(results, resultOf(c, "b", status))
	}
	return results
}

// If enough repeats of a case passed, a failed repeat is not a failure for CI either.
func TestJUnitForgives(t *testing.T) {
	t.Parallel()
	for passing, failures := range map[int]int{3: 0, 2: 3} {
		m, sum := meta(), report.NewSummary(1)
		d := readJUnit(t, shown(t, "junit", m, sum, keep(t, m, sum, repeated(t, 5, 3, passing))))
		if d.Tests != 5 || d.Failures != failures {
			t.Errorf("%d passed: %+v", passing, d)
		}
	}
}

func FuzzJUnit(f *testing.F) {
	for _, text := range nasty {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, sum, rows := everywhere(t, text)
		readJUnit(t, shown(t, "junit", m, sum, rows))
	})
}
