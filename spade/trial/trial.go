// Package trial reads the outputs that candidates are tried on, and their labels. Start
// at [Trial] and [File].
package trial

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/spade/internal/exported"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/value"
)

// Trial is an output that candidates are tried on.
type Trial struct {
	ID        string
	Label     string // 1, 0, or "" without a label
	Thumb     bool   // the label is a user's thumb, which is weaker than a label by a reviewer
	Version   string // version of the agent or the prompt that answered; "" if unknown
	Output    any    // text or structured value
	Prompt    string
	HasPrompt bool
	Vars      *value.Object
	Note      string // note of the person who labelled it; "" for none
	// Said summarises the verdicts of the run that produced the output; "" if no run did.
	Said string
	// Index is the row of the run; 0 if no run produced the output.
	Index int
	// CaseID is the id of its case, and PromptLabel the label of its prompt; if no run
	// produced the output, they are its ID and "".
	CaseID, PromptLabel string
	// Case is the suite case that the output answers; nil if unknown.
	Case *proviso.Case
}

// Text returns the output as assertions see it.
func (t *Trial) Text() string { return (&proviso.Output{Value: t.Output}).Text() }

// Entry is a trial without its output.
type Entry struct {
	ID       string
	Label    string // 1, 0, or "" without a label
	OutputID string // identifies the output ([record.OutputID])
	Note     string // note of the person who labelled it; "" for none
	InputID  string // identifies the prompt and the variables in the same way
}

// Entry returns the trial without its output.
func (t *Trial) Entry() Entry {
	return Entry{t.ID, t.Label, record.OutputID(t.Text()), t.Note, record.OutputID(t.Prompt + "\x00" + value.Stringify(t.Vars))}
}

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

// Labelled yields trials with the labels of the entries that [Entries] made from them. It
// yields an error if the trials have changed.
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

// The field names of a trial.
var (
	outputKeys = []string{"output", "response", "answer", "completion"}
	LabelKeys  = []string{"label", "human", "verdict"}
	ownKeys    = []string{"id", "label", "human", "verdict", "output", "response", "answer", "completion", "prompt", "model", "provider", "note", "thumb"}
)

// Read reads outputs from JSON, JSON Lines or CSV: an output (output, response, answer or
// completion), and optionally an id, a label (1, good, pass or true; 0, bad, fail or false) or
// a user's thumb (up or down), the prompt, and vars; in CSV every other column is a variable.
// It recognises files of other tools ([exported.Kinds]) by their content. It reports all
// mistakes with their lines; if there are any, it returns no trials.
func Read(file string, data []byte) ([]Trial, proviso.Mistakes) {
	var list []Trial
	mistakes := scanTrials(file, bytes.NewReader(data), nil, func(t Trial) bool {
		list = append(list, t)
		return true
	})
	if mistakes.Err() != nil {
		return nil, mistakes
	}
	return list, mistakes
}

// File yields the outputs of a file like [Read], with one in memory at a time. It opens the
// file again for every iteration. Mistakes come last, all at once, as a [proviso.Mistakes].
func File(file string, open func() (io.ReadCloser, error)) iter.Seq2[Trial, error] {
	return Noted(file, open, nil)
}

// Noted is [File], but also calls note for what is left out of another tool's file; note may
// be nil.
func Noted(file string, open func() (io.ReadCloser, error), note func(string)) iter.Seq2[Trial, error] {
	return func(yield func(Trial, error) bool) {
		in, err := open()
		if err != nil {
			yield(Trial{}, err)
			return
		}
		defer in.Close()
		more := true
		mistakes := scanTrials(file, in, note, func(t Trial) bool {
			more = yield(t, nil)
			return more
		})
		if err := mistakes.Err(); err != nil && more {
			yield(Trial{}, err)
		}
	}
}

// scanTrials calls each for every output until it returns false, and returns the mistakes in
// the file.
func scanTrials(file string, in io.Reader, note func(string), each func(Trial) bool) proviso.Mistakes {
	r := &trialReader{Table: format.Table{File: file}, each: each, note: note, lines: map[string]int{}}
	start := bufio.NewReaderSize(in, 64<<10)
	switch {
	case strings.EqualFold(filepath.Ext(file), ".jsonl"):
		r.jsonLines(start)
	case strings.EqualFold(filepath.Ext(file), ".json"), strings.EqualFold(filepath.Ext(file), ".ndjson"), !strings.EqualFold(filepath.Ext(file), ".csv") && beginsJSON(start):
		r.json(start)
	default:
		r.csv(start)
	}
	if r.Mistakes.Err() == nil && r.n == 0 && !r.ended {
		r.Mistake(0, "", "there is no output in it")
	}
	if r.thumb > 0 && note != nil {
		note(fmt.Sprintf("the labels of %s are thumbs of users, who do not say what they judge", plural.Of(r.thumb, "output")))
	}
	return r.Mistakes
}

// trialReader reads trials from a file.
type trialReader struct {
	format.Table
	each  func(Trial) bool
	note  func(string)   // may be nil
	n     int            // trials so far
	thumb int            // trials so far whose label is a thumb
	ended bool           // the caller stopped the iteration
	lines map[string]int // line by id
	// lineOf finds the line of an entry in a JSON document, which takes time; nil if entries
	// are identified by line.
	lineOf func(entry int) int
}

// at returns the line of an output.
func (r *trialReader) at(line int) int {
	if r.lineOf != nil {
		return r.lineOf(line)
	}
	return line
}

func (r *trialReader) jsonLines(in io.Reader) {
	first := true
	var foreign []exported.Entry // entries of another tool, which are read together
	for line, err := range document.Lines(in) {
		if err != nil {
			r.Broken(err)
			continue
		}
		if len(foreign) > 0 || first && exported.Of(line.Value) != nil {
			place := proviso.Place{File: r.File, Line: line.Number}
			foreign = append(foreign, exported.Entry{Value: line.Value, At: func() proviso.Place { return place },
				In: func(pointer string, key bool) proviso.Place { return format.PlaceIn(r.File, line, pointer, key) }})
			continue
		}
		first = false
		place := func(pointer string, key bool) proviso.Place { return format.PlaceIn(r.File, line, pointer, key) }
		if r.object(line.Number, line.Value, place); r.ended {
			return
		}
	}
	if len(foreign) > 0 {
		r.exported(foreign)
	}
}

// object reads an output in JSON that is identified by its line or entry; place finds its
// values and keys.
func (r *trialReader) object(line int, v any, place func(pointer string, key bool) proviso.Place) {
	o, ok := v.(*value.Object)
	if !ok {
		r.Mistake(r.at(line), "", "an object is expected")
		return
	}
	vars, ok := o.At("vars").(*value.Object)
	if v := o.At("vars"); !ok && v != nil {
		r.Mistake(r.at(line), "", "vars must be an object, found %s", value.Stringify(v))
	}
	if slip, meant := slipOf(o); slip != "" {
		r.MistakeHere(place("/"+slip, true), meant, "no member of an output is called %q", slip)
		return
	}
	r.add(line, o, vars, func(key, nearest, format string, args ...any) {
		r.MistakeHere(place("/"+key, false), nearest, format, args...)
	})
}

// slipOf returns a member of an output that is probably a typo: of the output key if there is
// none, or of the label key if it holds a label.
func slipOf(o *value.Object) (slip, meant string) {
	if !slices.ContainsFunc(outputKeys, o.Has) {
		return format.Slip(o, outputKeys)
	}
	if slices.ContainsFunc(LabelKeys, o.Has) {
		return "", ""
	}
	if slip, meant = format.Slip(o, LabelKeys); slip != "" {
		if _, err := ParseLabel(value.ToString(o.At(slip))); err != nil {
			return "", ""
		}
	}
	return slip, meant
}

func (r *trialReader) csv(in io.Reader) {
	var names []string
	slip := -1 // column that was probably meant to hold the labels
	r.RowsUntil(in, func(header []string) bool {
		names = slices.Clone(header)
		if !slices.ContainsFunc(names, func(n string) bool { return slices.Contains(outputKeys, strings.ToLower(n)) }) {
			r.Mistake(1, document.Nearest("output", names), "no column holds the outputs; one named %s is expected", strings.Join(outputKeys, ", "))
			return false
		}
		if !slices.ContainsFunc(names, func(n string) bool { return slices.Contains(LabelKeys, strings.ToLower(n)) }) {
			slip = slices.IndexFunc(names, func(n string) bool { return document.Nearest(n, LabelKeys[:1]) != "" })
		}
		return true
	}, func(rec document.Record) bool {
		if slip >= 0 && rec.Fields[slip] != "" {
			if _, err := ParseLabel(rec.Fields[slip]); err == nil { // otherwise it is a variable
				r.Mistake(1, "label", "no column is called %q, and it holds labels", names[slip])
				return false
			}
			slip = -1
		}
		o, vars := value.NewObject(len(names)), value.NewObject(len(names))
		for i, name := range names {
			if low := strings.ToLower(name); slices.Contains(ownKeys, low) {
				o.Set(low, rec.Fields[i])
			} else {
				vars.Set(name, rec.Fields[i])
			}
		}
		r.add(rec.Line, o, vars, func(key, nearest, format string, args ...any) {
			r.Mistake(rec.Line, nearest, "column "+key+": "+format, args...)
		})
		return !r.ended
	})
}

// HoldsOutputs reports whether the header of a CSV file names a column of outputs in addition
// to others.
func HoldsOutputs(data []byte) bool {
	for rec, err := range document.ReadCSV(bytes.NewReader(data), document.CSVOptions{NoHeader: true}) {
		return err == nil && len(rec.Fields) > 1 && slices.ContainsFunc(rec.Fields, func(n string) bool {
			return slices.Contains(outputKeys, strings.ToLower(strings.TrimSpace(n)))
		})
	}
	return false
}

// add reads one trial; wrongLabel adds a mistake at the label under a key.
func (r *trialReader) add(line int, o, vars *value.Object, wrongLabel func(key, nearest, format string, args ...any)) {
	r.n++
	t := Trial{ID: fmt.Sprint(r.n), Vars: vars}
	if t.Vars == nil {
		t.Vars = value.NewObject(0)
	}
	if id := o.At("id"); id != nil && id != "" {
		t.ID = strings.Clone(value.ToString(id)) // the line is not retained
	}
	wrong := false
	if first, ok := r.lines[t.ID]; ok {
		r.Mistake(r.at(line), "", "the id %q is already on line %d", t.ID, r.at(first))
		wrong = true
	}
	r.lines[t.ID] = line
	t.CaseID = t.ID
	found := false
	for _, key := range outputKeys {
		if v, ok := o.Get(key); ok && !found {
			t.Output, found = v, true
		}
	}
	if !found {
		r.Mistake(r.at(line), "", "there is no output: expected %s, or what %s exports", strings.Join(outputKeys, ", "), exported.Tools)
		wrong = true
	}
	t.Prompt, t.HasPrompt = o.At("prompt").(string)
	t.Note = strings.Clone(o.Text("note"))
	for _, key := range LabelKeys {
		if v := o.At(key); v != nil && v != "" && t.Label == "" {
			var err error
			if t.Label, err = ParseLabel(value.ToString(v)); err != nil {
				wrongLabel(key, NearestLabel(value.ToString(v)), "%v", err)
				wrong = true
			}
		}
	}
	if v := o.At("thumb"); v != nil && v != "" && t.Label == "" {
		var err error
		if t.Label, err = parseThumb(value.ToString(v)); err != nil {
			wrongLabel("thumb", document.Nearest(value.ToString(v), thumbWords), "%v", err)
			wrong = true
		}
		t.Thumb = true
		r.thumb++
	}
	t.Version = strings.Clone(o.Text("version"))
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
