package monitor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/value"
)

// readWatches reads a file of watches. Mistakes are lines of the form PLACE: MESSAGE.
func readWatches(t testing.TB, text string) ([]monitor.Watch, []string) {
	t.Helper()
	doc, err := document.Parse("w.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o, ok := doc.Root.(*value.Object)
	if !ok {
		t.Fatalf("%T", doc.Root)
	}
	list, wrong := monitor.ReadWatches(o)
	var lines []string
	for _, e := range wrong {
		place := doc.Place(e.Pointer)
		if strings.HasPrefix(e.Message, "unknown") {
			place = doc.KeyPlace(e.Pointer)
		}
		lines = append(lines, fmt.Sprintf("%d:%d: %s", place.Line, place.Column, e.Message))
	}
	return list, lines
}

const fullWatch = `
support-tone:
  match: {agent: support, where: "segment.lang == 'de'"}
  assertions: set:returns@3
  sample: {rate: 0.2, floor: 60, segment: lang, budget_usd_per_day: 5}
  objectives: {tone: {max_fail: 0.05}}
  false_alarms: {per_days: 60}
  anchors: {file: anchors.jsonl, every: 168h}
  silence: {traffic: 6h, verdicts: never}
  notify: [slack:oncall, slack:oncall]
`

func TestReadWatches(t *testing.T) {
	t.Parallel()
	list, wrong := readWatches(t, fullWatch+"plain:\n  match: {agent: a}\n  assertions: file://set.yaml\n")
	if len(wrong) > 0 || len(list) != 2 {
		t.Fatal(wrong)
	}
	w := list[0]
	if w.Name != "support-tone" || w.Match != (monitor.Match{Agent: "support", Where: "segment.lang == 'de'"}) || w.Assertions != "set:returns@3" ||
		w.Sample != (monitor.Sample{Rate: .2, Floor: 60, Segment: "lang", BudgetPerDay: 5}) || w.Objectives["tone"].MaxFail != .05 || w.FalseAlarms.PerDays != 60 ||
		w.Anchors != (monitor.Anchors{File: "anchors.jsonl", Every: 168 * time.Hour}) || w.Silence != (monitor.Silence{Traffic: 6 * time.Hour}) || !slices.Equal(w.Notify, []string{"slack:oncall"}) {
		t.Errorf("%+v", w)
	}
	if p := list[1]; p.Sample.Rate != .1 || p.FalseAlarms.PerDays != 30 || p.Silence != (monitor.Silence{Traffic: 24 * time.Hour, Verdicts: 6 * time.Hour}) {
		t.Errorf("%+v", p)
	}
}

func TestReadWatchesMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want []string
	}{
		{"{}", []string{"1:1: there is no watch"}},
		{"w: 3", []string{"1:4: a watch has to be an object, not a number"}},
		{"'a b':\n  match: {agent: a}\n  assertions: set:x", []string{"2:3: the name of a watch has 1 to 94 letters"}},
		{strings.Repeat("w", 95) + ": {match: {agent: a}, assertions: set:x}", []string{"1:98: the name of a watch has 1 to 94 letters"}},
		{"w:\n  match: {agent: \"a\\e[31m\", where: cost}\n  assertions: set:x@1@2", []string{"2:18: agent has to be a text on one line, without control characters", "3:15: assertions has to be set:NAME", `2:36: where "cost" is not a condition: it returns a number`}},
		{"w: {}", []string{"1:4: match is missing", "1:4: assertions is missing"}},
		{"w:\n  macth: {agent: a}\n  match: {agnt: b}\n  assertions: sett:x", []string{"2:3: unknown field \"macth\" of a watch; did you mean \"match\"?", "3:11: unknown field \"agnt\" of match; did you mean \"agent\"?", "3:10: agent is missing", "4:15: assertions has to be set:NAME"}},
		{"w:\n  match: {agent: a, where: 'segment.lang = 1'}\n  assertions: set:x", []string{`2:28: where "segment.lang = 1" is not a valid condition: column 14`}},
		{"w:\n  match: {agent: a, where: 'vars.x == 1'}\n  assertions: set:x", []string{`2:28: where "vars.x == 1" is not a valid condition: column 1: undeclared reference to 'vars'`}},
		{"w:\n  match: {agent: a}\n  assertions: set:x\n  sample: {budget_usd_per_day: 0}", []string{"4:32: budget_usd_per_day cannot be 0: leave it out for no limit"}},
		{"w:\n  match: {agent: a}\n  assertions: set:x\n  sample: {rate: 0, floor: 1.5, budget_usd_per_day: -1, segment: 3}", []string{"4:18: rate has to be a number from 0.000001 to 1, not 0", "4:53: budget_usd_per_day has to be US dollars", "4:66: segment has to be text, not a number", "4:28: floor has to be a whole number"}},
		{"w:\n  match: {agent: a}\n  assertions: set:x\n  objectives: {tone: 0.1, tune: {}, x: {max_fail: 1}}", []string{"4:22: an objective has to be an object", "4:33: max_fail is missing", "4:51: max_fail has to be the share of failures in control"}},
		{"w:\n  match: {agent: a}\n  assertions: set:x\n  silence: {traffic: 6, verdicts: 1s}\n  anchors: {every: 24h}\n  notify: slack", []string{"4:22: traffic has to be a time from 1m0s", "4:35: verdicts has to be a time", "6:11: notify has to be a list", "5:12: anchors has no file"}},
		{"w:\n  match: {agent: a}\n  assertions: set:x\n  false_alarms: {per_days: 0.1}", []string{"4:28: per_days has to be a number of days from 1 to 3650, not 0.1"}},
	} {
		_, got := readWatches(t, c.text)
		for i, want := range c.want {
			if i >= len(got) && want != "" || i < len(got) && !strings.HasPrefix(got[i], want) {
				t.Errorf("%s\ngot  %s\nwant %s", c.text, strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
				break
			}
		}
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	metadata := value.ObjectOf("tier", "gold", "n", 3.0)
	e := ingest.Event{ID: "1", Agent: "a", Output: "hi", Version: "v2", Segment: map[string]string{"lang": "de"}, Metadata: metadata, Latency: 1500 * time.Millisecond, Cost: .5}
	for where, want := range map[string]bool{
		"": true, "segment.lang == 'de'": true, "segment.lang == 'en'": false, "metadata.tier == 'gold' && metadata.n > 2": true, "latency_ms > 1000": true,
		"cost < 0.1": false, "version.startsWith('v2')": true, "output.contains('hi')": true, "usage.total == 0": true, "error == ''": true, "has(segment.region)": false,
	} {
		w := monitor.Watch{Match: monitor.Match{Agent: "a", Where: where}}
		m, err := w.Compile()
		if err != nil {
			t.Fatal(where, err)
		}
		if got, err := m.Match(&e); got != want || err != nil {
			t.Errorf("%s: %v %v", where, got, err)
		}
		if got, _ := m.Match(&ingest.Event{Agent: "b"}); got {
			t.Error(where, "matches another agent")
		}
	}
	w := monitor.Watch{Match: monitor.Match{Agent: "a", Where: "segment.region == 'eu'"}}
	m, _ := w.Compile()
	if got, err := m.Match(&e); got || err == nil {
		t.Error("a missing segment is no error")
	}
}

func FuzzReadWatches(f *testing.F) {
	f.Add(fullWatch)
	f.Add("w: {match: {agent: a, where: 'x'}, assertions: set:@, sample: {floor: 1e300}, silence: {traffic: 9e9h}}")
	f.Add("w: [1]")
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := document.Parse("w.yaml", []byte(text))
		if err != nil {
			return
		}
		o, ok := doc.Root.(*value.Object)
		if !ok {
			return
		}
		list, wrong := monitor.ReadWatches(o)
		for _, e := range wrong {
			doc.Place(e.Pointer)
		}
		if len(wrong) > 0 {
			return
		}
		for i := range list {
			w := &list[i]
			if _, err := w.Compile(); err != nil {
				t.Errorf("%+v: %v", w, err)
			}
			if !(w.Sample.Rate > 0 && w.Sample.Rate <= 1) || w.Sample.Floor < 0 || w.Silence.Traffic < 0 {
				t.Errorf("%+v", w)
			}
		}
	})
}
