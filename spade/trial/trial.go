// Package trial reads the outputs that candidates are tried on, and their labels. Start
// at [Trial] and [File].
package trial

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/value"
)

// Trial is an output that candidates are tried on.
type Trial struct {
	ID        string
	Label     string // 1, 0, or "" without a label
	Output    any    // a text, or a structure
	Prompt    string
	HasPrompt bool
	Vars      *value.Object
	Note      string // of the person who labelled it; "" for none
	// Said summarises the verdicts of the run that the output comes from; "" if it
	// comes from no run.
	Said string
	// Index is the row of the run; 0 if the output comes from no run.
	Index int
}

// Text returns the output as assertions see it.
func (t *Trial) Text() string { return (&proviso.Output{Value: t.Output}).Text() }

// Entry is what is kept of a trial without its output.
type Entry struct {
	ID       string
	Label    string // 1, 0, or "" without a label
	OutputID string // of the output ([record.OutputID])
	Note     string // of the person who labelled it; "" for none
}

// Entry returns the trial without its output.
func (t *Trial) Entry() Entry { return Entry{t.ID, t.Label, record.OutputID(t.Text()), t.Note} }

// Entries reads all trials once and keeps everything except the outputs.
func Entries(trials iter.Seq2[Trial, error]) ([]Entry, error) {
	var list []Entry
	for t, err := range trials {
		if err != nil {
			return nil, err
		}
		list = append(list, t.Entry())
	}
	return list, nil
}

// Labelled yields trials with the labels of the entries that [Entries] made of them. It
// is an error if the trials have changed.
func Labelled(trials iter.Seq2[Trial, error], entries []Entry) iter.Seq2[Trial, error] {
	return func(yield func(Trial, error) bool) {
		changed := func() error {
			return proviso.Errorf(proviso.Conflict, "the outputs were changed while they were read")
		}
		n := 0
		for t, err := range trials {
			if err == nil && (n >= len(entries) || entries[n].ID != t.ID) {
				err = changed()
			}
			if err == nil {
				t.Label, t.Note = entries[n].Label, entries[n].Note
			}
			n++
			if !yield(t, err) || err != nil {
				return
			}
		}
		if n < len(entries) {
			yield(Trial{}, changed())
		}
	}
}

// The names of the fields of a trial.
var (
	outputKeys = []string{"output", "response", "answer", "completion"}
	LabelKeys  = []string{"label", "human", "verdict"}
	ownKeys    = []string{"id", "label", "human", "verdict", "output", "response", "answer", "completion", "prompt", "model", "provider", "note"}
)

// Read reads outputs from JSON Lines, if the name ends in .jsonl, or CSV: an
// output (output, response, answer or completion), and optionally an id, a label (1,
// good, pass or true; 0, bad, fail or false), the prompt, and vars; in CSV every other
// column is a variable. It reports all mistakes with their lines; if there are any, it
// returns no trials.
func Read(file string, data []byte) ([]Trial, proviso.Mistakes) {
	var list []Trial
	mistakes := scanTrials(file, bytes.NewReader(data), func(t Trial) bool {
		list = append(list, t)
		return true
	})
	if mistakes.Err() != nil {
		return nil, mistakes
	}
	return list, mistakes
}

// File yields the outputs of a file as [Read] reads them, one in memory at
// a time. It opens the file again for every iteration. Mistakes come last, all at once,
// as a [proviso.Mistakes].
func File(file string, open func() (io.ReadCloser, error)) iter.Seq2[Trial, error] {
	return func(yield func(Trial, error) bool) {
		in, err := open()
		if err != nil {
			yield(Trial{}, err)
			return
		}
		defer in.Close()
		more := true
		mistakes := scanTrials(file, in, func(t Trial) bool {
			more = yield(t, nil)
			return more
		})
		if err := mistakes.Err(); err != nil && more {
			yield(Trial{}, err)
		}
	}
}

// scanTrials calls each for every output, until it returns false, and returns the
// mistakes in the file.
func scanTrials(file string, in io.Reader, each func(Trial) bool) proviso.Mistakes {
	r := &trialReader{Table: format.Table{File: file}, each: each, lines: map[string]int{}}
	if strings.EqualFold(filepath.Ext(file), ".jsonl") {
		r.jsonLines(in)
	} else {
		r.csv(in)
	}
	if r.Mistakes.Err() == nil && r.n == 0 && !r.ended {
		r.Mistake(0, "", "there is no output in it")
	}
	return r.Mistakes
}

// trialReader reads trials from a file.
type trialReader struct {
	format.Table
	each  func(Trial) bool
	n     int            // trials so far
	ended bool           // the caller wants no more
	lines map[string]int // of ids
}

func (r *trialReader) jsonLines(in io.Reader) {
	for line, err := range document.Lines(in) {
		if err != nil {
			r.Broken(err)
			continue
		}
		o, ok := line.Value.(*value.Object)
		if !ok {
			r.Mistake(line.Number, "", "an object is expected")
			continue
		}
		vars, ok := o.At("vars").(*value.Object)
		if v := o.At("vars"); !ok && v != nil {
			r.Mistake(line.Number, "", "vars must be an object, found %s", value.Stringify(v))
		}
		if r.add(line.Number, o, vars); r.ended {
			return
		}
	}
}

func (r *trialReader) csv(in io.Reader) {
	var names []string
	r.RowsUntil(in, func(header []string) bool {
		names = slices.Clone(header)
		if !slices.ContainsFunc(names, func(n string) bool { return slices.Contains(outputKeys, strings.ToLower(n)) }) {
			r.Mistake(1, document.Nearest("output", names), "no column holds the outputs; one named %s is expected", strings.Join(outputKeys, ", "))
			return false
		}
		return true
	}, func(rec document.Record) bool {
		o, vars := value.NewObject(len(names)), value.NewObject(len(names))
		for i, name := range names {
			if low := strings.ToLower(name); slices.Contains(ownKeys, low) {
				o.Set(low, rec.Fields[i])
			} else {
				vars.Set(name, rec.Fields[i])
			}
		}
		r.add(rec.Line, o, vars)
		return !r.ended
	})
}

// add reads one trial.
func (r *trialReader) add(line int, o, vars *value.Object) {
	r.n++
	t := Trial{ID: fmt.Sprint(r.n), Vars: vars}
	if t.Vars == nil {
		t.Vars = value.NewObject(0)
	}
	if id := o.At("id"); id != nil && id != "" {
		t.ID = strings.Clone(value.ToString(id)) // the line is not kept
	}
	wrong := false
	if first, ok := r.lines[t.ID]; ok {
		r.Mistake(line, "", "the id %q stands in line %d already", t.ID, first)
		wrong = true
	}
	r.lines[t.ID] = line
	found := false
	for _, key := range outputKeys {
		if v, ok := o.Get(key); ok && !found {
			t.Output, found = v, true
		}
	}
	if !found {
		r.Mistake(line, "", "no output is here; %s is expected", strings.Join(outputKeys, ", "))
		wrong = true
	}
	t.Prompt, t.HasPrompt = o.At("prompt").(string)
	t.Note = strings.Clone(o.Text("note"))
	for _, key := range LabelKeys {
		if v := o.At(key); v != nil && v != "" && t.Label == "" {
			var err error
			if t.Label, err = ParseLabel(value.ToString(v)); err != nil {
				r.Mistake(line, "", "%v", err)
				wrong = true
			}
		}
	}
	if !wrong {
		r.ended = !r.each(t)
	}
}

// List yields the trials of a list.
func List(list []Trial) iter.Seq2[Trial, error] {
	return func(yield func(Trial, error) bool) {
		for _, t := range list {
			if !yield(t, nil) {
				return
			}
		}
	}
}
