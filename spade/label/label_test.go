package label_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	people "github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/spade/label"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/trial"
)

// outputs makes trials of texts, with the ids a, b, c …
func outputs(texts ...string) []trial.Trial {
	var list []trial.Trial
	for i, text := range texts {
		list = append(list, trial.Trial{ID: string(rune('a' + i)), Output: text})
	}
	return list
}

func entriesOf(t *testing.T, trials []trial.Trial) []trial.Entry {
	t.Helper()
	entries, err := trial.Entries(trial.List(trials))
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func openLog(t *testing.T, file string, trials []trial.Trial) *label.Log {
	t.Helper()
	log, mistakes, err := label.OpenLog(file, entriesOf(t, trials), "")
	if err := errors.Join(err, mistakes.Err()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	return log
}

// labelsOf reads a file of labels like spade matrix.
func labelsOf(t *testing.T, file string, trials []trial.Trial) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	entries := entriesOf(t, trials)
	_, mistakes := label.Read(file, data, entries)
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(map[string]string{"": "-", "0": "0", "1": "1"}[e.Label])
	}
	return b.String()
}

// TestLabelLog labels, undoes and continues in later sessions; every reader of the file
// sees the same labels.
func TestLabelLog(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "labels.jsonl")
	trials := outputs("one", "two", "three", "four")
	trials[3].Label = "0"
	log := openLog(t, file, trials)
	set := func(i int, label, note string) {
		t.Helper()
		if err := log.Set(i, label, note); err != nil {
			t.Fatal(err)
		}
	}
	wants := func(want string) {
		t.Helper()
		if got := labelsOf(t, file, trials); got != want {
			t.Errorf("the file has %s, want %s", got, want)
		}
		again := openLog(t, file, trials)
		for i, c := range want {
			label, _ := again.Label(i)
			now, _ := log.Label(i)
			if label != strings.Trim(string(c), "-") || now != label {
				t.Errorf("%d: the next session has %q, this one %q, want %q", i, label, now, string(c))
			}
		}
	}
	set(0, "1", "nice")
	set(1, "0", "")
	wants("10-0")
	set(1, "1", "")
	set(3, "1", "")
	wants("11-1")
	undo := func(want int) {
		t.Helper()
		i, ok, err := log.Undo()
		if err != nil || ok != (want >= 0) || ok && i != want {
			t.Errorf("undid %d, %v, %v; want %d", i, ok, err, want)
		}
	}
	undo(3)
	wants("11-0")
	log = openLog(t, file, trials) // undo works across sessions
	undo(1)
	wants("10-0")
	undo(1)
	wants("1--0")
	if _, note := log.Label(0); note != "nice" {
		t.Errorf("the note is %q", note)
	}
	set(0, "", "")
	wants("---0")
	undo(0)
	wants("1--0")
	undo(0)
	wants("---0")
	undo(-1)
}

func TestLabelLogMends(t *testing.T) {
	t.Parallel()
	trials := outputs("one", "two")
	for name, c := range map[string]struct {
		before string
		cut    bool
		want   string
	}{
		"cut off":       {"{\"id\":\"a\",\"label\":1}\n{\"id\":\"b\",\"la", true, "10"},
		"no line end":   {"{\"id\":\"a\",\"label\":1}", false, "10"},
		"blank at end":  {"{\"id\":\"a\",\"label\":1}\n  ", false, "10"},
		"nothing in it": {"", false, "-0"},
	} {
		file := filepath.Join(t.TempDir(), "labels.jsonl")
		if err := os.WriteFile(file, []byte(c.before), 0o600); err != nil {
			t.Fatal(err)
		}
		log := openLog(t, file, trials)
		if (log.Cut != "") != c.cut {
			t.Errorf("%s: cut %q", name, log.Cut)
		}
		if err := log.Set(1, "0", ""); err != nil {
			t.Fatal(err)
		}
		if got := labelsOf(t, file, trials); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	file := filepath.Join(t.TempDir(), "labels.jsonl")
	for text, want := range map[string]string{
		"{\"id\":\"b\",\"label\":\"so so\"}\n": "labels.jsonl:1:19: the label is \"so so\"",
		"{\"id\":\"bb\",\"label\":1}\n":        "labels.jsonl:1:7: no output has the id \"bb\"",
		"id,label\na,1":                        "labels.jsonl:1:",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, mistakes, err := label.OpenLog(file, entriesOf(t, trials), "")
		if err != nil || mistakes.Err() == nil || !strings.Contains(mistakes.Error(), want) {
			t.Errorf("%q: %v, %v", text, mistakes, err)
		}
		if data, _ := os.ReadFile(file); string(data) != text {
			t.Errorf("the file is %q now", data)
		}
	}
}

// TestStaleLabels: a label of another output does not count.
func TestStaleLabels(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "labels.jsonl")
	before := outputs("one", "two", "three")
	log := openLog(t, file, before)
	for i := range before {
		if err := log.Set(i, "1", ""); err != nil {
			t.Fatal(err)
		}
	}
	now := outputs("one", "another two")
	if got := labelsOf(t, file, now); got != "1-" {
		t.Errorf("labels are %s", got)
	}
	if log := openLog(t, file, now); log.Stale != 2 {
		t.Errorf("%d are stale, want 2", log.Stale)
	}
}

// order answers all outputs and returns their ids in the order in which they came.
func order(t *testing.T, trials []trial.Trial, g *matrix.Grid, answer func(id string) string) string {
	t.Helper()
	l, err := label.Start(trials, openLog(t, filepath.Join(t.TempDir(), "l.jsonl"), trials), label.Options{Grid: g})
	if err != nil {
		t.Fatal(err)
	}
	var ids strings.Builder
	for {
		asked, ok := l.Current()
		if !ok {
			return ids.String()
		}
		ids.WriteString(asked.Trial.ID)
		if a := answer(asked.Trial.ID); a == "" {
			l.Skip()
		} else if err := l.Answer(a); err != nil {
			t.Fatal(err)
		}
	}
}

func grid(t *testing.T, text string) *matrix.Grid {
	t.Helper()
	g, mistakes := matrix.ReadGrid("m.csv", strings.NewReader(text))
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	return g
}

// TestOrderByCandidates: the output that separates most candidates comes first, then the one
// that best splits the candidates that the labels do not separate.
func TestOrderByCandidates(t *testing.T) {
	t.Parallel()
	trials := outputs("x", "x", "x", "x", "y")
	g := grid(t, "id,label,p,q,r,s\na,,1,1,1,1\nb,,1,1,0,0\nc,,1,0,0,0\nd,,1,0,1,0\n")
	good := func(string) string { return "1" }
	// b and d split two and two; b comes first in the file. Then d splits both classes, c one.
	// Then nothing is left to separate, and c divides the candidates. All candidates agree on
	// a and e; e is the least similar to the outputs seen.
	if got := order(t, trials, g, good); got != "bdcea" {
		t.Errorf("the order is %s", got)
	}
	// Undecided cells separate nothing.
	if got := order(t, trials, grid(t, "id,label,p,q\na,,1,\nb,,,0\nc,,1,0\n"), good); !strings.HasPrefix(got, "c") {
		t.Errorf("the order is %s", got)
	}
	// A tie goes to the output that more candidates fail, while bad labels are rare.
	g = grid(t, "id,label,p,q,r,s\na,,0,1,1,1\nb,,1,0,0,0\nc,,1,1,0,0\n")
	if got := order(t, trials[:3], g, good); got != "cba" {
		t.Errorf("the order is %s", got)
	}
	if got := order(t, trials[:3], g, func(string) string { return "0" }); got != "cab" {
		t.Errorf("the order is %s", got)
	}
}

// TestOrderBySpread: without a matrix, similar outputs come late.
func TestOrderBySpread(t *testing.T) {
	t.Parallel()
	cats := "the cat sat on the mat and looked at the dog"
	trials := outputs(cats, cats+" again", cats, "Quarterly revenue grew by nine per cent in a weak market.", "no", strings.Repeat("a long list of things that differ ", 40))
	got := order(t, trials, nil, func(string) string { return "" })
	if first := got[:4]; strings.Count(first, "a")+strings.Count(first, "b")+strings.Count(first, "c") != 1 || got[5] != 'a' && got[5] != 'c' {
		t.Errorf("the order is %s", got)
	}
	if again := order(t, trials, nil, func(string) string { return "" }); again != got {
		t.Errorf("the order is %s, and the next time %s", got, again)
	}
}

func TestLabellingGoesOn(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "l.jsonl")
	trials := outputs("one", "two and more", "three", "four is long, too")
	start := func(review string) *label.Session {
		t.Helper()
		l, err := label.Start(trials, openLog(t, file, trials), label.Options{Review: review})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	current := func(l *label.Session) string {
		asked, ok := l.Current()
		if !ok {
			return ""
		}
		return asked.Trial.ID
	}
	l := start("")
	first := current(l)
	if err := errors.Join(l.Note("hm"), l.Answer("1")); err != nil {
		t.Fatal(err)
	}
	second := current(l)
	l.Skip()
	if l.Left() != 2 || l.Skipped() != 1 {
		t.Errorf("%d left, %d skipped", l.Left(), l.Skipped())
	}
	for _, want := range []string{second, first, first} {
		if ok, err := l.Undo(); !ok || err != nil || current(l) != want {
			t.Errorf("undo gives %v, %v and asks about %q, want %q", ok, err, current(l), want)
		}
	}
	if ok, _ := l.Undo(); ok {
		t.Error("more was undone than done")
	}
	if err := l.Note("hm"); err != nil {
		t.Fatal(err)
	}
	for _, label := range []string{"1", "0"} {
		if asked, _ := l.Current(); (asked.Note != "") != (label == "1") {
			t.Errorf("the note is %q", asked.Note)
		}
		if err := l.Answer(label); err != nil {
			t.Fatal(err)
		}
	}
	l = start("")
	if l.Left() != 2 || current(l) == first || current(l) == second {
		t.Errorf("the next session has %d left and asks about %q", l.Left(), current(l))
	}
	r := start("bad")
	if r.Left() != 1 || current(r) != second {
		t.Errorf("the review has %d and asks about %q, want %q", r.Left(), current(r), second)
	}
	if err := errors.Join(r.Answer("1")); err != nil || current(r) != "" {
		t.Errorf("after the last: %q, %v", current(r), err)
	}
	if ok, err := r.Undo(); !ok || err != nil || current(r) != second {
		t.Errorf("undo at the end: %v, %v, %q", ok, err, current(r))
	}
	if _, err := label.Start(trials, openLog(t, file, trials), label.Options{Review: "ugly"}); err == nil {
		t.Error("a review by ugly begins")
	}
}

// TestReviewOrder: labels that most candidates contradict come first.
func TestReviewOrder(t *testing.T) {
	t.Parallel()
	trials := outputs("1", "2", "3", "4")
	for i, label := range []string{"1", "0", "1", "0"} {
		trials[i].Label = label
	}
	g := grid(t, "id,label,p,q,r\na,1,1,1,1\nb,0,1,0,0\nc,1,0,0,1\nd,0,1,1,1\n")
	l, err := label.Start(trials, openLog(t, filepath.Join(t.TempDir(), "l.jsonl"), trials), label.Options{Grid: g, Review: "all"})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for {
		asked, ok := l.Current()
		if !ok {
			break
		}
		got += asked.Trial.ID
		l.Skip()
	}
	if got != "dcba" {
		t.Errorf("the order is %s", got)
	}
}

func TestLabelsWanted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		alpha, tau float64
		bad, good  int
	}{{0.6, 0.25, 6, 12}, {0.9, 0.05, 35, 73}, {0, 1, 1, 1}, {1, 0, 0, 0}} {
		if bad, good := label.Wanted(c.alpha, c.tau, 0.95); bad != c.bad || good != c.good {
			t.Errorf("alpha %v and tau %v: %d bad and %d good, want %d and %d", c.alpha, c.tau, bad, good, c.bad, c.good)
		}
	}
	for text, want := range map[string]trial.Labels{"no output is labelled": {Left: 3}, "no bad": {Good: 3}, "no good": {Bad: 1}, "": {Good: 1, Bad: 1}} {
		if got := want.OneSided(); !strings.HasPrefix(got, text) || text == "" && got != "" {
			t.Errorf("%+v: %s", want, got)
		}
	}
}

// TestReadLabelsContradict: contradicting labels of one output in a CSV file are an
// error.
func TestReadLabelsContradict(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ file, text, want string }{
		{"l.csv", "id,label\na,good\nb,1\na,bad\n", `the id "a" has another label in line 2`},
		{"l.csv", "id,label\na,good\na,1\na,\n", ""},
		{"l.csv", "id,label,output_id\na,good,x\na,bad,y\n", ""},                    // different outputs
		{"l.jsonl", "{\"id\":\"a\",\"label\":1}\n{\"id\":\"a\",\"label\":0}\n", ""}, // the last one counts
	} {
		_, mistakes := label.Read(x.file, []byte(x.text), []trial.Entry{{ID: "a", OutputID: "x"}, {ID: "b"}})
		got := ""
		if err := mistakes.Err(); err != nil {
			got = err.Error()
		}
		if (x.want == "") != (got == "") || !strings.Contains(got, x.want) {
			t.Errorf("%q: %s, want %s", x.text, got, x.want)
		}
	}
}

// TestLabelsOfPeople: labels of whole outputs that the server wrote count by majority, and the
// session's own labels have priority.
func TestLabelsOfPeople(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "labels.jsonl")
	trials := outputs("one", "two", "three", "four")
	trials[1].ID = "a@2"
	entries := entriesOf(t, trials)
	said := func(n int, by string, entry int, caseID, assertion string, v people.Verdict) string {
		return string(people.AppendLine(nil, &people.Label{ID: fmt.Sprint("label_", n), By: by, Verdict: v, Case: caseID, OutputID: entries[entry].OutputID,
			Subject: people.Subject{Run: "run", Index: entry, Assertion: assertion}}))
	}
	text := said(1, "ana", 0, "a", "", people.Pass) + said(2, "ben", 0, "a", "", people.Fail) + said(3, "cleo", 0, "a", "", people.Fail) + // 0
		said(4, "ana", 1, "a", "", people.Pass) + // another column of the case
		said(5, "ana", 2, "c", "cites", people.Fail) + // of an assertion
		said(6, "ana", 3, "d", "", people.Pass) + said(7, "ana", 3, "d", "", people.Fail) + string(people.AppendRemoval(nil, "label_7")) + said(8, "ben", 3, "d", "", people.Unsure) +
		said(9, "ana", 0, "z", "", people.Pass) + // of another case
		`{"case":"a","assertion":"cites","human":"pass"}` + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := labelsOf(t, file, trials); got != "01-1" {
		t.Errorf("the labels are %s", got)
	}
	log := openLog(t, file, trials)
	if log.Stale != 1 {
		t.Errorf("%d are of other outputs", log.Stale)
	}
	if err := log.Set(0, "1", ""); err != nil {
		t.Fatal(err)
	}
	if got := labelsOf(t, file, trials); got != "11-1" {
		t.Errorf("after a label of the session: %s", got)
	}
}

// TestSlips: a typo in a file of labels is reported with its place and the nearest name, and
// no entry is changed.
func TestSlips(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ file, text, want, nearest string }{
		{"l.jsonl", "{\"id\":\"a\",\"label\":\"good\"}\n{\"id\":\"b\", \"lable\":\"good\"}\n", `l.jsonl:2:12: no member of a label is called "lable"`, "label"},
		{"l.jsonl", "{\"id\":\"b\", \"label\": \"goood\"}\n", `l.jsonl:1:21: the label is "goood"; 1 or good, 0 or bad is expected`, "good"},
		{"l.jsonl", "{\"id\":\"b\"}\n", "l.jsonl:1:1: the label is missing", ""},
		{"l.jsonl", "{\"id\":\"b\",\"label\":null,\"outptu_id\":\"x\"}\n", `l.jsonl:1:24: no member of a label is called "outptu_id"`, "output_id"},
		{"l.csv", "id,note,label\na,\"x, y\",good\nb,\"said \"\"no\"\"\",baad\n", `l.csv:3:17: the label is "baad"; 1 or good, 0 or bad is expected`, "bad"},
		{"l.csv", "id,lable\na,good\n", `l.csv:1:4: no column is called "lable"`, "label"},
		{"l.csv", "id,label\nab,good\n", `l.csv:2:1: no output has the id "ab"`, "a"},
	} {
		entries := []trial.Entry{{ID: "a", OutputID: "x"}, {ID: "b"}}
		_, mistakes := label.Read(x.file, []byte(x.text), entries)
		if len(mistakes) != 1 {
			t.Errorf("%q: %d mistakes: %v", x.text, len(mistakes), mistakes)
			continue
		}
		if got := mistakes[0].Place.String() + ": " + mistakes[0].Message; !strings.HasPrefix(got, x.want) || mistakes[0].Nearest != x.nearest {
			t.Errorf("%q: %s (nearest %q), want %s (%q)", x.text, got, mistakes[0].Nearest, x.want, x.nearest)
		}
		for _, e := range entries {
			if e.Label != "" {
				t.Errorf("%q: %s is labelled %s", x.text, e.ID, e.Label)
			}
		}
	}
}

// TestSplit: outputs on which people disagree are listed and have no label.
func TestSplit(t *testing.T) {
	t.Parallel()
	entries := entriesOf(t, outputs("one", "two"))
	text := ""
	for i, v := range []people.Verdict{people.Pass, people.Fail} {
		text += string(people.AppendLine(nil, &people.Label{ID: fmt.Sprint("label_", i), By: fmt.Sprint("p", i), Verdict: v, Case: "a", OutputID: entries[0].OutputID, Subject: people.Subject{Run: "run"}}))
	}
	read, mistakes := label.Read("l.jsonl", []byte(text), entries)
	if err := mistakes.Err(); err != nil || !slices.Equal(read.Split, []string{"a"}) || entries[0].Label != "" {
		t.Errorf("%+v, %v, %+v", read, err, entries)
	}
}

func FuzzReadLabels(f *testing.F) {
	f.Add("l.csv", "id,label\na,good\n")
	f.Add("l.jsonl", "{\"id\":\"a\",\"label\":1,\"undone\":true}\n{\"id\":\"b\",\"label\":null,\"output_id\":\"x\"}")
	f.Fuzz(func(t *testing.T, file, text string) {
		entries := []trial.Entry{{ID: "a"}, {ID: "b", OutputID: "x"}}
		_, mistakes := label.Read(file, []byte(text), entries)
		for _, e := range entries {
			if e.Label != "" && e.Label != "0" && e.Label != "1" || mistakes.Err() != nil && e.Label != "" {
				t.Errorf("%+v, %v", e, mistakes)
			}
		}
	})
}

func BenchmarkNextToLabel(b *testing.B) {
	var trials []trial.Trial
	g := &matrix.Grid{}
	for j := range 300 {
		g.Names = append(g.Names, fmt.Sprint(j))
	}
	for i := range 2000 {
		trials = append(trials, trial.Trial{ID: fmt.Sprint(i), Output: strings.Repeat(fmt.Sprint(i, " word "), 100)})
		g.Entries = append(g.Entries, trial.Entry{ID: fmt.Sprint(i)})
		row := make([]matrix.Cell, 300)
		for j := range row {
			row[j] = matrix.Cell((i*j + i + j) % 3 % 2)
		}
		g.Cells = append(g.Cells, row)
	}
	entries, err := trial.Entries(trial.List(trials))
	if err != nil {
		b.Fatal(err)
	}
	log, _, err := label.OpenLog(filepath.Join(b.TempDir(), "l.jsonl"), entries, "")
	if err != nil {
		b.Fatal(err)
	}
	l, err := label.Start(trials, log, label.Options{Grid: g})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, ok := l.Current(); !ok {
			b.StopTimer()
			l, _ = label.Start(trials, log, label.Options{Grid: g})
			b.StartTimer()
		}
		l.Skip()
	}
}

// TestNotes: the note of a label reaches its output, from both kinds of file.
func TestNotes(t *testing.T) {
	t.Parallel()
	for file, text := range map[string]string{
		"l.csv":   "id,label,note\na,bad,too long\nb,good,\n",
		"l.jsonl": `{"id":"a","label":0,"note":"too long"}` + "\n" + `{"id":"b","label":1}`,
	} {
		entries := []trial.Entry{{ID: "a", Note: "before"}, {ID: "b", Note: "kept"}}
		_, mistakes := label.Read(file, []byte(text), entries)
		if mistakes.Err() != nil || entries[0].Note != "too long" || entries[1].Note != "kept" || entries[0].Label != "0" {
			t.Errorf("%s: %v %+v", file, mistakes.Err(), entries)
		}
	}
}
