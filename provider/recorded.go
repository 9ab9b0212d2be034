package provider

import (
	"cmp"
	"context"
	"path"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// recorded answers with outputs that were recorded elsewhere. A record is matched to a case by id,
// description, vars or prompt, or, if it has none of them, by position. A file that holds the
// messages of one conversation is one output, for every case.
type recorded struct {
	id, file     string
	byKey        map[string]*value.Object
	inOrder      []*value.Object
	conversation *value.Object // nil if the file holds no conversation
}

// Keys that match a record to a case, strongest first.
const (
	byID          = "id"
	byDescription = "description"
	byPrompt      = "prompt"
	byVars        = "vars"
)

func newRecorded(spec proviso.ProviderSpec, file string, o Options) (proviso.Provider, error) {
	file = strings.TrimPrefix(file, "file://")
	if file == "" {
		return nil, &proviso.Error{Code: proviso.Invalid, Pointer: spec.Pointer, Message: "recorded: needs a file, such as recorded:outputs.jsonl"}
	}
	data, err := o.Files.ReadFile(file)
	if err != nil {
		return nil, &proviso.Error{Code: cmp.Or(proviso.CodeOf(err), proviso.NotFound), Pointer: spec.Pointer, Message: "recorded outputs", Err: err}
	}
	r := &recorded{id: spec.ID, file: file, byKey: map[string]*value.Object{}}
	records, err := readRecords(file, data)
	if err == nil {
		err = checkRecords(records)
	}
	if err != nil {
		return nil, &proviso.Error{Code: cmp.Or(proviso.CodeOf(err), proviso.Invalid), Pointer: spec.Pointer, Message: "recorded outputs", Err: err}
	}
	if r.conversation = conversationOf(records); r.conversation != nil {
		return r, nil
	}
	for i, rec := range records {
		if err := r.add(rec.Object); err != nil {
			return nil, &proviso.Error{Code: proviso.Invalid, Pointer: spec.Pointer, Message: file + " record " + strconv.Itoa(i+1), Err: err}
		}
	}
	return r, nil
}

// readRecords reads the records of a file in the format of its suffix.
func readRecords(file string, data []byte) ([]record, error) {
	switch strings.ToLower(path.Ext(file)) {
	case ".jsonl", ".ndjson":
		return readLines(file, data)
	case ".csv":
		return readTable(file, data)
	}
	doc, err := document.ParseYAML(file, data)
	if err != nil {
		return nil, err
	}
	list, ok := doc.Root.([]any)
	if !ok {
		return nil, proviso.Errorf(proviso.Invalid, "%s: expected a list of outputs", file)
	}
	records := make([]record, len(list))
	for i, e := range list {
		records[i] = record{recordOf(e), func(key string) proviso.Place { return doc.Place("/" + strconv.Itoa(i) + "/" + key) }}
	}
	return records, nil
}

// recordOf reads one record. Any value but an object with an output is the
// output itself.
func recordOf(v any) *value.Object {
	if o, ok := v.(*value.Object); ok && o.Has("output") {
		return o
	}
	return value.ObjectOf("output", v)
}

func (r *recorded) add(rec *value.Object) error {
	key := ""
	for _, name := range []string{byID, byDescription, byPrompt, byVars} {
		if v, ok := rec.Get(name); ok {
			key = keyOf(name, v)
			break
		}
	}
	if key == "" {
		r.inOrder = append(r.inOrder, rec)
		return nil
	}
	if _, twice := r.byKey[key]; twice {
		return proviso.Errorf(proviso.Invalid, "a second record for %s", key)
	}
	r.byKey[key] = rec
	return nil
}

func keyOf(name string, v any) string {
	if text, ok := v.(string); ok {
		return name + " " + text
	}
	return name + " " + value.Stringify(v)
}

func (r *recorded) ID() string { return r.id }

// Answer looks up the record of the case.
func (r *recorded) Answer(_ context.Context, ask proviso.Ask) (proviso.Output, error) {
	rec := r.find(ask)
	if rec == nil {
		name := "this prompt"
		if ask.Case != nil {
			name = nameOf(ask.Case)
		}
		return proviso.Output{}, proviso.Errorf(proviso.NotFound, "%s holds no output for %s", r.file, name)
	}
	out := outputOf(rec)
	out.Cached = true // no request was made, so the only latency is the recorded one
	return out, nil
}

// nameOf is the name of a case in messages.
func nameOf(c *proviso.Case) string {
	if c.Description != "" {
		return "the case " + strconv.Quote(c.Description)
	}
	return "case " + strconv.Itoa(c.Number+1) + " (" + c.ID + ")"
}

func (r *recorded) find(ask proviso.Ask) *value.Object {
	if r.conversation != nil {
		return r.conversation
	}
	keys := []string{keyOf(byPrompt, ask.Prompt)}
	if c := ask.Case; c != nil {
		keys = append([]string{keyOf(byID, c.ID), keyOf(byDescription, c.Description)}, append(keys, keyOf(byVars, c.Vars))...)
	}
	for _, k := range keys {
		if rec, ok := r.byKey[k]; ok {
			return rec
		}
	}
	if c := ask.Case; c != nil && c.Number < len(r.inOrder) {
		return r.inOrder[c.Number]
	}
	return nil
}

// conversationOf returns the record of a file that holds only the messages of one conversation, in
// the form of chat APIs. It returns nil for any other file.
func conversationOf(records []record) *value.Object {
	var messages []any
	for _, rec := range records {
		m := object(rec.At("output"))
		role := m.Text("role")
		if rec.Len() != 1 || role == "" || !m.Has("content") && !m.Has("tool_calls") {
			return nil
		}
		messages = append(messages, m)
	}
	if messages == nil {
		return nil
	}
	return value.ObjectOf("output", messages)
}
