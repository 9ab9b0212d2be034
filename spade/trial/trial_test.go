package trial_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/spade/trial"
)

// TestSlips: labels that would be lost are a mistake with the nearest name.
func TestSlips(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ file, text, want, nearest string }{
		{"t.jsonl", "{\"output\":\"x\",\"lable\":\"good\"}\n", `t.jsonl:1:15: no member of an output is called "lable"`, "label"},
		{"t.jsonl", "{\"outptu\":\"x\"}\n", `t.jsonl:1:2: no member of an output is called "outptu"`, "output"},
		{"t.jsonl", "{\"output\":\"x\",\"label\":\"goood\"}\n", `t.jsonl:1:23: the label is "goood"`, "good"},
		{"t.json", "[{\"output\":\"x\",\n  \"lable\":\"good\"}]", `t.json:2:3: no member of an output is called "lable"`, "label"},
		{"t.json", "{\"items\": [{\"output\":\"x\", \"label\":\"goood\"}]}", `t.json:1:35: the label is "goood"`, "good"},
		{"t.jsonl", "{\"output\":\"x\",\"labels\":[\"red\"]}\n", "", ""},
		{"t.csv", "output,lable\nx,good\n", `t.csv:1: no column is called "lable", and it holds labels`, "label"},
		{"t.csv", "output,lable\nx,red\n", "", ""},
		{"t.csv", "output,label\nx,godo\n", `t.csv:2: column label: the label is "godo"`, "good"},
		// Of other tools.
		{"l.jsonl", langfuse(`{"name":"label","value":1}`) + langfuse(`{"name":"label","stringValue":"goood"}`), `l.jsonl:2:127: the label is "goood"`, "good"},
		{"l.json", "[" + langfuse(`{"name":"lable","value":1}`) + "]", `l.json:1:106: the score "lable" holds a label`, "label"},
		{"l.jsonl", langfuse(`{"name":"user_topic","stringValue":"food"}`), "", ""},
		{"l.jsonl", langfuse(`{"name":"user_said","stringValue":"goof"}`) + langfuse(`{"name":"user_said","stringValue":"bad"}`), `l.jsonl:1:131: the label is "goof"`, "good"},
		{"l.jsonl", langfuse(`{"name":"lable","source":"EVAL","value":1}`), "", ""},
		{"s.jsonl", langsmith(`"user_label":{"n":1,"values":{"goood":1}}`), `s.jsonl:1:122: the label is "goood"`, "good"},
		{"s.jsonl", langsmith(`"lable":{"n":1,"avg":1}`), `s.jsonl:1:92: the key "lable" holds a label`, "label"},
		{"s.jsonl", langsmith(`"table":{"n":1,"avg":1}`), "", ""},
		{"p.json", "[" + promptlayer(`"label": "goood"`) + "]", `p.json:1:149: the label is "goood"`, "good"},
		{"p.jsonl", promptlayer(`"lable": "bad"`), `p.jsonl:1:139: the key "lable" holds a label`, "label"},
		{"p.jsonl", promptlayer(`"label": "billing"`), "", ""},
		{"o.jsonl", `{"response":{"body":{"choices":[{"message":{"content":"x"}}],"metadata":{"label":"godo"}}}}` + "\n", `o.jsonl:1:82: the label is "godo"`, "good"},
	} {
		_, mistakes := trial.Read(x.file, []byte(x.text))
		got, nearest := "", ""
		if len(mistakes) > 0 {
			got, nearest = mistakes[0].Place.String()+": "+mistakes[0].Message, mistakes[0].Nearest
		}
		if !strings.HasPrefix(got, x.want) || (x.want == "") != (got == "") || nearest != x.nearest {
			t.Errorf("%q: %s (nearest %q), want %s (%q)", x.text, got, nearest, x.want, x.nearest)
		}
	}
}

// langfuse is a trace with a score, langsmith a run with feedback, and promptlayer a request
// with metadata, each in a line.
func langfuse(score string) string {
	return `{"id":"t","timestamp":"2026-01-02T03:04:05Z","projectId":"p","input":"q","output":"x","scores":[` + score + "]}\n"
}

func langsmith(feedback string) string {
	return `{"id":"r","run_type":"chain","inputs":{"q":"x"},"outputs":{"output":"x"},"feedback_stats":{` + feedback + "}}\n"
}

func promptlayer(metadata string) string {
	return `{"input":{"type":"completion","content":[{"text":"q"}]},"output":{"type":"completion","content":[{"type":"text","text":"x"}]},"metadata":{` + metadata + "}}\n"
}

func TestContradictions(t *testing.T) {
	t.Parallel()
	list, mistakes := trial.Read("t.csv", []byte("id,output,label,q\na,yes,good,1\nb,yes,bad,2\nc,yes,bad,1\nd,yes,,1\ne,yes,good,1\nf,no,bad,1\n"))
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	entries, err := trial.Entries(trial.List(list))
	if err != nil {
		t.Fatal(err)
	}
	got := trial.Contradictions(entries)
	if len(got) != 1 || strings.Join(got[0].Good, " ") != "a e" || strings.Join(got[0].Bad, " ") != "c" {
		t.Errorf("%+v, want a and e good, c bad; b has another input", got)
	}
}

func FuzzReadTrials(f *testing.F) {
	f.Add("t.csv", "id,output,label,x\n1,a,good,2\n")
	f.Add("t.jsonl", "{\"id\":1,\"output\":{\"a\":1},\"vars\":{}}\n{\"label\":null,\"response\":\"\"}")
	f.Fuzz(func(t *testing.T, file, text string) {
		trials, mistakes := trial.Read(file, []byte(text))
		if (mistakes.Err() == nil) != (len(trials) > 0) {
			t.Errorf("%d trials, %v", len(trials), mistakes)
		}
		for _, x := range trials {
			if x.Vars == nil || x.ID == "" {
				t.Errorf("%+v", x)
			}
		}
	})
}

func TestThumbs(t *testing.T) {
	t.Parallel()
	text := "id,label,thumb,output\na,good,down,A\nb,,up,B\nc,,-1,C\nd,,,D\n"
	var notes []string
	open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
	var got []string
	for one, err := range trial.Noted("outputs.csv", open, func(note string) { notes = append(notes, note) }) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %q %v", one.ID, one.Label, one.Thumb))
	}
	if want := []string{`a "1" false`, `b "1" true`, `c "0" true`, `d "" false`}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v: the label of a person comes first", got, want)
	}
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "the labels of 2 outputs are thumbs of users") {
		t.Errorf("%v", notes)
	}
}
