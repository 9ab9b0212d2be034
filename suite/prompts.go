package suite

import (
	"path"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// defaultPrompt is the prompt of a suite without prompts.
const defaultPrompt = "{{prompt}}"

// prompts reads the prompts of a suite.
func (r *reading) prompts(doc *document.Document, cfg *value.Object) []proviso.Prompt {
	p := promptReader{reading: r, ids: map[string]bool{}}
	v, at := cfg.At("prompts"), "/prompts"
	if len(r.options.Prompts) > 0 {
		return p.fromCommandLine()
	}
	if flags, ok := cfg.At("commandLineOptions").(*value.Object); ok && v == nil {
		v, at = flags.At("prompts"), "/commandLineOptions/prompts"
	}
	if v == "" && r.promptfoo {
		v = nil // treat it as absent
	}
	switch v := v.(type) {
	case nil:
		if !mayHavePrompt(cfg) {
			r.warn(doc, "", "the suite has no prompts, and no case has the variable prompt to send instead")
		}
		return []proviso.Prompt{{Label: defaultPrompt, Raw: defaultPrompt}}
	case *value.Object:
		if isPromptEntry(v) {
			p.entry(doc, at, v)
		} else {
			p.labels(doc, at, v)
		}
	default:
		p.all(doc, at, v)
	}
	if len(p.list) == 0 && !p.failed {
		r.mistake(doc, at, proviso.Invalid, nil, "prompts holds no prompt")
	}
	return p.list
}

// mayHavePrompt reports whether a case may have the variable prompt; cases in other
// files always may.
func mayHavePrompt(cfg *value.Object) bool {
	cases, ok := cfg.At("tests").([]any)
	if !ok && cfg.At("tests") != nil || cfg.At("scenarios") != nil {
		return true
	}
	for _, v := range append(cases[:len(cases):len(cases)], cfg.At("defaultTest")) {
		c, ok := v.(*value.Object)
		if !ok && v != nil {
			return true
		}
		if vars, ok := c.At("vars").(*value.Object); vars.Has("prompt") || !ok && c.At("vars") != nil {
			return true
		}
	}
	return false
}

// promptReader collects the prompts of a suite.
type promptReader struct {
	*reading
	list   []proviso.Prompt
	ids    map[string]bool
	failed bool
}

// wrong records a mistake. An empty list is then not reported as well.
func (p *promptReader) wrong(doc *document.Document, at, format string, args ...any) {
	p.failed = true
	p.mistake(doc, at, proviso.Invalid, nil, format, args...)
}

func (p *promptReader) fileError(doc *document.Document, at string, err error) {
	p.failed = true
	p.reading.failed(doc, at, err)
}

// fromCommandLine reads the prompts of flags, relative to the working folder.
func (p *promptReader) fromCommandLine() []proviso.Prompt {
	list := make([]any, len(p.options.Prompts))
	for i, s := range p.options.Prompts {
		if name := p.fromWorkingFolder(s); looksLikeFile(s) || p.files.Exists(name) {
			s = "file://" + name
		}
		list[i] = s
	}
	p.all(document.Virtual("--prompts", list), "", list)
	return p.list
}

func (p *promptReader) all(doc *document.Document, at string, v any) {
	switch v := v.(type) {
	case string:
		p.text(doc, at, v, &proviso.Prompt{})
	case []any:
		for i, e := range v {
			at := document.Join(at, i)
			switch e := e.(type) {
			case string:
				p.text(doc, at, e, &proviso.Prompt{})
			case *value.Object:
				switch {
				case isSentence(e):
					p.wrong(doc, at, "quote the prompt: YAML reads a text with a colon and a blank in it as a mapping")
				case isPromptEntry(e) || !p.areFiles(e):
					p.entry(doc, at, e)
				default:
					p.labels(doc, at, e)
				}
			default:
				p.wrong(doc, at, "a prompt is a text, a file name or {id, label, raw}, not %s", kind.Shown(e))
			}
		}
	default:
		p.wrong(doc, at, "prompts are a list, not %s", kind.Shown(v))
	}
}

// isSentence reports whether an object is what YAML makes of an unquoted text such as
// "Answer {{name}}: be brief".
func isSentence(o *value.Object) bool {
	return o.Len() == 1 && (strings.Contains(o.Keys()[0], " ") && !couldBeFile(o.Keys()[0]) || strings.Contains(o.Keys()[0], "{{"))
}

// isPromptEntry reports whether an object is {id, label, raw, …} rather than
// {file: label}.
func isPromptEntry(o *value.Object) bool {
	return o.Has("raw") || o.Has("id") || o.Has("label")
}

// areFiles reports whether the keys of an object are file names.
func (p *promptReader) areFiles(o *value.Object) bool {
	for key := range o.All() {
		if !looksLikeFile(key) && !p.files.Exists(key) {
			return false
		}
	}
	return o.Len() > 0
}

// labels reads {file: label}.
func (p *promptReader) labels(doc *document.Document, at string, o *value.Object) {
	for name, v := range o.All() {
		at := document.Join(at, name)
		label, ok := v.(string)
		if !ok {
			p.wrong(doc, at, "the label of a prompt is a text, not %s", kind.Shown(v))
			continue
		}
		p.text(doc, at, name, &proviso.Prompt{Label: label})
	}
}

// entry reads {id, label, raw, config, assert}.
func (p *promptReader) entry(doc *document.Document, at string, o *value.Object) {
	p.keys(doc, at, o, promptKeys())
	base := proviso.Prompt{}
	base.ID, _ = o.At("id").(string)
	base.Label, _ = o.At("label").(string)
	if base.Label == "" {
		base.Label, _ = o.At("display").(string)
	}
	base.Config, _ = o.At("config").(*value.Object)
	if v := o.At("assert"); v != nil {
		base.Assert = p.assertions(doc, document.Join(at, "assert"), v)
	}
	key := "raw"
	if o.At(key) == nil {
		key = "id"
		if isReference(base.ID) {
			base.ID = ""
		}
	}
	if base.ID != "" && key == "raw" {
		if p.ids[base.ID] {
			p.wrong(doc, document.Join(at, "id"), "a second prompt has the id %q", base.ID)
		}
		p.ids[base.ID] = true
	}
	at = document.Join(at, key)
	switch v := o.At(key).(type) {
	case string:
		p.text(doc, at, v, &base)
	case []any, *value.Object:
		p.keep(base, value.Stringify(v), "")
	default:
		p.wrong(doc, at, "a prompt needs raw: its text, a chat, or file://…")
	}
}

// keep adds a prompt. The label is the given one, or else the file's suggestion, or
// else the text.
func (p *promptReader) keep(base proviso.Prompt, raw, label string) {
	base.Raw = raw
	p.confinePrompt(base)
	if base.Label == "" {
		base.Label = label
	}
	if base.Label == "" {
		base.Label = raw
	}
	p.list = append(p.list, base)
}

// services are promptfoo's prefixes of prompts from remote services.
var services = [...]string{"langfuse://", "portkey://", "helicone://"}

// text reads a prompt that is written as one text: a file name, code that writes the
// prompt, or the prompt itself.
func (p *promptReader) text(doc *document.Document, at, s string, base *proviso.Prompt) {
	base.Pointer = p.at(doc, at)
	for _, service := range services {
		if strings.HasPrefix(s, service) {
			p.failed = true
			p.unsupported(doc, at, "proviso does not fetch prompts from %s", strings.TrimSuffix(service, "://"))
			return
		}
	}
	if strings.TrimSpace(s) == "" {
		p.blank(doc, at, s, base)
		return
	}
	if strings.HasPrefix(s, "exec:") {
		p.script(doc, at, s, "", base)
		return
	}
	named := strings.HasPrefix(s, "file://")
	if !named && !couldBeFile(s) {
		p.keep(*base, s, "")
		return
	}
	p.named(doc, at, s, named || looksLikeFile(s), base)
}

// blank reads a prompt without text, which promptfoo sends unchanged.
func (p *promptReader) blank(doc *document.Document, at, s string, base *proviso.Prompt) {
	if !p.promptfoo {
		p.wrong(doc, at, "the prompt is empty")
		return
	}
	p.warn(doc, at, "the prompt is empty and is sent as it is")
	p.keep(*base, s, "")
}

// named reads the files that a name or a pattern matches. If there are none, the name
// is the prompt itself, unless must is set.
func (p *promptReader) named(doc *document.Document, at, s string, must bool, base *proviso.Prompt) {
	file, entry := splitScript(s)
	switch {
	case p.files.Exists(file):
		p.file(doc, at, p.files.Clean(file), entry, base)
		return
	case isGlob(file) && !strings.ContainsAny(file, " \t"):
		names, err := p.files.Glob(file)
		if err != nil {
			p.fileError(doc, at, err)
			return
		}
		for _, name := range names {
			p.file(doc, at, name, "", base)
		}
		if len(names) > 0 {
			return
		}
		if must {
			p.failed = true
			p.mistake(doc, at, proviso.NotFound, nil, "no file matches %s", p.files.Show(file))
			return
		}
	case must:
		p.failed = true
		p.exists(doc, at, file)
		return
	}
	p.keep(*base, s, "")
}

// script keeps a prompt that code writes during the run.
func (p *promptReader) script(doc *document.Document, at, file, entry string, base *proviso.Prompt) {
	if p.refusesCode(doc, at, "the prompt "+quoteName(file)) {
		p.failed = true
		return
	}
	b := *base
	b.Script = &proviso.Generator{File: file, Entry: entry, Config: b.Config, Pointer: p.at(doc, at)}
	label := file
	if entry != "" {
		label += ":" + entry
	}
	p.keep(b, label, label)
}

// splitScript splits "prompt.py:name" into a script and its function.
func splitScript(name string) (file, entry string) {
	i := strings.LastIndexByte(name, ':')
	if i > 0 && slices.Contains(scriptKinds(), strings.ToLower(path.Ext(name[:i]))) && !strings.ContainsAny(name[i:], `/\`) {
		return name[:i], name[i+1:]
	}
	return name, ""
}

// scriptKinds returns the suffixes of files whose output is the prompt.
func scriptKinds() []string {
	return []string{".py", ".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".sh", ".rb", ".pl", ".ps1", ".exe", ".bat", ".cmd"}
}

// textKinds returns the suffixes of files with prompts.
func textKinds() []string {
	return []string{".txt", ".json", ".jsonl", ".yaml", ".yml", ".md", ".j2", ".csv"}
}

// couldBeFile reports whether a text may be a file name: one line without a template,
// with a folder, a pattern or a suffix.
func couldBeFile(s string) bool {
	if len(s) >= maxPath || strings.ContainsAny(s, "\n\r\x00") || strings.Contains(s, "{{") || strings.Contains(s, "{%") {
		return false
	}
	ext := path.Ext(s)
	return strings.ContainsAny(s, `/\*`) || len(ext) > 1 && !strings.ContainsAny(ext, " \t")
}

// looksLikeFile reports whether a text can only be a file name: it has the suffix of
// a prompt file and no blanks.
func looksLikeFile(s string) bool {
	if !couldBeFile(s) || strings.ContainsAny(s, " \t") {
		return false
	}
	file, _ := splitScript(s)
	ext := strings.ToLower(path.Ext(file))
	return slices.Contains(textKinds(), ext) || slices.Contains(scriptKinds(), ext)
}
