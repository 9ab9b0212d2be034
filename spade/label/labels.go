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

// Read reads labels (id, label and an optional note) from CSV or, if the name ends in .jsonl,
// JSON Lines. It sets them in entries and replaces the labels there. If an id has several
// labels, the last one counts. Labels that the server or `proviso view` wrote count by
// majority, unless the file has another label for the output. An empty label in CSV is
// ignored; in JSON Lines, a null label removes earlier ones in the file. A label with the
// output_id of another output is ignored and counted. If there is a mistake, the entries stay
// unchanged.
func Read(file string, data []byte, entries []trial.Entry) (Reading, proviso.Mistakes) {
	r := newReader(file, entries)
	if strings.EqualFold(filepath.Ext(file), ".jsonl") {
		r.jsonLines(data)
	} else {
		r.csv(data)
	}
	if r.Mistakes.Err() != nil {
		return Reading{}, r.Mistakes
	}
	agreed, split := r.agreed()
	for i, said := range agreed {
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
	reading := Reading{Stale: r.stale}
	for _, i := range split {
		if entries[i].Label == "" {
			reading.Split = append(reading.Split, entries[i].ID)
		}
	}
	return reading, r.Mistakes
}

// Reading is what [Read] found besides the labels.
type Reading struct {
	Stale int      // labels of other outputs
	Split []string // ids of outputs on which people disagree, in entry order; they have no label
}

// line is one line of a file of labels.
type line struct {
	ID, Label string // label is 1, 0, or "" if it is removed
	Note      string
	OutputID  string
	Undone    bool // the line undoes the last label in force
}

// reader reads labels and finds their trials.
type reader struct {
	format.Table
	entries []trial.Entry
	at      map[string]int // position in entries, by id
	ids     []string
	stale   int
	said    map[int]line // the label in force at the end, by entry
	log     label.Log    // labels that the server or view wrote
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

// wrong adds a mistake at a key of the current label: id or label.
type wrong func(key, nearest, format string, args ...any)

// take finds the entry of a label by id, and passes both to r.each.
func (r *reader) take(l line, text string, wrong wrong) {
	i, ok := r.at[l.ID]
	switch {
	case !ok && l.OutputID != "", ok && l.OutputID != "" && l.OutputID != r.entries[i].OutputID:
		r.stale++
		return
	case !ok:
		wrong("id", document.Nearest(l.ID, r.ids), "no output has the id %q", l.ID)
		return
	}
	if strings.TrimSpace(text) != "" {
		var err error
		if l.Label, err = trial.ParseLabel(text); err != nil {
			wrong("label", trial.NearestLabel(text), "%v", err)
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
			continue // from `proviso align`: for an assertion, not for an output
		}
		if !ok {
			r.Mistake(at.Number, "", "an object with id and label is expected")
			continue
		}
		r.object(at, o)
	}
}

// lineKeys are the members that define the meaning of a label line.
var lineKeys = []string{"id", "output_id", "undone", "label", "human", "verdict"}

// object reads one line that `spade label` or a person wrote.
func (r *reader) object(at document.Line, o *value.Object) {
	valid := lineKeys
	if slices.ContainsFunc(trial.LabelKeys, o.Has) {
		valid = lineKeys[:3]
	}
	if slip, meant := format.Slip(o, valid); slip != "" {
		r.MistakeAt(at, "/"+slip, true, meant, "no member of a label is called %q", slip)
		return
	}
	if o.At("id") == nil {
		r.Mistake(at.Number, "", "an object with id and label is expected")
		return
	}
	l := line{ID: value.ToString(o.At("id"))}
	l.Note = o.Text("note")
	l.OutputID = o.Text("output_id")
	l.Undone, _ = o.At("undone").(bool)
	text, has := "", ""
	for _, key := range trial.LabelKeys {
		if v, ok := o.Get(key); ok && text == "" {
			has = key
			if v != nil {
				text = value.ToString(v)
			}
		}
	}
	if has == "" && !l.Undone {
		r.MistakeAt(at, "", false, "", "the label is missing: expected good, bad, or null to remove one")
		return
	}
	r.take(l, text, func(key, nearest, format string, args ...any) {
		if key == "label" {
			key = has
		}
		r.MistakeAt(at, "/"+key, false, nearest, format, args...)
	})
}

// people reads a label that the server or `proviso view` wrote. Only labels of whole outputs
// count.
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

// agreed returns the majority label of each output, by entry. An output is identified by its
// case id and its content. Outputs on which people disagree have no label.
func (r *reader) agreed() (said map[int]line, split []int) {
	list := r.log.InForce()
	if len(list) == 0 {
		return nil, nil
	}
	same := map[string][]int{} // entries by output
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
	said = map[int]line{}
	for i, list := range of {
		v, ok, tie := label.Majority(list)
		if tie {
			split = append(split, i)
		}
		if ok {
			l := line{ID: r.entries[i].ID, Label: "0", Note: list[len(list)-1].Note, OutputID: r.entries[i].OutputID}
			if v == label.Pass {
				l.Label = "1"
			}
			said[i] = l
		}
	}
	slices.Sort(split)
	return said, split
}

func (r *reader) csv(data []byte) {
	id, label, output, note := -1, -1, -1, -1
	type row struct {
		line  int
		label string
	}
	seen := map[string]row{}
	lines := bytes.Split(data, []byte("\n"))
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
			r.slipOfHeader(header, id < 0, lines)
			return false
		}
		return true
	}, func(rec document.Record) {
		wrong := func(key, nearest, text string, args ...any) {
			field := id
			if key == "label" {
				field = label
			}
			r.MistakeInField(rec, field, lines, nearest, text, args...)
		}
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
			if before, ok := seen[key]; ok && before.label != now.label && now.label != "" {
				wrong("label", "", "the id %q has another label in line %d", l.ID, before.line)
				return
			}
			seen[key] = now
			r.take(l, text, wrong)
		} else if _, known := r.at[l.ID]; !known && l.OutputID == "" {
			r.take(l, "", wrong) // the id is wrong
		}
	})
}

// slipOfHeader adds the mistake of a header without id or without label.
func (r *reader) slipOfHeader(header []string, noID bool, lines [][]byte) {
	valid := trial.LabelKeys[:1]
	if noID {
		valid = []string{"id"}
	}
	for i, name := range header {
		if near := document.Nearest(name, valid); near != "" && !strings.EqualFold(name, "id") {
			r.MistakeInField(document.Record{Line: 1, Fields: header}, i, lines, near, "no column is called %q", name)
			return
		}
	}
	r.Mistake(1, "", "the header must have the columns id and label")
}

// maxWanted bounds the search for a sufficient number of labels.
const maxWanted = 100_000

// Wanted returns how many bad and good labels suffice to show that a selection without
// mistakes is within alpha and tau: the smallest numbers for which the confidence interval
// (Wilson) of full coverage is at or above alpha, and that of no false failures is at or below
// tau. A number is 0 if no number suffices, as for an alpha of 1.
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
