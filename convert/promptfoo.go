package convert

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// promptfooHead is the first line of a configuration. Editors use it to validate
// the file.
const promptfooHead = "# yaml-language-server: $schema=https://promptfoo.dev/config-schema.json\n"

// promptfooSuite writes a suite as a configuration of promptfoo.
type promptfooSuite struct {
	doc    *document.Document
	own    map[string]map[string]string // keys that promptfoo lacks, by object, with their purpose
	result Result
	told   map[string]int // number of notes by what and why, so that each is reported once
}

// writePromptfoo writes a valid suite. Files that it names stay where they are and
// are not changed.
func writePromptfoo(ctx context.Context, f File) (*Result, error) {
	doc, err := document.ParseContext(ctx, f.Name, f.Data)
	if err != nil {
		return nil, err
	}
	root, ok := doc.Root.(*value.Object)
	if !ok {
		return nil, Mistakes{proviso.Mistakes{{Place: proviso.Place{File: f.Name}, Code: proviso.Invalid, Message: "a suite is an object"}}}
	}
	x := &promptfooSuite{doc: doc, own: map[string]map[string]string{}, told: map[string]int{}}
	for _, k := range suite.KeyDocs() {
		if k.Own {
			if x.own[k.Object] == nil {
				x.own[k.Object] = map[string]string{}
			}
			x.own[k.Object][k.Key] = k.Doc
		}
	}
	text, err := yamlOf(x.suite(root), promptfooHead, nil)
	if err != nil {
		return nil, err
	}
	x.result.Files = []File{{"promptfooconfig.yaml", text}}
	for i, n := range x.result.Notes {
		if more := x.told[n.What+"\x00"+n.Why] - 1; more > 0 {
			x.result.Notes[i].Why += fmt.Sprintf(" (%d times in all)", more+1)
		}
	}
	return &x.result, nil
}

// OwnSuite returns a promptfooconfig as the text of a suite of proviso's own: the
// same YAML, comments included, or JSON as YAML. head replaces the line that names
// the schema.
func OwnSuite(f File, head string) ([]byte, error) {
	if path.Ext(f.Name) == ".json" {
		doc, err := document.ParseJSON(f.Name, f.Data)
		if err != nil {
			return nil, err
		}
		root, _ := doc.Root.(*value.Object)
		root = root.Clone()
		root.Delete("$schema")
		return yamlOf(root, head, nil)
	}
	text := strings.TrimPrefix(string(f.Data), "\ufeff")
	var b strings.Builder
	b.WriteString(head)
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "# yaml-language-server:") && !strings.HasPrefix(line, "$schema:") {
			b.WriteString(line)
		}
	}
	return []byte(b.String()), nil
}

// note records a feature that promptfoo lacks, with its first place.
func (x *promptfooSuite) note(at, what, why, do string) {
	id := what + "\x00" + why
	if x.told[id]++; x.told[id] == 1 {
		x.result.Notes = append(x.result.Notes, Note{x.doc.Place(at), what, why, do})
	}
}

// without returns an object without the keys that promptfoo lacks.
func (x *promptfooSuite) without(object, at string, o *value.Object) *value.Object {
	out := value.NewObject(o.Len())
	for key, v := range o.All() {
		if doc, own := x.own[object][key]; own && v != nil {
			x.note(document.Join(at, key), object+": "+key, "left out: "+doc, "")
			continue
		}
		out.Set(key, v)
	}
	return out
}

// suite converts the top level.
func (x *promptfooSuite) suite(root *value.Object) *value.Object {
	out := value.NewObject(root.Len())
	for key, v := range root.All() {
		at := document.Join("", key)
		switch key {
		case "$schema", "assertions", "judge", "threshold": // threshold is that of the assertions
			continue
		case "defaultTest":
			out.Set(key, x.testCase(at, v))
			continue
		case "tests":
			out.Set(key, x.each(at, v, x.testCase))
			continue
		case "scenarios":
			out.Set(key, x.each(at, v, x.scenario))
			continue
		case "prompts":
			out.Set(key, x.each(at, v, x.prompt))
			continue
		case "evaluateOptions", "tracing":
			if o, ok := v.(*value.Object); ok {
				v = x.repeat(at, x.without(key, at, o))
			}
		case "providers", "targets":
			x.each(at, v, x.provider)
		}
		if doc, own := x.own["suite"][key]; own {
			x.note(at, key, "left out: "+doc, "")
			continue
		}
		out.Set(key, v)
	}
	x.set(out, root.At("assertions"))
	x.judge(out, root.At("judge"))
	return out
}

// each converts the members of a list, or the only value in place of a list.
func (x *promptfooSuite) each(at string, v any, convert func(at string, v any) any) any {
	list, ok := v.([]any)
	if !ok {
		return convert(at, v)
	}
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = convert(document.Join(at, i), e)
	}
	return out
}

// provider adds a note on a provider that promptfoo lacks.
func (x *promptfooSuite) provider(at string, v any) any {
	id, _ := v.(string)
	if o, ok := v.(*value.Object); ok {
		id = o.Text("id")
	}
	for _, k := range provider.Kinds() {
		if k.Own && strings.HasPrefix(id, k.Name) {
			x.note(at, "the provider "+k.Name, "promptfoo has none that "+k.Doc, "name a model, or give cases providerOutput")
		}
	}
	return v
}

// prompt converts a prompt that is an entry.
func (x *promptfooSuite) prompt(at string, v any) any {
	o, ok := v.(*value.Object)
	if !ok || o.At("assert") == nil {
		return v
	}
	x.note(at+"/assert", "prompt: assert", "left out: assertions that apply to one prompt only", "")
	out := o.Clone()
	out.Delete("assert")
	return out
}

// scenario converts the cases of a scenario.
func (x *promptfooSuite) scenario(at string, v any) any {
	o, ok := v.(*value.Object)
	if !ok {
		return v
	}
	out := o.Clone()
	for _, key := range [...]string{"config", "tests"} {
		if m := o.At(key); m != nil {
			out.Set(key, x.each(document.Join(at, key), m, x.testCase))
		}
	}
	return out
}

// testCase converts a case. A text names a file with cases.
func (x *promptfooSuite) testCase(at string, v any) any {
	o, ok := v.(*value.Object)
	if !ok {
		return v
	}
	out := x.without("case", at, o)
	if options, ok := out.At("options").(*value.Object); ok {
		out.Set("options", x.without("options", at+"/options", options))
	}
	if list, ok := out.At("assert").([]any); ok {
		out.Set("assert", x.assertions(at+"/assert", list))
	}
	return out
}

// repeat keeps how often cases run, and leaves out how many must pass.
func (x *promptfooSuite) repeat(at string, o *value.Object) *value.Object {
	if r, ok := o.At("repeat").(*value.Object); ok {
		o.Set("repeat", r.At("n"))
		x.note(at+"/repeat", "repeat: pass", "left out: every repeat counts as a separate row", "")
	}
	return o
}

// set adds the assertion set to the assertions of every case.
func (x *promptfooSuite) set(out *value.Object, v any) {
	if v == nil {
		return
	}
	list, ok := v.([]any)
	if !ok {
		x.note("/assertions", "assertions", "left out, because it is in another file", "copy it into the suite and export again")
		return
	}
	x.note("/assertions", "assertions", "the assertion set becomes assertions of every case, without a score and a threshold of its own", "")
	defaults, ok := out.At("defaultTest").(*value.Object)
	if !ok && out.At("defaultTest") != nil {
		x.note("/assertions", "assertions", "left out, because defaultTest is in another file", "copy it into the suite and export again")
		return
	}
	defaults = defaults.Clone()
	all, _ := defaults.At("assert").([]any)
	defaults.Set("assert", append(all[:len(all):len(all)], x.assertions("/assertions", list)...))
	out.Set("defaultTest", defaults)
}

// judge makes the judge the model that grades.
func (x *promptfooSuite) judge(out *value.Object, v any) {
	if v == nil {
		return
	}
	grader := v
	if o, ok := v.(*value.Object); ok {
		grader = value.NewObject(o.Len())
		for key, m := range o.All() {
			if _, own := x.judgeKeys()[key]; !own {
				grader.(*value.Object).Set(key, m)
			} else if key != "panel" {
				x.note(document.Join("/judge", key), "judge: "+key, "left out: "+x.judgeKeys()[key], "")
			}
		}
		if panel, ok := o.At("panel").([]any); ok {
			grader = panel
		}
	}
	if list, ok := grader.([]any); ok {
		if len(list) == 0 {
			return
		}
		x.note("/judge", "judge", "promptfoo asks one model; the first of the panel grades", "")
		grader = list[0]
	}
	defaults, ok := out.At("defaultTest").(*value.Object)
	if !ok && out.At("defaultTest") != nil {
		x.note("/judge", "judge", "left out, because defaultTest is in another file", "set its options.provider")
		return
	}
	defaults = defaults.Clone()
	options := defaults.Object("options").Clone()
	if options.At("provider") == nil {
		options.Set("provider", grader)
	}
	defaults.Set("options", options)
	out.Set("defaultTest", defaults)
}

// judgeKeys are the keys of a judge in addition to those of a provider, with their
// purpose.
func (x *promptfooSuite) judgeKeys() map[string]string {
	keys := map[string]string{}
	for _, k := range suite.KeyDocs() {
		if k.Object == "judge" {
			keys[k.Key] = k.Doc
		}
	}
	return keys
}
