package label

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/value"
)

// Log is a file of labels with one line per label, as JSON Lines that [Read] reads. A line is
// on disk before [Log.Set] returns, so nothing is lost however the session ends; an undo is
// also a line. Log is not safe for concurrent use, but several processes may write to the same
// file.
type Log struct {
	out     format.Log
	author  string
	entries []trial.Entry // entries of the trials that are labelled
	now     []given       // label in force, by entry: from the file, else from the output
	beside  []string
	steps   []step // changes that can be undone, the latest last
	start   []byte // written before the next line: a line break that the file lacks
	// Stale counts the lines of the file that belong to other outputs.
	Stale int
	// Cut is the text of an incomplete last line that was removed, such as a full disk leaves;
	// usually "".
	Cut string
}

// given is the label and note of an output.
type given struct{ label, note string }

// step is a change, with the state before it.
type step struct {
	entry  int
	before given
}

// maxLog bounds a file of labels, in bytes.
const maxLog = 64 << 20

// OpenLog reads the labels in a file, if it exists, and appends new ones. The first label
// creates the file. It reports all mistakes in the file; if there are any, the log is nil.
func OpenLog(file string, entries []trial.Entry, author string) (*Log, proviso.Mistakes, error) {
	l := &Log{out: format.Log{File: file}, author: author, entries: entries, now: make([]given, len(entries))}
	for i, e := range entries {
		l.now[i].label = e.Label
		l.beside = append(l.beside, e.Label)
	}
	data, err := format.ReadBounded(file, maxLog)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l, nil, nil
	case err != nil:
		return nil, nil, proviso.Errorf(proviso.NotFound, "read the labels: %w", err)
	}
	if data, err = l.mend(data); err != nil {
		return nil, nil, proviso.Errorf(proviso.Unavailable, "mend the labels: %w", err)
	}
	r := newReader(file, entries)
	r.each = l.replay
	r.jsonLines(data)
	agreed, _ := r.agreed()
	for i, said := range agreed {
		if l.beside[i] == "" {
			l.beside[i] = said.Label
		}
		if l.now[i].label == "" {
			l.now[i] = given{said.Label, said.Note}
		}
	}
	l.Stale = r.stale
	if r.Mistakes.Err() != nil {
		return nil, r.Mistakes, nil
	}
	return l, r.Mistakes, nil
}

// mend handles a last line without a line break. If the line is not JSON, it was not written
// completely and is no label. Otherwise a person may have omitted the line break.
func (l *Log) mend(data []byte) ([]byte, error) {
	whole := bytes.LastIndexByte(data, '\n') + 1
	last := bytes.TrimSpace(data[whole:])
	if whole == len(data) {
		return data, nil
	}
	if _, err := value.ParseJSON(string(last)); err == nil || len(last) == 0 {
		l.start = []byte("\n")
		return data, nil
	}
	if last[0] != '{' {
		return data, nil // not a line of this log; its mistake is reported
	}
	l.Cut = string(last)
	return data[:whole], os.Truncate(l.out.File, int64(whole))
}

// replay applies a line of the file.
func (l *Log) replay(entry int, line line) {
	if line.Undone {
		if n := len(l.steps); n > 0 {
			l.now[l.steps[n-1].entry] = l.steps[n-1].before
			l.steps = l.steps[:n-1]
		}
		return
	}
	l.change(entry, given{line.Label, line.Note})
}

// change sets the label in force to g.
func (l *Log) change(entry int, g given) {
	if g.label == "" {
		g.label = l.beside[entry]
	}
	l.steps = append(l.steps, step{entry, l.now[entry]})
	l.now[entry] = g
}

// Label returns the label in force for a trial (1, 0 or "") and its note.
func (l *Log) Label(entry int) (label, note string) {
	return l.now[entry].label, l.now[entry].note
}

// Entries returns the entries with the labels in force.
func (l *Log) Entries() []trial.Entry {
	list := slices.Clone(l.entries)
	for i, g := range l.now {
		list[i].Label = g.label
	}
	return list
}

// Labels counts the labels.
func (l *Log) Labels() trial.Labels {
	list := make([]trial.Entry, len(l.now))
	for i, g := range l.now {
		list[i].Label = g.label
	}
	return trial.CountLabels(list)
}

// Set labels a trial with 1 or 0, or removes its label with ""; note may be empty.
func (l *Log) Set(entry int, label, note string) error {
	if err := l.append(entry, given{label, note}, false); err != nil {
		return err
	}
	l.change(entry, given{label, note})
	return nil
}

// Undo reverts the last label, even one from an earlier session, and returns its trial; ok is
// false if there is none.
func (l *Log) Undo() (entry int, ok bool, err error) {
	n := len(l.steps)
	if n == 0 {
		return 0, false, nil
	}
	last := l.steps[n-1]
	said := last.before
	if said.label == l.beside[last.entry] {
		said.label = ""
	}
	if err := l.append(last.entry, said, true); err != nil {
		return 0, false, err
	}
	l.steps = l.steps[:n-1]
	l.now[last.entry] = last.before
	return last.entry, true, nil
}

// append writes a line and records the change.
func (l *Log) append(entry int, g given, undone bool) error {
	o := value.ObjectOf("id", l.entries[entry].ID, "label", nil)
	if g.label != "" {
		o.Set("label", map[string]float64{"1": 1, "0": 0}[g.label])
	}
	o.SetText("note", g.note)
	o.SetText("author", l.author)
	o.SetText("output_id", l.entries[entry].OutputID)
	if undone {
		o.Set("undone", true)
	}
	if err := l.out.Append(append(value.AppendJSON(l.start, o), '\n')); err != nil {
		return proviso.Errorf(proviso.Unavailable, "keep the label: %w", err)
	}
	l.start = nil
	return nil
}

// Close closes the file.
func (l *Log) Close() error { return l.out.Close() }
