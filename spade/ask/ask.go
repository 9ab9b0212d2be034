// Package ask sends spade's questions to a model: it writes the prompt, with untrusted text
// between marks, and finds the JSON in the reply. Start at [Begin].
package ask

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/value"
)

// Model is a model that proposes and classifies. Decorators of its provider apply budgets,
// caching and recording.
type Model struct {
	Provider proviso.Provider
	// Spec is the specification of Provider. A temperature and a limit on the answer's length
	// in its configuration are kept.
	Spec proviso.ProviderSpec
}

// Label returns the model's name: its label in a suite, or its id.
func (m *Model) Label() string {
	if name := m.Spec.Name(); name != "" {
		return name
	}
	return m.Provider.ID()
}

// Spent is the usage of the questions to a model.
type Spent struct {
	Calls  int // answered calls
	Cached int // answered calls that came from a cache
	Judged int // outputs on which a judge decided candidates; its tokens and cost are in the sums
	Usage  proviso.Usage
	Cost   float64 // US dollars, for the calls with a known price
}

// Add adds other usage.
func (s *Spent) Add(o Spent) {
	s.Calls += o.Calls
	s.Cached += o.Cached
	s.Judged += o.Judged
	s.Usage.Add(o.Usage)
	s.Cost += o.Cost
}

// The words of the proposer and the classifier.
//
//go:embed prompts/*.txt
var promptFiles embed.FS

// words returns a prompt with its placeholders filled in.
func words(name string) string {
	text, err := promptFiles.ReadFile("prompts/" + name + ".txt")
	if err != nil {
		panic(err) // the package names a prompt file that it does not have
	}
	return strings.TrimSpace(string(text))
}

// Instructions returns the text before the material. It is the same in every call.
func Instructions(name string) string {
	text := strings.NewReplacer("{{categories}}", words("categories")+"\n", "{{types}}", typeLines()).Replace(words(name))
	return text + "\n\n" + words("fenced")
}

// wording identifies all text that proviso sends to a proposing model, except the material.
var wording = sync.OnceValue(func() string {
	parts := []string{"spade prompt 1"}
	for _, name := range []string{"criteria", "uncaught", "candidates", "classify", "again", "repair", "closing"} {
		parts = append(parts, Instructions(name))
	}
	return blobs.Key(parts...)
})

// Piece is a part of the material for a model.
type Piece struct{ Name, Text string }

// material puts pieces between marks that cannot occur in them, and omits empty pieces.
func material(pieces []Piece, sample proviso.Sample, closing string) string {
	key, contents := []string{"fence spade 1", wording(), fmt.Sprint(sample)}, []string{}
	for _, p := range pieces {
		key, contents = append(key, p.Name, p.Text), append(contents, p.Text)
	}
	fence := judge.Fence(key, contents...)
	var b strings.Builder
	b.WriteString("Fence: " + fence + "\n")
	for _, p := range pieces {
		if p.Text != "" {
			b.WriteString("\n[" + fence + " begin " + p.Name + "]\n" + strings.TrimRight(p.Text, "\n") + "\n[" + fence + " end " + p.Name + "]\n")
		}
	}
	b.WriteString("\n" + closing)
	return b.String()
}

type message struct{ role, content string }

// Dialogue is one question to a model, with its follow-ups.
type Dialogue struct {
	model    *Model
	reply    *proviso.Reply
	most     int // maximum tokens of an answer
	messages []message
	sample   proviso.Sample
	Spent    Spent
	Hash     string // hash of the first question
}

// Begin builds a question from instructions, which are the same in every call, and the
// material.
func Begin(m *Model, name string, reply *proviso.Reply, most int, pieces []Piece) *Dialogue {
	d := &Dialogue{model: m, reply: reply, most: most}
	d.messages = []message{{"system", Instructions(name)}, {"user", material(pieces, d.sample, words("closing"))}}
	d.Hash = blobs.Key(d.messages[0].content, d.messages[1].content)[:12]
	return d
}

// DefaultQuestions is the default number of questions in flight.
const DefaultQuestions = 4

// Each calls ask for every i from 0 to n-1, at most concurrency calls at once (0 means 4), and
// waits for all of them. The first error cancels the context of the others, and Each returns
// it. If ctx ends, Each returns its error.
func Each(ctx context.Context, n, concurrency int, ask func(ctx context.Context, i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(n, cmp.Or(max(concurrency, 0), DefaultQuestions)) {
		wait.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				if err := ask(ctx, int(i)); err != nil {
					stop(err)
				}
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

// MaxPromptShown is how many bytes of a prompt a model sees.
const MaxPromptShown = 48 << 10

// maxReply bounds how many bytes of a reply are read, and maxQuoted how many bytes of an
// unreadable reply are sent back.
const (
	maxReply  = 1 << 20
	maxQuoted = 16 << 10
)

// Ask sends the question and passes the answer to read. If read fails, Ask sends the problem
// to the model once and reads the new answer. Afterwards, the last message of the dialogue is
// the model's last reply.
func (d *Dialogue) Ask(ctx context.Context, read func(text string) error) error {
	first, err := d.say(ctx, nil)
	if err != nil {
		return err
	}
	wrong := read(first)
	if wrong == nil {
		d.messages = append(d.messages, message{"assistant", first})
		return nil
	}
	// The text after a colon comes from the reply and is untrusted.
	why, _, _ := strings.Cut(wrong.Error(), ": ")
	d.messages = append(d.messages, message{"assistant", excerpt.Head(first, maxQuoted)}, message{"user", strings.ReplaceAll(words("again"), "{{why}}", why)})
	d.sample.Repair++
	second, err := d.say(ctx, func(text string) bool { return read(text) == nil })
	if err != nil {
		return err
	}
	if err := read(second); err != nil {
		return proviso.Errorf(proviso.Undecided, "the answer of %s cannot be read, and neither can the second one: %w; it began: %s", d.model.Label(), err, format.Excerpt(second))
	}
	d.messages = append(d.messages, message{"assistant", second})
	return nil
}

// Again sends the model corrections to make; it omits empty pieces.
func (d *Dialogue) Again(pieces ...Piece) {
	d.sample.Repair++
	d.messages = append(d.messages, message{"user", material(pieces, d.sample, words("repair"))})
}

// say sends the dialogue and returns the reply.
func (d *Dialogue) say(ctx context.Context, usable func(text string) bool) (string, error) {
	chat := make([]any, len(d.messages))
	for i, m := range d.messages {
		chat[i] = value.ObjectOf("role", m.role, "content", strings.ToValidUTF8(m.content, string(utf8.RuneError)))
	}
	out, err := d.model.Provider.Answer(ctx, proviso.Ask{
		Prompt: string(value.AppendJSON(nil, chat)), Config: d.settings(), Reply: d.reply, Static: 1, Sample: d.sample, Verbatim: true,
		Usable: func(out *proviso.Output) bool { return !out.Refused && (usable == nil || usable(out.Text())) },
	})
	if err != nil {
		return "", err
	}
	d.Spent.Add(spentOn(&out))
	text := ""
	switch out.Value.(type) {
	case nil, value.Undefined:
	default:
		text = out.Text()
	}
	fail := func(code, format string, args ...any) (string, error) {
		return "", proviso.Errorf(code, "%s: %s", d.model.Label(), fmt.Sprintf(format, args...))
	}
	switch {
	case out.Error != "":
		return fail(proviso.Unavailable, "%s", out.Error)
	case out.Refused:
		return fail(proviso.Undecided, "it refused to answer: %s", format.Excerpt(text))
	case strings.TrimSpace(text) == "":
		return fail(proviso.Undecided, "the answer is empty")
	case len(text) > maxReply:
		return fail(proviso.Limit, "the answer is longer than the %d MiB that are read", maxReply>>20)
	}
	return text, nil
}

func spentOn(out *proviso.Output) Spent {
	s := Spent{Calls: 1, Usage: out.Usage}
	if out.Cached {
		s.Cached = 1
	}
	if out.Cost != nil {
		s.Cost = *out.Cost
	}
	return s
}

// lengthSettings are the names of settings that bound an answer's length.
var lengthSettings = [...]string{"max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "num_predict"}

// settings are defaults that the model's own settings override: temperature 0 and enough
// tokens for the answer.
func (d *Dialogue) settings() *value.Object {
	own, cfg := d.model.Spec.Config, value.NewObject(2)
	if !own.Has("temperature") {
		cfg.Set("temperature", 0.0)
	}
	if !slices.ContainsFunc(lengthSettings[:], own.Has) {
		cfg.Set("max_tokens", float64(d.most))
	}
	return cfg
}
