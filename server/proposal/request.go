package proposal

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// SpadeRequest is a prompt with its versions, and outputs to try assertions on.
type SpadeRequest struct {
	Versions []SpadeVersion    `json:"versions,omitempty" doc:"Of the prompt, oldest first, up to 200, together up to 1 MiB; or else prompt"`
	Prompt   string            `json:"prompt,omitempty" doc:"The name of a prompt of the latest runs, whose versions are taken"`
	Suite    string            `json:"suite,omitempty" doc:"Its suite, if several suites have a prompt of this name"`
	Examples []SpadeExample    `json:"examples,omitempty" doc:"Outputs, up to 1000; or else run"`
	Run      string            `json:"run,omitempty" doc:"The id of a run, whose first 1000 outputs are taken, with the labels of people on them"`
	Labels   map[string]string `json:"labels,omitempty" doc:"pass, fail or unsure by the id of an output, in place of its other label"`
	Reject   []string          `json:"reject,omitempty" doc:"Names of candidates that are not selected"`
	Keep     []string          `json:"keep,omitempty" doc:"Names of candidates that are selected in any case"`
	Alpha    *float64          `json:"alpha,omitempty" doc:"The smallest share of the bad outputs that has to be caught; 0.6 if it is missing"`
	Cases    bool              `json:"cases,omitempty" doc:"Answer with a whole suite: the newest version, the selected candidates, and the outputs as cases"`
	Tau      *float64          `json:"tau,omitempty" doc:"The largest share of the good outputs that may fail; 0.25 if it is missing"`
}

// SpadeVersion is a wording of a prompt.
type SpadeVersion struct {
	Name string `json:"name,omitempty" doc:"Such as its file or commit"`
	Text string `json:"text" doc:"Up to 64 KiB"`
}

// SpadeExample is an output of the prompt.
type SpadeExample struct {
	ID     string        `json:"id"`
	Output string        `json:"output" doc:"Up to 256 KiB; all outputs together up to 8 MiB"`
	Label  string        `json:"label,omitempty" enum:"pass,fail,unsure"`
	Vars   *value.Object `json:"vars,omitempty"`
}

// Limits of a request for assertions.
const (
	MostVersions = 200      // of a prompt
	maxText      = 64 << 10 // bytes of a version
	maxTexts     = 1 << 20  // bytes of all versions
	maxExamples  = 1000
	maxOutput    = 256 << 10 // bytes of one output
	maxOutputs   = 8 << 20   // bytes of all outputs
	maxChoices   = 1000      // names under reject, or under keep
)

// Words converts human labels to those of [trial.Trial].
var Words = map[string]string{string(label.Pass): "1", string(label.Fail): "0", string(label.Unsure): ""}

// Check checks everything that needs no store.
func (in *SpadeRequest) Check() error {
	limit := func(pointer string, n, most int, what string) error {
		if n > most {
			return pointed(pointer, proviso.Limit, fmt.Sprintf("%d %s, more than %d", n, what, most))
		}
		return nil
	}
	err := errors.Join(limit("/versions", len(in.Versions), MostVersions, "versions"), limit("/examples", len(in.Examples), maxExamples, "examples"),
		limit("/labels", len(in.Labels), maxExamples, "labels"), limit("/reject", len(in.Reject), maxChoices, "names"), limit("/keep", len(in.Keep), maxChoices, "names"))
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
			return pointed(x.pointer, proviso.Invalid, fmt.Sprintf("%v is not a share: expected a number from 0 to 1", *x.value))
		}
	}
	return in.checkTexts()
}

// firstOf returns the first of joined errors.
func firstOf(err error) error {
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		return list.Unwrap()[0]
	}
	return err
}

// checkTexts checks sizes, ids and labels.
func (in *SpadeRequest) checkTexts() error {
	size := 0
	for i, v := range in.Versions {
		if size += len(v.Text); len(v.Text) > maxText {
			return pointed(document.Join("/versions", i)+"/text", proviso.Limit, fmt.Sprintf("the text has %d bytes, more than %d", len(v.Text), maxText))
		}
	}
	if size > maxTexts {
		return pointed("/versions", proviso.Limit, fmt.Sprintf("the versions have %d bytes together, more than %d", size, maxTexts))
	}
	size = 0
	seen := make(map[string]int, len(in.Examples))
	for i, e := range in.Examples {
		at := document.Join("/examples", i)
		first, twice := seen[e.ID]
		seen[e.ID] = i
		size += len(e.Output)
		switch _, ok := Words[e.Label]; {
		case e.ID == "" || len(e.ID) > store.MaxName || strings.ContainsAny(e.ID, "\r\n\x00") || !utf8.ValidString(e.ID):
			return pointed(at+"/id", proviso.Invalid, fmt.Sprintf("an id has to be a line of 1 to %d bytes in UTF-8", store.MaxName))
		case twice:
			return pointed(at+"/id", proviso.Invalid, fmt.Sprintf("example %d has the id %q, too", first+1, shortened(e.ID)))
		case len(e.Output) > maxOutput:
			return pointed(at+"/output", proviso.Limit, fmt.Sprintf("the output has %d bytes, more than %d", len(e.Output), maxOutput))
		case e.Label != "" && !ok:
			return wrongLabel(at+"/label", e.Label)
		}
	}
	if size > maxOutputs {
		return pointed("/examples", proviso.Limit, fmt.Sprintf("the outputs have %d bytes together, more than %d", size, maxOutputs))
	}
	for id, l := range in.Labels {
		if _, ok := Words[l]; !ok {
			return wrongLabel(document.Join("/labels", id), l)
		}
	}
	return nil
}

func wrongLabel(pointer, got string) error {
	return pointed(pointer, proviso.Invalid, fmt.Sprintf("%q is not a label: expected pass, fail or unsure", shortened(got)), "pass", "fail", "unsure")
}

// named checks that the names under reject and keep are names of candidates.
func (w *Job) named() error {
	var names []string
	for i := range w.result.Candidates {
		names = append(names, w.result.Candidates[i].Name)
	}
	for _, list := range []struct {
		key   string
		names []string
	}{{"/reject", w.Request.Reject}, {"/keep", w.Request.Keep}} {
		for i, name := range list.names {
			if slices.Contains(names, name) {
				continue
			}
			return NotAmong(document.Join(list.key, i), fmt.Sprintf("no candidate is called %q", shortened(name)), name, names)
		}
	}
	return nil
}

func pointed(pointer, code, message string, valid ...string) error {
	return &proviso.Error{Code: code, Pointer: pointer, Message: message, Valid: valid}
}

// shortened cuts a client's text to 80 bytes for a message.
func shortened(text string) string { return excerpt.Bytes(text, 80) }

// NotAmong is the mistake of a name at a pointer that is not among the valid names. It suggests
// the nearest one, or lists all.
func NotAmong(pointer, message, name string, names []string) error {
	if near := document.Nearest(name, names); near != "" {
		names = []string{near}
		message += document.DidYouMean(name, names)
	}
	return pointed(pointer, proviso.Invalid, message, names...)
}
