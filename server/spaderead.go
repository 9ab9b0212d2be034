package server

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// Limits of a request for assertions.
const (
	spadeVersions   = 200
	spadeTexts      = 1 << 20 // bytes of all versions
	spadeExamples   = 1000
	spadeOutput     = 256 << 10 // bytes of one output
	spadeOutputs    = 8 << 20   // bytes of all outputs
	spadeChoices    = 1000      // names under reject, or under keep
	spadeMostLabels = 10_000    // of a run that are read
)

// labelWords are the labels as [trial.Trial] has them.
var labelWords = map[string]string{string(label.Pass): "1", string(label.Fail): "0", string(label.Unsure): ""}

// check checks what can be checked without the store.
func (w *spadeJob) check() error {
	in := &w.in
	limit := func(pointer string, n, most int, what string) error {
		if n > most {
			return pointed(pointer, proviso.Limit, fmt.Sprintf("%d %s, more than %d", n, what, most))
		}
		return nil
	}
	err := errors.Join(limit("/versions", len(in.Versions), spadeVersions, "versions"), limit("/examples", len(in.Examples), spadeExamples, "examples"),
		limit("/labels", len(in.Labels), spadeExamples, "labels"), limit("/reject", len(in.Reject), spadeChoices, "names"), limit("/keep", len(in.Keep), spadeChoices, "names"))
	switch {
	case err != nil:
		return firstOf(err)
	case len(in.Versions) > 0 && in.Prompt != "":
		return pointed("/prompt", proviso.Invalid, "versions and prompt exclude each other: send the texts, or name a prompt of the runs")
	case len(in.Versions) == 0 && in.Prompt == "":
		return pointed("/versions", proviso.Invalid, "a version of the prompt is missing: send its text under versions, or name a prompt of the runs under prompt")
	case in.Suite != "" && in.Prompt == "":
		return pointed("/suite", proviso.Invalid, "suite says which prompt is meant, and prompt is missing")
	case len(in.Examples) > 0 && in.Run != "":
		return pointed("/run", proviso.Invalid, "examples and run exclude each other")
	}
	for i, name := range in.Keep {
		if slices.Contains(in.Reject, name) {
			return pointed(document.Join("/keep", i), proviso.Invalid, fmt.Sprintf("%q is under reject, too", shortened(name)))
		}
	}
	for _, x := range []struct {
		pointer string
		value   *float64
	}{{"/alpha", in.Alpha}, {"/tau", in.Tau}} {
		if x.value != nil && !(*x.value >= 0 && *x.value <= 1) {
			return pointed(x.pointer, proviso.Invalid, fmt.Sprintf("%v is no share: a number from 0 to 1 is expected", *x.value))
		}
	}
	return w.checkTexts()
}

// firstOf is the first of joined errors.
func firstOf(err error) error {
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		return list.Unwrap()[0]
	}
	return err
}

// checkTexts checks sizes, ids and labels.
func (w *spadeJob) checkTexts() error {
	size := 0
	for i, v := range w.in.Versions {
		if size += len(v.Text); len(v.Text) > maxPromptText {
			return pointed(document.Join("/versions", i)+"/text", proviso.Limit, fmt.Sprintf("the text has %d bytes, more than %d", len(v.Text), maxPromptText))
		}
	}
	if size > spadeTexts {
		return pointed("/versions", proviso.Limit, fmt.Sprintf("the versions have %d bytes together, more than %d", size, spadeTexts))
	}
	size = 0
	seen := make(map[string]int, len(w.in.Examples))
	for i, e := range w.in.Examples {
		at := document.Join("/examples", i)
		first, twice := seen[e.ID]
		seen[e.ID] = i
		size += len(e.Output)
		switch _, ok := labelWords[e.Label]; {
		case e.ID == "" || len(e.ID) > store.MaxName || strings.ContainsAny(e.ID, "\r\n\x00") || !utf8.ValidString(e.ID):
			return pointed(at+"/id", proviso.Invalid, fmt.Sprintf("an id has to be a line of 1 to %d bytes in UTF-8", store.MaxName))
		case twice:
			return pointed(at+"/id", proviso.Invalid, fmt.Sprintf("example %d has the id %q, too", first+1, shortened(e.ID)))
		case len(e.Output) > spadeOutput:
			return pointed(at+"/output", proviso.Limit, fmt.Sprintf("the output has %d bytes, more than %d", len(e.Output), spadeOutput))
		case e.Label != "" && !ok:
			return wrongLabel(at+"/label", e.Label)
		}
	}
	if size > spadeOutputs {
		return pointed("/examples", proviso.Limit, fmt.Sprintf("the outputs have %d bytes together, more than %d", size, spadeOutputs))
	}
	for id, l := range w.in.Labels {
		if _, ok := labelWords[l]; !ok {
			return wrongLabel(document.Join("/labels", id), l)
		}
	}
	return nil
}

func wrongLabel(pointer, got string) error {
	return pointed(pointer, proviso.Invalid, fmt.Sprintf("%q is no label: pass, fail or unsure is expected", shortened(got)), "pass", "fail", "unsure")
}

// named checks that the names under reject and keep are those of candidates.
func (w *spadeJob) named() error {
	var names []string
	for i := range w.result.Candidates {
		names = append(names, w.result.Candidates[i].Name)
	}
	for _, list := range []struct {
		key   string
		names []string
	}{{"/reject", w.in.Reject}, {"/keep", w.in.Keep}} {
		for i, name := range list.names {
			if slices.Contains(names, name) {
				continue
			}
			return notAmong(document.Join(list.key, i), fmt.Sprintf("no candidate is called %q", shortened(name)), name, names)
		}
	}
	return nil
}

// notAmong is the mistake of a name that is not among those that are valid. It names the nearest
// one, or else all.
func notAmong(pointer, message, name string, names []string) error {
	message, near := nearestTo(message, name, names)
	if near != "" {
		names = []string{near}
	}
	return pointed(pointer, proviso.Invalid, message, names...)
}

// readHistory compares the versions.
func (w *spadeJob) readHistory() (err error) {
	at, list := "/versions", make([]delta.Version, 0, len(w.in.Versions))
	for _, v := range w.in.Versions {
		list = append(list, delta.Version{Name: wellFormed(v.Name), Text: unixLines(v.Text)})
	}
	if w.in.Prompt != "" {
		at = "/prompt"
		if list, err = w.promptVersions(); err != nil {
			return err
		}
	}
	if w.history, err = delta.HistoryOf(list); err != nil {
		return pointed(at, proviso.Invalid, err.Error())
	}
	return nil
}

// unixLines writes line breaks as a prompt is cut at, and U+FFFD in place of lone
// surrogates, which JSON can hold and files cannot.
func unixLines(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(wellFormed(text), "\r\n", "\n"), "\r", "\n")
}

func wellFormed(text string) string { return strings.ToValidUTF8(text, "\ufffd") }

// promptVersions returns the versions of a prompt of the runs, oldest first.
func (w *spadeJob) promptVersions() ([]delta.Version, error) {
	all, err := w.s.promptsOfRuns(w.c, query{Values: url.Values{"suite": {w.in.Suite}}})
	if err != nil {
		return nil, err
	}
	var found []*PromptHistory
	names := map[string]bool{}
	for i := range all {
		names[all[i].Name] = true
		if all[i].Name == w.in.Prompt {
			found = append(found, &all[i])
		}
	}
	switch {
	case len(found) == 0:
		message := fmt.Sprintf("the latest runs have no prompt %q", shortened(w.in.Prompt))
		return nil, notAmong("/prompt", message, w.in.Prompt, slices.Sorted(maps.Keys(names)))
	case len(found) > 1:
		var suites []string
		for _, p := range found {
			suites = append(suites, p.Suite)
		}
		return nil, pointed("/suite", proviso.Invalid, fmt.Sprintf("%d suites have a prompt %q: suite says which", len(found), shortened(w.in.Prompt)), suites...)
	}
	var list []delta.Version
	for _, v := range slices.Backward(found[0].Versions) {
		list = append(list, delta.Version{Name: v.Hash, Time: v.FirstSeen, Text: unixLines(v.Text)})
	}
	return list[max(0, len(list)-spadeVersions):], nil
}

// readTrials takes the outputs of the request or of its run, with their labels.
func (w *spadeJob) readTrials() error {
	for _, e := range w.in.Examples {
		t := trial.Trial{ID: e.ID, Label: labelWords[e.Label], Output: wellFormed(e.Output), Vars: e.Vars}
		if t.Vars == nil {
			t.Vars = value.NewObject(0)
		}
		w.trials = append(w.trials, t)
	}
	if w.in.Run != "" {
		if err := w.readRun(); err != nil {
			return err
		}
	}
	for id, l := range w.in.Labels {
		i := slices.IndexFunc(w.trials, func(t trial.Trial) bool { return t.ID == id })
		if i < 0 {
			return pointed(document.Join("/labels", id), proviso.Invalid, fmt.Sprintf("no output has the id %q", shortened(id)))
		}
		w.trials[i].Label = labelWords[l]
	}
	return nil
}

// readRun takes the first outputs of a run.
func (w *spadeJob) readRun() error {
	run, err := w.s.seenRunOf(w.c, w.in.Run)
	if e, ok := errors.AsType[*proviso.Error](err); ok && e.Code == proviso.NotFound {
		return pointed("/run", proviso.Invalid, e.Message)
	}
	if err != nil {
		return err
	}
	stored, err := openStored(w.c.r.Context(), w.c.kept, run)
	if err != nil {
		return err
	}
	w.providers = modelsOf(stored.Header().Meta)
	labels, err := w.labelsOf(run)
	if err != nil {
		return err
	}
	size, seen := 0, map[string]bool{}
	for t, err := range trial.OfRun(stored) {
		if err != nil {
			return err
		}
		n := len(t.Text())
		if len(w.trials) == spadeExamples || size+n > spadeOutputs {
			w.more = true
			break
		}
		if n > spadeOutput {
			w.more = true
			continue
		}
		size += n
		if t.ID = oneLine(t.ID); seen[t.ID] {
			t.ID += fmt.Sprintf("~row %d", t.Index)
		}
		seen[t.ID] = true
		t.Label = labels[t.Index]
		t.Prompt, t.HasPrompt = "", false
		w.trials = append(w.trials, t)
	}
	return nil
}

// modelsOf returns the providers of a run that a suite may name without running code or
// reading files, and that ask a model.
func modelsOf(meta *value.Object) []string {
	var list []string
	columns, _ := meta.At("columns").([]any)
	for _, c := range columns {
		o, _ := c.(*value.Object)
		id := o.Text("providerId")
		facts, _ := provider.Facts().Of(id)
		if facts == nil || facts.Local || strings.ContainsAny(id, "{}\r\n") || slices.Contains(list, id) || len(list) == 5 || askable(id) != nil {
			continue
		}
		list = append(list, id)
	}
	return list
}

// oneLine writes the id of a case as a line.
func oneLine(id string) string {
	return strings.NewReplacer("\r", " ", "\n", " ", "\x00", " ").Replace(wellFormed(id))
}

// labelsOf returns the labels of people on the outputs of a run, by row. Where people
// disagree there is none.
func (w *spadeJob) labelsOf(run store.Run) (map[int]string, error) {
	whole, read := "", 0
	out := map[int]string{}
	for l, err := range all(w.c.r.Context(), w.c.kept.ListLabels, store.LabelFilter{Run: run.ID, Assertion: &whole}) {
		if err != nil {
			return nil, err
		}
		if read++; read > spadeMostLabels {
			break
		}
		word := labelWords[string(l.Verdict)]
		if word == "" {
			continue
		}
		if before, ok := out[l.Index]; ok && before != word {
			word = ""
		}
		out[l.Index] = word
	}
	return out, nil
}
