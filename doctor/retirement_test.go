package doctor

import (
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

// TestRetirementTable: every row names a provider, models that no other row has, a date
// and a page.
func TestRetirementTable(t *testing.T) {
	t.Parallel()
	rows, err := csv.NewReader(strings.NewReader(retirements)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	kinds, seen := map[string]bool{}, map[string]bool{}
	for _, k := range provider.Kinds() {
		kinds[k.Name] = true
	}
	for _, row := range rows[1:] {
		if _, err := time.Parse(time.DateOnly, row[2]); err != nil || !kinds[row[0]] || !strings.HasPrefix(row[3], "https://") || row[1] == "" {
			t.Errorf("%q: want a provider, models, a date and an address", row)
		}
		for _, model := range strings.Fields(row[1]) {
			if seen[row[0]+model] {
				t.Errorf("%s%s has two rows", row[0], model)
			}
			seen[row[0]+model] = true
		}
	}
}

func TestRetirementsOf(t *testing.T) {
	t.Parallel()
	s := &proviso.Suite{Providers: []proviso.ProviderSpec{
		{ID: "openai:responses:gpt-5-mini"}, {ID: "openai:responses:gpt-5-mini"}, {ID: "openai:gpt-6-sol"}, {ID: "azure:chat:gpt-5"},
		{ID: "openai:chat:gpt-5", Config: value.ObjectOf("apiHost", "localhost:8080")}, {ID: "anthropic:messages:claude-opus-4-1"}, {ID: "echo"},
	}}
	got := RetirementsOf(Judge{Provider: "openai:gpt-6-sol, openai:chat:gpt-5"}, s, time.Date(2026, 12, 10, 23, 0, 0, 0, time.UTC))
	var text []string
	for _, r := range got {
		text = append(text, r.Use+" "+r.Provider+" "+r.Date+map[bool]string{true: " retired"}[r.Retired])
	}
	const want = "judge openai:chat:gpt-5 2026-12-11|suite openai:responses:gpt-5-mini 2026-12-11|suite anthropic:messages:claude-opus-4-1 2026-08-05 retired"
	if strings.Join(text, "|") != want {
		t.Errorf("got %s\nwant %s", strings.Join(text, "|"), want)
	}
	if got := RetirementsOf(Judge{Provider: "openai:o3"}, nil, time.Date(2026, 12, 11, 0, 0, 0, 0, time.UTC)); len(got) != 1 || !got[0].Retired {
		t.Errorf("on the day itself: %+v", got)
	}
	shown := string((&Diagnosis{Models: got}).Text(report.TerminalOptions{}))
	for _, want := range []string{"– judge        openai:chat:gpt-5 retires on 2026-12-11: https://", "✗ suite        anthropic:messages:claude-opus-4-1 was retired on 2026-08-05"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in\n%s", want, shown)
		}
	}
}
