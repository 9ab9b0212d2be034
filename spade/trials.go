package spade

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
)

// Trial is an output that candidates are tried on.
type Trial struct {
	ID        string
	Label     string // 1, 0, or "" if nobody has said
	Output    any    // a text, or a structure
	Prompt    string
	HasPrompt bool
	Vars      *proviso.Object
}

// The names of what a trial has.
var (
	outputKeys = []string{"output", "response", "answer", "completion"}
	labelKeys  = []string{"label", "human", "verdict"}
	ownKeys    = []string{"id", "label", "human", "verdict", "output", "response", "answer", "completion", "prompt", "model", "provider", "note"}
)

// ReadTrials reads outputs from JSON Lines, if the name ends in .jsonl, or CSV: an
// output (output, response, answer or completion), and if they are known an id, a
// label (1, good, pass or true; 0, bad, fail or false), the prompt, and vars; in
// CSV every other column is a variable. The mistakes are all that is wrong, with
// their lines; there are no trials if there are any.
func ReadTrials(file string, data []byte) ([]Trial, proviso.Mistakes) {
	r := &trialReader{table: table{file: file}, lines: map[string]int{}}
	if strings.EqualFold(filepath.Ext(file), ".jsonl") {
		for line, err := range document.Lines(bytes.NewReader(data)) {
			if err != nil {
				r.mistakes = append(r.mistakes, mistakeOfLine(file, err))
				continue
			}
			o, ok := line.Value.(*proviso.Object)
			if !ok {
				r.mistake(line.Number, "", "an object is expected")
				continue
			}
			vars, _ := o.At("vars").(*proviso.Object)
			r.add(line.Number, o, vars)
		}
	} else {
		r.csv(data)
	}
	if r.mistakes.Err() == nil && len(r.list) == 0 {
		r.mistake(0, "", "there is no output in it")
	}
	if r.mistakes.Err() != nil {
		return nil, r.mistakes
	}
	return r.list, r.mistakes
}

type trialReader struct {
	table
	list  []Trial
	lines map[string]int // of ids
}

func (r *trialReader) csv(data []byte) {
	var names []string
	r.rows(bytes.NewReader(data), func(header []string) bool {
		names = slices.Clone(header)
		if !slices.ContainsFunc(names, func(n string) bool { return slices.Contains(outputKeys, strings.ToLower(n)) }) {
			r.mistake(1, document.Nearest("output", names), "no column holds the outputs; one named %s is expected", strings.Join(outputKeys, ", "))
			return false
		}
		return true
	}, func(rec document.Record) {
		o, vars := proviso.NewObject(len(names)), proviso.NewObject(len(names))
		for i, name := range names {
			if low := strings.ToLower(name); slices.Contains(ownKeys, low) {
				o.Set(low, rec.Fields[i])
			} else {
				vars.Set(name, rec.Fields[i])
			}
		}
		r.add(rec.Line, o, vars)
	})
}

// add reads one trial.
func (r *trialReader) add(line int, o, vars *proviso.Object) {
	t := Trial{ID: fmt.Sprint(len(r.list) + 1), Vars: vars}
	if t.Vars == nil {
		t.Vars = proviso.NewObject(0)
	}
	if id := o.At("id"); id != nil && id != "" {
		t.ID = proviso.ToString(id)
	}
	if first, ok := r.lines[t.ID]; ok {
		r.mistake(line, "", "the id %q stands in line %d already", t.ID, first)
	}
	r.lines[t.ID] = line
	found := false
	for _, key := range outputKeys {
		if v, ok := o.Get(key); ok && !found {
			t.Output, found = v, true
		}
	}
	if !found {
		r.mistake(line, "", "no output is here; %s is expected", strings.Join(outputKeys, ", "))
	}
	t.Prompt, t.HasPrompt = o.At("prompt").(string)
	for _, key := range labelKeys {
		if v := o.At(key); v != nil && v != "" && t.Label == "" {
			var err error
			if t.Label, err = labelOf(proviso.ToString(v)); err != nil {
				r.mistake(line, "", "%v", err)
			}
		}
	}
	r.list = append(r.list, t)
}

// labelOf turns a label into 1 or 0.
func labelOf(text string) (string, error) {
	good, ok := labels[strings.ToLower(strings.TrimSpace(text))]
	switch {
	case !ok:
		return "", errors.New("the label is " + quote(text) + "; 1 or good, 0 or bad is expected")
	case good:
		return "1", nil
	}
	return "0", nil
}

// ReadLabels reads labels, id and label, from CSV or, if the name ends in .jsonl,
// JSON Lines, for trials that have none or have others.
func ReadLabels(file string, data []byte, trials []Trial) proviso.Mistakes {
	r := &table{file: file}
	at := map[string]int{}
	var ids []string
	for i, t := range trials {
		at[t.ID] = i
		ids = append(ids, t.ID)
	}
	set := func(line int, id, text string) {
		i, ok := at[id]
		if !ok {
			r.mistake(line, document.Nearest(id, ids), "no output has the id %q", id)
			return
		}
		if strings.TrimSpace(text) == "" {
			return
		}
		label, err := labelOf(text)
		if err != nil {
			r.mistake(line, "", "%v", err)
			return
		}
		trials[i].Label = label
	}
	if strings.EqualFold(filepath.Ext(file), ".jsonl") {
		r.lines(data, set)
		return r.mistakes
	}
	id, label := -1, -1
	r.rows(bytes.NewReader(data), func(header []string) bool {
		for i, name := range header {
			switch {
			case strings.EqualFold(name, "id"):
				id = i
			case slices.Contains(labelKeys, strings.ToLower(name)):
				label = i
			}
		}
		if id < 0 || label < 0 {
			r.mistake(1, "", "the header must have the columns id and label")
			return false
		}
		return true
	}, func(rec document.Record) { set(rec.Line, rec.Fields[id], rec.Fields[label]) })
	return r.mistakes
}

// lines calls set for each label of a JSON Lines file.
func (t *table) lines(data []byte, set func(line int, id, text string)) {
	for line, err := range document.Lines(bytes.NewReader(data)) {
		if err != nil {
			t.mistakes = append(t.mistakes, mistakeOfLine(t.file, err))
			continue
		}
		o, ok := line.Value.(*proviso.Object)
		if !ok || o.At("id") == nil {
			t.mistake(line.Number, "", "an object with id and label is expected")
			continue
		}
		label := ""
		if v := o.At("label"); v != nil {
			label = proviso.ToString(v)
		}
		set(line.Number, proviso.ToString(o.At("id")), label)
	}
}
