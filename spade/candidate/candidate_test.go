package candidate_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/value"
)

const candidatesText = `assertions:
  - id: short
    description: At most 3 sentences.
    type: sentence-count
    value: {max: 3}
    config: {spade: {category: Quantity, version: 2, line: 4, text: "Answer in at most 3 sentences."}}
  - id: polite
    instruction: Be polite.
    criteria: [The answer is polite., "It blames nobody: # not even \"him\"\u0085"]
  - id: cites
    type: not-contains-any
    value: ["yes", no, "1", "a, b", ""]
    ignoreCase: true
    scope: {section: {from: "## Sources"}, each: item, match: any}
    config: {other: 1, spade: {model: m, prompt: sha256:00, version: 3, change: removed, text: x}}
`

func candidates(t *testing.T, file, text string) []proviso.Candidate {
	t.Helper()
	list, mistakes := candidate.Read(file, []byte(text))
	if err := mistakes.Err(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return list
}

// plainly returns what must survive writing and reading.
func plainly(list []proviso.Candidate) []string {
	var out []string
	for _, c := range list {
		raw := c.Assertion.Raw.Clone()
		raw.Delete("id")
		raw.Delete("description")
		raw.Delete("config")
		out = append(out, strings.Join([]string{c.Name, c.Description, c.Category, c.Model, c.PromptHash, c.Delta.Text, value.Stringify(raw)}, "|"))
	}
	return out
}

func TestCandidatesRoundTrip(t *testing.T) {
	t.Parallel()
	list := candidates(t, "c.yaml", candidatesText)
	want := plainly(list)
	if len(want) != 3 || list[0].Delta.Version != 2 || list[0].Delta.Line != 4 || !list[0].Delta.Added || list[2].Delta.Added || list[2].Model != "m" {
		t.Fatalf("%v %+v", want, list)
	}
	yaml := candidate.YAML(list, []string{"one\ntwo \x1b[31m"})
	if got := plainly(candidates(t, "c.yaml", string(yaml))); !reflect.DeepEqual(got, want) {
		t.Errorf("YAML\n%s\ngot  %v\nwant %v", yaml, got, want)
	}
	if strings.ContainsRune(string(yaml), '\x1b') {
		t.Errorf("a control character is in\n%s", yaml)
	}
	jsonl := candidate.JSONL(list)
	if got := plainly(candidates(t, "c.jsonl", string(jsonl))); !reflect.DeepEqual(got, want) {
		t.Errorf("JSON Lines\n%s\ngot  %v\nwant %v", jsonl, got, want)
	}
}

func TestReadCandidatesNamesMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, text, want string }{
		{"c.yaml", "assertions:\n  - {id: a, type: contains, value: x}\n  - {id: a, type: contains, value: y}\n  - {type: contains}\n", "c.yaml:3:10: a second assertion has the id \"a\"\nc.yaml:4:5: an assertion of the set needs an id"},
		{"c.yaml", "assertions: 3", "candidates are expected"},
		{"c.yaml", "a: [", "the YAML cannot be read"},
		{"c.jsonl", "{\"id\":\"a\",\"type\":\"contains\",\"value\":1}\n{\"id\":\"b\",\"tpye\":\"contains\"}\n{\n", "c.jsonl:2: unknown key \"tpye\" in an assertion (did you mean \"type\"?)"},
		{"c.jsonl", "{\"id\":\"a\",\"type\":\"contains\",\"value\":1}\n{\n", "c.jsonl:2:"},
	} {
		list, mistakes := candidate.Read(c.file, []byte(c.text))
		if !strings.Contains(mistakes.Error(), c.want) || mistakes.Err() == nil {
			t.Errorf("%q: %v, %d candidates, want %q", c.text, mistakes, len(list), c.want)
		}
	}
}

func FuzzCandidates(f *testing.F) {
	f.Add(candidatesText)
	f.Fuzz(func(t *testing.T, text string) {
		list, mistakes := candidate.Read("c.yaml", []byte(text))
		if mistakes.Err() != nil || len(list) == 0 {
			return
		}
		yaml := candidate.YAML(list, nil)
		again, mistakes := candidate.Read("c.yaml", yaml)
		if err := mistakes.Err(); err != nil || !reflect.DeepEqual(plainly(list), plainly(again)) {
			t.Errorf("%v\n%s\ngot  %v\nwant %v", err, yaml, plainly(again), plainly(list))
		}
	})
}

func TestPrioritiesInAFile(t *testing.T) {
	t.Parallel()
	text := "assertions:\n  - {id: a, type: contains, value: x, config: {spade: {pin: true, cost: 3}}}\n  - {id: b, type: contains, value: y, config: {spade: {ban: true}}}\n"
	list, mistakes := candidate.Read("c.yaml", []byte(text))
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	again, mistakes := candidate.Read("c.yaml", candidate.YAML(list, nil))
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	for _, l := range [][]proviso.Candidate{list, again} {
		if !l[0].Pin || l[0].Ban || l[0].Cost != 3 || l[1].Pin || !l[1].Ban || l[1].Cost != 0 {
			t.Errorf("%+v", l)
		}
	}
	_, mistakes = candidate.Read("c.yaml", []byte("- id: a\n  type: contains\n  value: x\n  config:\n    spade:\n      pin: true\n      ban: true\n      cost: none\n"))
	want := []string{`c.yaml:7:12: "a" is pinned and banned; choose one`, `c.yaml:8:13: cost is "none"; a whole number from 1 to 1048576 is expected`}
	for i, m := range mistakes {
		if got := m.Place.String() + ": " + m.Message; i >= len(want) || got != want[i] {
			t.Errorf("mistake %d: %s", i, got)
		}
	}
	if len(mistakes) != len(want) {
		t.Errorf("%d mistakes, want %d", len(mistakes), len(want))
	}
}
