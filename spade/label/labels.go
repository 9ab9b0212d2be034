package label

import (
	"bytes"
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/stats"
	"github.com/proviso-eval/proviso/value"
)

// Read reads labels, id and label and perhaps a note, from CSV or, if the name ends in .jsonl, JSON
// Lines, and puts them into entries, replacing what they have. If an id has several
// labels, the last one counts. Labels of people that the server or `proviso view` wrote count
// by majority, where no other label stands in the file. An empty label in CSV is ignored; in JSON Lines, a label
// of null removes earlier ones in the file. A label with the output_id of another
// output is ignored and counted in stale.
func Read(file string, data []byte, entries []trial.Entry) (stale int, mistakes proviso.Mistakes) {
	r := newReader(file, entries)
	if strings.EqualFold(filepath.Ext(file), ".jsonl") {
		r.jsonLines(data)
	} else {
		r.csv(data)
	}
	if r.Mistakes.Err() != nil {
		return 0, r.Mistakes
	}
	for i, said := range r.agreed() {
		if r.said[i].Label == "" {
			r.said[i] = said
		}
	}
	for i, said := range r.said {
		if said.Label != "" {
			entries[i].Label = said.Label
			entries[i].Note = cmp.Or(said.Note, entries[i].Note)
		}
	}
	return r.stale, r.Mistakes
}

// line is one line of a file of labels.
type line struct {
	ID, Label string // the label is 1, 0, or "" if it is removed
	Note      string
	OutputID  string
	Undone    bool // the line undoes the last label that is in force
}

// reader reads labels and finds their trials.
type reader struct {
	format.Table
	entries []trial.Entry
	at      map[string]int // of ids, in entries
	ids     []string
	stale   int
	said    map[int]line // the label in force at the end, by entry
	log     label.Log    // of labels that the server or view wrote
	each    func(entry int, l line)
}

func newReader(file string, entries []trial.Entry) *reader {
	r := &reader{Table: format.Table{File: file}, entries: entries, at: make(map[string]int, len(entries)), said: map[int]line{}}
	for i, e := range entries {
		r.at[e.ID] = i
		r.ids = append(r.ids, e.ID)
	}
	r.each = func(entry int, l line) { r.said[entry] = l }
	return r
}

// take finds the trial of a label.
func (r *reader) take(line int, l line, text string) {
	i, ok := r.at[l.ID]
	switch {
	case !ok && l.OutputID != "", ok && l.OutputID != "" && l.OutputID != r.entries[i].OutputID:
		r.stale++
		return
	case !ok:
		r.Mistake(line, document.Nearest(l.ID, r.ids), "no output has the id %q", l.ID)
		return
	}
	if strings.TrimSpace(text) != "" {
		var err error
		if l.Label, err = trial.ParseLabel(text); err != nil {
			r.Mistake(line, "", "%v", err)
			return
		}
	}
	r.each(i, l)
}

func (r *reader) jsonLines(data []byte) {
	for at, err := range document.Lines(bytes.NewReader(data)) {
		if err != nil {
			r.Broken(err)
			continue
		}
		o, ok := at.Value.(*value.Object)
		if ok && label.IsLine(o) {
			r.people(at.Number, o)
			continue
		}
		if ok && o.At("id") == nil && o.Has("assertion") {
			continue // of `proviso align`: of an assertion, not of an output
		}
		if !ok || o.At("id") == nil {
			r.Mistake(at.Number, "", "an object with id and label is expected")
			continue
		}
		l := line{ID: value.ToString(o.At("id"))}
		l.Note = o.Text("note")
		l.OutputID = o.Text("output_id")
		l.Undone, _ = o.At("undone").(bool)
		text := ""
		for _, key := range trial.LabelKeys {
			if v := o.At(key); v != nil && text == "" {
				text = value.ToString(v)
			}
		}
		r.take(at.Number, l, text)
	}
}

// people takes a label that the server or `proviso view` wrote. Those of whole outputs are
// of use here.
func (r *reader) people(number int, o *value.Object) {
	l, removed, err := label.ReadLine(o)
	switch {
	case err != nil:
		r.Mistake(number, "", "%v", err)
	case removed:
		r.log.Remove(l.ID)
	case l.Assertion == "":
		r.log.Add(&l)
	}
}

// agreed returns what most people say of each output, by entry: an output is known by the id
// of its case and its content. Outputs on which people are split have no label.
func (r *reader) agreed() map[int]line {
	list := r.log.InForce()
	if len(list) == 0 {
		return nil
	}
	same := map[string][]int{} // entries, by output
	for i, e := range r.entries {
		same[e.OutputID] = append(same[e.OutputID], i)
	}
	of := map[int][]*label.Label{}
	for _, l := range list {
		found := false
		for _, i := range same[l.OutputID] {
			if id := r.entries[i].ID; id == l.Case || strings.HasPrefix(id, l.Case) && strings.ContainsRune("@.~", rune(id[len(l.Case)])) {
				of[i] = append(of[i], l)
				found = true
			}
		}
		if !found {
			r.stale++
		}
	}
	said := map[int]line{}
	for i, list := range of {
		if v, ok, _ := label.Majority(list); ok {
			l := line{ID: r.entries[i].ID, Label: "0", Note: list[len(list)-1].Note, OutputID: r.entries[i].OutputID}
			if v == label.Pass {
				l.Label = "1"
			}
			said[i] = l
		}
	}
	return said
}

func (r *reader) csv(data []byte) {
	id, label, output, note := -1, -1, -1, -1
	type row struct {
		line  int
		label string
	}
	seen := map[string]row{}
	r.Rows(bytes.NewReader(data), func(header []string) bool {
		for i, name := range header {
			switch {
			case strings.EqualFold(name, "id"):
				id = i
			case strings.EqualFold(name, "output_id"):
				output = i
			case strings.EqualFold(name, "note"):
				note = i
			case slices.Contains(trial.LabelKeys, strings.ToLower(name)):
				label = i
			}
		}
		if id < 0 || label < 0 {
			r.Mistake(1, "", "the header must have the columns id and label")
			return false
		}
		return true
	}, func(rec document.Record) {
		l := line{ID: rec.Fields[id]}
		if output >= 0 {
			l.OutputID = rec.Fields[output]
		}
		if note >= 0 {
			l.Note = rec.Fields[note]
		}
		if text := rec.Fields[label]; strings.TrimSpace(text) != "" {
			key, now := l.ID+"\x00"+l.OutputID, row{line: rec.Line}
			now.label, _ = trial.ParseLabel(text)
			if before, ok := seen[key]; ok && before.label != now.label {
				r.Mistake(rec.Line, "", "the id %q has another label in line %d", l.ID, before.line)
				return
			}
			seen[key] = now
			r.take(rec.Line, l, text)
		} else if _, known := r.at[l.ID]; !known && l.OutputID == "" {
			r.take(rec.Line, l, "") // the id is wrong
		}
	})
}

// maxWanted bounds the search for the number of labels that is enough.
const maxWanted = 100_000

// Wanted returns how many bad and good labels are enough to show that a selection
// without mistakes is within alpha and tau: the least numbers for which the confidence
// interval (Wilson) of full coverage is at or above alpha, and that of no false
// failures is at or below tau. A number is 0 if no number is enough, as for an alpha of
// 1.
func Wanted(alpha, tau, confidence float64) (bad, good int) {
	least := func(enough func(n int) bool) int {
		low, high := 1, maxWanted
		if !enough(high) {
			return 0
		}
		for low < high {
			if mid := (low + high) / 2; enough(mid) {
				high = mid
			} else {
				low = mid + 1
			}
		}
		return low
	}
	bad = least(func(n int) bool { return stats.Wilson(n, n, confidence).Low >= alpha })
	good = least(func(n int) bool { return stats.Wilson(0, n, confidence).High <= tau })
	return bad, good
}
