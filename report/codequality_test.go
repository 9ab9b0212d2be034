package report_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/proviso-eval/proviso/report"
)

type qualityIssue struct {
	Description string
	CheckName   string `json:"check_name"`
	Fingerprint string
	Severity    string
	Location    struct {
		Path  string
		Lines struct{ Begin int }
	}
}

func readQuality(t testing.TB, text string) []qualityIssue {
	t.Helper()
	var list []qualityIssue
	if err := json.Unmarshal([]byte(text), &list); err != nil || list == nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return list
}

// TestCodeQuality: an issue has what GitLab requires, and keeps its fingerprint if only its
// line changes.
func TestCodeQuality(t *testing.T) {
	t.Parallel()
	m, sum, results := sample(t)
	rows := keep(t, m, sum, results)
	unknown := readQuality(t, shown(t, "codequality", m, sum, rows))
	m.Place = func(test int, assertion []byte) (string, int) { return "evals/suite.yaml", test + len(assertion) }
	list := readQuality(t, shown(t, "codequality", m, sum, rows))
	seen := map[string]bool{}
	for i, issue := range list {
		if issue.Fingerprint != unknown[i].Fingerprint || seen[issue.Fingerprint] || len(issue.Fingerprint) != 64 {
			t.Errorf("the fingerprint of %q", issue.Description)
		}
		seen[issue.Fingerprint] = true
		if issue.Location.Path != "evals/suite.yaml" || unknown[i].Location.Path == "" || unknown[i].Location.Lines.Begin != 1 {
			t.Errorf("the places are %+v and %+v", issue.Location, unknown[i].Location)
		}
		if issue.CheckName == "" || issue.Severity != "major" && issue.Severity != "minor" {
			t.Errorf("the issue is %+v", issue)
		}
	}
	if len(list) == 0 || list[0].Severity != "major" {
		t.Errorf("%d issues; the worst comes first", len(list))
	}
}

func TestCodeQualityIsHarmless(t *testing.T) {
	t.Parallel()
	eachHostile(t, func(t *testing.T, text string) {
		m, sum, rows := everywhere(t, text)
		m.Place = func(int, []byte) (string, int) { return text, -1 }
		for _, issue := range readQuality(t, shown(t, "codequality", m, sum, rows)) {
			for _, r := range issue.Description + issue.CheckName + issue.Location.Path {
				if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control) {
					t.Errorf("%U in %+v", r, issue)
				}
			}
			if issue.Location.Lines.Begin < 1 {
				t.Errorf("line %d", issue.Location.Lines.Begin)
			}
		}
	})
}

// TestAnnotationsOfSomeRows: the gate annotates only what the change broke.
func TestAnnotationsOfSomeRows(t *testing.T) {
	t.Parallel()
	_, sum, rows := many(t, 100, "x")
	got := annotations(t, report.AnnotationOptions{Only: func(index int) bool { return index == 42 }}, sum, rows)
	if !strings.HasPrefix(got, "::error title=case 43::✗ ") || strings.Count(got, "\n") != 1 {
		t.Errorf("got %q", got)
	}
}
