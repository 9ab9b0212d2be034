// Package candidate reads and writes candidate assertions with their provenance, and reads the
// implications between them. Start at [Read].
package candidate

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/candidate/python"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// JudgeType is the type of candidates that a judge decides.
const JudgeType = proviso.TypeJudge

// ProvenanceKey is the config key of an assertion's provenance. Nothing else reads it,
// so a file of candidates is also a valid file of assertions.
const ProvenanceKey = "spade"

// Read reads candidates from YAML, JSON or, if the name ends in .jsonl, JSON Lines: assertions
// as in a suite's assertion set, as a list or as an object with the key assertions. The
// optional provenance of a candidate is under config, spade, as are its priorities: pin, ban
// and cost. From a Python file (.py), Read reads the top-level functions with the parameters
// example, prompt and response. It reports all mistakes with their places; if there are any,
// it returns no candidates.
func Read(file string, data []byte) ([]proviso.Candidate, proviso.Mistakes) {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".jsonl":
		return candidateLines(file, data)
	case ".py":
		assertions, mistakes := python.Read(file, data)
		return ofAll(assertions), mistakes
	}
	doc, err := document.Parse(file, data)
	if err != nil {
		return nil, proviso.Mistakes{document.MistakeOf(file, err)}
	}
	list, at := doc.Root, ""
	if o, ok := list.(*value.Object); ok {
		if slip, meant := format.Slip(o, []string{"assertions"}); slip != "" && !o.Has("assertions") {
			return nil, proviso.Mistakes{{Place: doc.KeyPlace(document.Join("", slip)), Code: proviso.Invalid, Message: fmt.Sprintf("unknown key %q: candidates belong under assertions", slip), Nearest: meant}}
		}
		list, at = o.At("assertions"), "/assertions"
	}
	entries, ok := list.([]any)
	if !ok {
		return nil, proviso.Mistakes{{Place: proviso.Place{File: file}, Code: proviso.Invalid, Message: "candidates are expected: a list of assertions, or an object with the key assertions"}}
	}
	return decodeCandidates(entries, at, doc)
}

func candidateLines(file string, data []byte) ([]proviso.Candidate, proviso.Mistakes) {
	var entries []any
	var lines []int
	var wrong proviso.Mistakes
	for line, err := range document.Lines(bytes.NewReader(data)) {
		if err != nil {
			wrong = append(wrong, document.MistakeOf(file, err))
			continue
		}
		entries, lines = append(entries, line.Value), append(lines, line.Number)
	}
	doc := document.Located(file, func(pointer string) proviso.Place {
		place, at := proviso.Place{File: file}, 0
		if _, err := fmt.Sscanf(pointer, "/%d", &at); err == nil && at < len(lines) {
			place.Line = lines[at]
		}
		return place
	})
	list, more := decodeCandidates(entries, "", doc)
	return list, append(wrong, more...)
}

func decodeCandidates(entries []any, at string, doc *document.Document) ([]proviso.Candidate, proviso.Mistakes) {
	assertions, wrong := suite.DecodeSet(check.Facts(), entries, at)
	var mistakes proviso.Mistakes
	for _, e := range wrong {
		if e.Pointer == "" { // it counts the unlisted mistakes
			mistakes = append(mistakes, proviso.Mistake{Place: proviso.Place{File: doc.Place("").File}, Code: e.Code, Message: e.Message, Warning: e.Warning})
			continue
		}
		pointer, key := strings.CutSuffix(e.Pointer, "#")
		m := proviso.Mistake{Place: doc.Place(pointer), Code: e.Code, Message: e.Message, Warning: e.Warning}
		if key {
			m.Place = doc.KeyPlace(pointer)
		}
		if len(e.Valid) == 1 {
			m.Nearest = e.Valid[0]
		}
		mistakes = append(mistakes, m)
	}
	if mistakes.Err() != nil {
		return nil, mistakes
	}
	for i, a := range assertions {
		mistakes = append(mistakes, wrongPriorities(a, doc, document.Join(at, i))...)
	}
	if mistakes.Err() != nil {
		return nil, mistakes
	}
	return ofAll(assertions), mistakes
}

func ofAll(assertions []*proviso.Assertion) []proviso.Candidate {
	var list []proviso.Candidate
	for _, a := range assertions {
		list = append(list, Of(a))
	}
	return list
}

// Decoded reads an assertion in the form of a suite, or returns what is wrong with it.
func Decoded(o *value.Object) (a *proviso.Assertion, wrong string) {
	list, mistakes := suite.DecodeSet(check.Facts(), []any{o}, "")
	switch {
	case len(mistakes) > 0:
		return nil, mistakes[0].Error()
	case len(list) != 1:
		return nil, "nothing was left of it"
	}
	return list[0], ""
}

// Of returns the candidate for an assertion from a file.
func Of(a *proviso.Assertion) proviso.Candidate {
	c := proviso.Candidate{Name: a.ID, Assertion: a}
	c.Description = a.Raw.Text("description")
	if c.Description == "" {
		c.Description = a.Instruction
	}
	if a.Config == nil {
		return c
	}
	from, ok := a.Config.At(ProvenanceKey).(*value.Object)
	if !ok {
		return c
	}
	number := func(key string) int { f, _ := from.At(key).(float64); return int(f) }
	c.Category, c.Model, c.PromptHash = from.Text("category"), from.Text("model"), from.Text("prompt")
	c.Delta = proviso.Delta{Version: number("version"), Added: from.Text("change") != "removed", Text: from.Text("text"), Line: number("line"), Removed: number("removed")}
	readPriorities(&c, from)
	return c
}

// provenance reads the provenance of a candidate from a file; nil if it has none.
func provenance(c *proviso.Candidate) *value.Object {
	o := value.NewObject(7)
	o.SetText("category", c.Category)
	d := c.Delta
	if d.Version > 0 {
		o.Set("version", float64(d.Version))
		o.Set("line", float64(d.Line))
		if !d.Added {
			o.Set("change", "removed")
		}
		if d.Removed > 0 {
			o.Set("removed", float64(d.Removed))
		}
	}
	o.SetText("text", d.Text)
	o.SetText("model", c.Model)
	o.SetText("prompt", c.PromptHash)
	setPriorities(o, c)
	if o.Len() == 0 {
		return nil
	}
	return o
}

// Object returns a candidate's assertion as a suite has it, with the name first, and with its
// provenance if whole is set.
func Object(c *proviso.Candidate, whole bool) *value.Object {
	o := value.ObjectOf("id", c.Name)
	o.SetText("description", c.Description)
	for key, v := range c.Assertion.Raw.All() {
		if key != "id" && key != "description" && key != "config" {
			o.Set(key, v)
		}
	}
	config := value.NewObject(1)
	if old, ok := c.Assertion.Raw.At("config").(*value.Object); ok {
		for key, v := range old.All() {
			if key != ProvenanceKey {
				config.Set(key, v)
			}
		}
	}
	if from := provenance(c); from != nil && whole {
		config.Set(ProvenanceKey, from)
	}
	if config.Len() > 0 {
		o.Set("config", config)
	}
	return o
}

// YAML writes candidates as a file that [Read] reads and that a suite can list under
// assertions. The comments are at the top, one per line.
func YAML(list []proviso.Candidate, comments []string) []byte {
	var y format.YAML
	for _, c := range comments {
		y.Comment("", c)
	}
	if len(list) == 0 {
		y.WriteString("assertions: []\n")
		return y.Bytes()
	}
	y.WriteString("assertions:\n")
	for i := range list {
		y.Item("  ", Object(&list[i], true))
	}
	return y.Bytes()
}

// JSONL writes candidates as JSON Lines that [Read] reads.
func JSONL(list []proviso.Candidate) []byte {
	var b []byte
	for i := range list {
		b = append(value.AppendJSON(b, Object(&list[i], true)), '\n')
	}
	return b
}

// Origin describes the provenance of a candidate; "" if it is unknown.
func Origin(c *proviso.Candidate) string {
	var parts []string
	if d := c.Delta; d.Version > 0 {
		verb := "added"
		if !d.Added {
			verb = "removed"
		}
		parts = append(parts, fmt.Sprintf("version %d, line %d, %s: %s", d.Version, d.Line, verb, report.Line(d.Text, 160)))
		if d.Removed > 0 {
			parts = append(parts, fmt.Sprintf("no longer asked since version %d", d.Removed))
		}
	}
	if c.Category != "" {
		parts = append(parts, report.Line(c.Category, 40))
	}
	switch {
	case c.Model != "":
		parts = append(parts, "proposed by "+report.Line(c.Model, 80))
	case len(parts) > 0:
		parts = append(parts, "proposed by a rule")
	}
	return strings.Join(parts, "; ")
}
