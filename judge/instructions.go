package judge

import (
	"context"
	"embed"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/value"
)

// The prompts, by the name of the type or of its step.
//
//go:embed prompts/*.txt
var promptFiles embed.FS

// ownPrompt returns one of proviso's own prompts.
func ownPrompt(name string) string {
	text, err := promptFiles.ReadFile("prompts/" + name + ".txt")
	if err != nil {
		panic(err) // a name in this package has no file
	}
	return string(text)
}

// instructions returns the system message, which is the same in every call.
func instructions(name string) string { return ownPrompt(name) + "\n" + ownPrompt("fenced") }

// ownWords is a hash of all of proviso's own prompts.
var ownWords = sync.OnceValue(func() string {
	files, err := promptFiles.ReadDir("prompts")
	if err != nil {
		panic(err) // the folder is embedded
	}
	var texts []string
	for _, f := range files {
		texts = append(texts, f.Name(), ownPrompt(strings.TrimSuffix(f.Name(), ".txt")))
	}
	return blobs.Key(texts...)
})

// piece is a part of the material for one of proviso's own prompts.
type piece struct{ name, text string }

// step is one call of a grading.
type step struct {
	own    string  // name of the prompt
	scaled bool    // the rubric sets the range of the score
	pieces []piece // the prompt's material; callers omit optional pieces that are empty
	reply  *proviso.Reply
	// One vote may make the same call several times: this is call number nth of them,
	// from 0.
	nth, of int

	custom any                  // the suite's prompt, which replaces own; nil if there is none
	vars   func() *value.Object // variables of custom
}

// ask makes one call of a grading and parses the reply. If the reply cannot be parsed, it
// repeats the call once.
func ask[T any](ctx context.Context, g *grading, s step, read func(text string) (T, error)) (T, error) {
	c := call{Sample: g.q.Sample, Vars: g.q.Vars, Case: g.q.Case}
	c.Sample.Vote = g.q.Sample.Vote*max(1, s.of) + s.nth
	words := ownWords()
	if s.custom != nil {
		prompt, source, err := g.j.custom(ctx, s.custom, s.vars())
		if err != nil {
			var none T
			return none, err
		}
		c.Messages, c.Plain = messagesOf(prompt)
		words = source
	} else {
		system := instructions(s.own)
		if s.scaled {
			system = onScale(system)
		}
		c.Messages = []message{{"system", system}, {"user", fenced(s.own, s.pieces, c.Sample)}}
		c.Static, c.Reply = 1, s.reply
	}
	g.mu.Lock()
	g.words = append(g.words, words)
	g.mu.Unlock()
	v, a, err := askFor(ctx, g.j, g.seat, c, exactly(&s, read))
	g.spend(a)
	return v, err
}

// fenced puts pieces between marks that cannot occur in them.
func fenced(prompt string, pieces []piece, sample proviso.Sample) string {
	key, contents := []string{"fence graded 1", prompt, sampleText(sample)}, []string{}
	for _, p := range pieces {
		key, contents = append(key, p.name, p.text), append(contents, p.text)
	}
	fence := Fence(key, contents...)
	var b strings.Builder
	b.WriteString("Fence: " + fence + "\n")
	for _, p := range pieces {
		b.WriteString("\n[" + fence + " begin " + p.name + "]\n" + p.text + "\n[" + fence + " end " + p.name + "]\n")
	}
	b.WriteString("\n" + ownPrompt("closing"))
	return b.String()
}

// checkRubric reports mistakes in a suite's prompt that replaces the judge's own.
func (j *Judge) checkRubric(q proviso.Question) error {
	if q.Rubric == nil {
		return nil
	}
	for _, part := range rubricParts(q, j.kindOf(q.Type).Steps) {
		if err := j.checkPrompt(part); err != nil {
			return atRubric(q, err)
		}
	}
	return nil
}

// atRubric adds the pointer of the rubricPrompt to an error, if the assertion has one.
func atRubric(q proviso.Question, err error) error {
	pointer := ""
	if q.Assertion != nil && q.Assertion.RubricPrompt != nil {
		pointer = q.Assertion.Pointer + "/rubricPrompt"
	}
	placed := proviso.WithPointer(pointer, err)
	placed.Message = "rubricPrompt: " + placed.Message
	return placed
}

// rubricParts returns the prompts in a rubricPrompt: a single one, or one for each step
// of the type.
func rubricParts(q proviso.Question, steps []any) []any {
	if steps == nil {
		return []any{q.Rubric}
	}
	parts := make([]any, len(steps))
	for i, step := range steps {
		parts[i] = rubricStep(q, step)
	}
	return parts
}

// rubricStep returns the prompt for one step from a rubricPrompt that is an object or a
// list, or nil.
func rubricStep(q proviso.Question, step any) any {
	switch step := step.(type) {
	case string:
		o, _ := q.Rubric.(*value.Object)
		return o.At(step)
	case int:
		list, _ := q.Rubric.([]any)
		if step >= len(list) {
			return nil
		}
		if o, ok := list[step].(*value.Object); ok && o.Has("content") {
			return o.At("content")
		}
		return list[step]
	}
	return nil
}

// checkPrompt reports mistakes in a prompt before it is rendered.
func (j *Judge) checkPrompt(prompt any) error {
	if prompt == nil {
		return nil
	}
	source, err := j.promptText(prompt)
	if err != nil {
		return err
	}
	if j.o.Check.Templates == nil {
		return proviso.Errorf(proviso.Unavailable, "templates cannot be rendered: no template engine is available")
	}
	v, err := value.ParseJSON(source)
	if err != nil {
		return j.o.Check.Templates.Check(source)
	}
	_, err = eachText(v, func(text string) (string, error) { return text, j.o.Check.Templates.Check(text) })
	return err
}

// promptText returns a prompt as text: the content of a file, or a chat as JSON.
func (j *Judge) promptText(prompt any) (string, error) {
	text, ok := prompt.(string)
	if !ok {
		return value.Stringify(prompt), nil
	}
	name, isFile := strings.CutPrefix(text, "file://")
	if !isFile {
		return text, nil
	}
	if file, _, _ := strings.Cut(name, ":"); check.LanguageOf(file) != "" {
		return "", proviso.Errorf(proviso.Unsupported, "%s: a prompt that is code is not supported; write it as a template", name)
	}
	if j.o.Check.Files == nil {
		return "", proviso.Errorf(proviso.Refused, "%s: files may not be read", name)
	}
	if known, ok := j.files.Load(name); ok {
		return known.(string), nil
	}
	data, err := j.o.Check.Files.ReadFile(name)
	if err != nil {
		return "", err
	}
	j.files.Store(name, string(data))
	return string(data), nil
}

// custom renders a prompt from the suite. If the prompt is JSON, each text in it is
// rendered separately, so that values cannot break the JSON. Values are never rendered as
// templates.
func (j *Judge) custom(ctx context.Context, prompt any, vars *value.Object) (rendered, source string, err error) {
	if source, err = j.promptText(prompt); err != nil {
		return "", "", err
	}
	if j.o.Check.Templates == nil {
		return "", "", proviso.Errorf(proviso.Unavailable, "templates cannot be rendered: no template engine is available")
	}
	vars = flattened(vars, source)
	render := func(text string) (string, error) { return j.o.Check.Templates.Render(ctx, text, vars) }
	v, err := value.ParseJSON(source)
	if err != nil {
		rendered, err = render(source)
		return rendered, source, err
	}
	if v, err = eachText(v, render); err != nil {
		return "", "", err
	}
	return value.Stringify(v), source, nil
}

// messagesOf converts a rendered prompt to messages: those of a chat, or a single plain
// text.
func messagesOf(prompt string) (messages []message, plain bool) {
	alone := []message{{"user", prompt}}
	v, err := value.ParseJSON(prompt)
	list, ok := v.([]any)
	if err != nil || !ok || len(list) == 0 {
		return alone, true
	}
	messages = make([]message, len(list))
	for i, e := range list {
		o, _ := e.(*value.Object)
		role := o.Text("role")
		content, ok := textContent(o.At("content"))
		if role == "" || !ok {
			return alone, true
		}
		messages[i] = message{role, content}
	}
	return messages, false
}

// textContent returns the content of a message that consists of text only.
func textContent(content any) (string, bool) {
	if text, ok := content.(string); ok {
		return text, true
	}
	list, ok := content.([]any)
	var parts []string
	for _, e := range list {
		o, _ := e.(*value.Object)
		text, isText := o.At("text").(string)
		ok = ok && isText
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n"), ok && len(parts) > 0
}

// eachText returns v with each text in it replaced.
func eachText(v any, replace func(string) (string, error)) (any, error) {
	var err error
	switch v := v.(type) {
	case string:
		return replace(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			if out[i], err = eachText(e, replace); err != nil {
				return nil, err
			}
		}
		return out, nil
	case *value.Object:
		out := value.NewObject(v.Len())
		for k, e := range v.All() {
			n, err := eachText(e, replace)
			if err != nil {
				return nil, err
			}
			out.Set(k, n)
		}
		return out, nil
	}
	return v, nil
}
