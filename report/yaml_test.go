package report_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

// checkYAML fails if the YAML report and the JSON report have different content.
func checkYAML(t testing.TB, m *report.Meta, sum *report.Summary, rows report.Rows) {
	t.Helper()
	text := shown(t, "yaml", m, sum, rows)
	if !utf8.ValidString(text) {
		t.Fatal("not UTF-8")
	}
	var got, want any
	if err := yaml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	// Go's JSON also reads lone surrogates as the replacement character.
	if err := json.Unmarshal([]byte(shown(t, "json", m, sum, rows)), &want); err != nil {
		t.Fatal(err)
	}
	// Convert all numbers to one form.
	encoded, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var again any
	if err := json.Unmarshal(encoded, &again); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again, want) {
		t.Errorf("YAML says\n%s", text)
	}
}

func TestYAMLSaysWhatJSONSays(t *testing.T) {
	t.Parallel()
	m, sum, results := sample(t)
	checkYAML(t, m, sum, keep(t, m, sum, results))
	checkYAML(t, meta(), report.NewSummary(1), memoryRows{})
	m, sum, rows := everywhere(t, "a long key "+strings.Repeat("k", 5000))
	checkYAML(t, m, sum, rows)
}

func TestYAMLIsHarmless(t *testing.T) {
	t.Parallel()
	eachHostile(t, func(t *testing.T, text string) {
		m, sum, rows := everywhere(t, text)
		checkYAML(t, m, sum, rows)
	})
}

func FuzzYAML(f *testing.F) {
	for _, text := range nasty {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, sum, rows := everywhere(t, text)
		if value.UTF16Len(text) > 100_000 {
			return // beyond what this test's parser reads in time
		}
		checkYAML(t, m, sum, rows)
	})
}
