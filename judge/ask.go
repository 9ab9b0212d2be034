package judge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// message is one message of a prompt.
type message struct{ Role, Content string } // "system", "user" or "assistant"

// call is one call to a model.
type call struct {
	Messages  []message      // messages shared by many calls come first
	Static    int            // number of leading messages that are the same in all calls
	Shared    int            // number of leading bytes of the next message that are the same in several calls
	Plain     bool           // a single message is sent as plain text
	Reply     *proviso.Reply // schema of the answer; nil means free text
	MaxTokens int            // length limit of the answer, unless the model's own configuration sets one; 0 leaves it to the provider
	Sample    proviso.Sample // sample of the question; repairs count up from its Repair
	Vars      *value.Object
	Case      *proviso.Case
	// usable reports whether a reply may be cached; nil caches every reply. A reply
	// without a verdict is a failure, and failures are never cached.
	usable func(text string) bool
}

// answer is a model's answer, with its usage and cost.
type answer struct {
	Text   string // a structure as JSON
	Usage  proviso.Usage
	Cost   float64 // US dollars
	Cached bool
}

// maxReply is the size of the longest reply that is parsed, in bytes.
const maxReply = 1 << 20

// modelFor returns the model that a question names, or the first judge.
func (j *Judge) modelFor(q proviso.Question, role Role) (Seat, error) {
	if q.Grader == nil && role == Text && len(j.o.Judges) > 0 {
		return j.o.Judges[0], nil
	}
	if j.o.Open == nil {
		if q.Grader == nil {
			return Seat{}, proviso.Errorf(proviso.Unavailable, "there is no model for %s", role)
		}
		return Seat{}, proviso.Errorf(proviso.Refused, "graders that an assertion or a case names cannot be opened")
	}
	key := string(role) + " " + value.Stringify(q.Grader)
	j.mu.Lock()
	defer j.mu.Unlock()
	if s, ok := j.opened[key]; ok {
		return s.seat, s.err
	}
	s, err := j.o.Open(q.Grader, role)
	if err == nil && s.Provider == nil {
		err = proviso.Errorf(proviso.Internal, "opening the grader returned no provider")
	}
	if len(j.opened) < maxOpened {
		j.opened[key] = opened{s, err}
	}
	return s, err
}

// maxOpened bounds the number of graders named in a suite that stay open.
const maxOpened = 256

// opened is an open grader, or the error from opening it.
type opened struct {
	seat Seat
	err  error
}

// ask makes one call. An unusable answer is an error, too ([unanswered]). The returned
// answer has the usage and the cost even if there is an error.
func (j *Judge) ask(ctx context.Context, s Seat, c call) (answer, error) {
	chat, size := make([]any, len(c.Messages)), 0
	for i, m := range c.Messages {
		chat[i] = value.ObjectOf("role", m.Role, "content", strings.ToValidUTF8(m.Content, string(utf8.RuneError)))
		size += len(m.Content) + 64
	}
	prompt := string(value.AppendJSON(make([]byte, 0, size+size/16), chat))
	if c.Plain && len(c.Messages) == 1 {
		prompt = c.Messages[0].Content
	}
	out, err := s.Provider.Answer(ctx, proviso.Ask{
		Prompt: prompt, Config: j.settings(s, c), Reply: c.Reply, Static: c.Static, Shared: c.Shared, Sample: c.Sample,
		Vars: c.Vars, Case: c.Case, Verbatim: true,
		Usable: func(out *proviso.Output) bool {
			text, err := s.answerIn(out, c)
			return err == nil && (c.usable == nil || c.usable(text))
		},
	})
	if err != nil {
		return answer{}, j.blame(s, err)
	}
	a := answer{Usage: out.Usage, Cached: out.Cached}
	if out.Cost != nil {
		a.Cost = *out.Cost
	}
	if out.Error != "" {
		return a, j.blame(s, proviso.Errorf(proviso.Unavailable, "%s", out.Error))
	}
	a.Text, err = s.answerIn(&out, c)
	if err != nil {
		return a, j.blame(s, err)
	}
	return a, nil
}

// unanswered is the error for an answer without content: a refusal, a truncated answer,
// or an empty one.
type unanswered struct {
	why string
	cut bool
}

func (u *unanswered) Error() string { return u.why }

// answerIn returns a model's answer without its reasoning.
func (s Seat) answerIn(out *proviso.Output, c call) (string, error) {
	none := func(cut bool, format string, args ...any) (string, error) {
		return "", proviso.Errorf(proviso.Undecided, "%w", &unanswered{fmt.Sprintf(format, args...), cut})
	}
	text := ""
	switch out.Value.(type) {
	case nil, value.Undefined:
	default:
		text = out.Text()
	}
	if len(text) > maxReply {
		return "", proviso.Errorf(proviso.Limit, "the answer is longer than the %d MiB that are read", maxReply>>20)
	}
	switch {
	case out.Refused:
		return none(false, "it refused to answer: %s", shown(text))
	case tooShort(out.FinishReason):
		return none(true, "the reply was cut%s", s.cutAt(out.Usage.Completion, c.MaxTokens))
	case brokenOff(out.FinishReason):
		return none(false, "the reply was broken off%s", because(out.FinishReason))
	case strings.TrimSpace(text) == "":
		return none(false, "the answer is empty%s", because(out.FinishReason))
	}
	text, closed := WithoutThoughts(text)
	switch {
	case !closed:
		return none(true, "the reply was cut: it ends in the middle of the model's thoughts")
	case text == "":
		return none(false, "the answer is empty but for the model's thoughts")
	}
	return text, nil
}

// tooShort reports whether a finish reason, in any vendor's wording, means that the
// answer reached its length limit: length, MAX_TOKENS, model_context_window_exceeded.
func tooShort(finish string) bool {
	return reasonHolds(finish, "length", "max_tokens", "max_output_tokens", "max_new_tokens", "max_completion_tokens",
		"token_limit", "context_window", "truncated") || strings.EqualFold(finish, "limit")
}

// brokenOff reports whether a finish reason means that something other than the model
// ended the answer. The text so far may be a draft.
func brokenOff(finish string) bool {
	return reasonHolds(finish, "error", "abort", "cancel", "interrupt", "incomplete", "timeout", "time_limit", "insufficient",
		"filter", "safety", "recitation", "guardrail", "blocklist", "blocked", "prohibited", "sensitive", "malformed", "repetition", "pause_turn") ||
		strings.EqualFold(finish, "other")
}

// reasonHolds reports whether a finish reason contains one of words, in any case and with
// any separator.
func reasonHolds(finish string, words ...string) bool {
	finish = strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(finish))
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(finish, word) })
}

// cutAt describes the number of tokens at which an answer was truncated, if it is known,
// and the setting in the model's own configuration that caused it.
func (s Seat) cutAt(used int64, room int) string {
	name, text := s.bound(), ""
	switch {
	case used > 0:
		text = fmt.Sprintf(" at %d tokens", used)
	case name == "" && room > 0:
		text = fmt.Sprintf(" at %d tokens", room)
	}
	if name != "" {
		text += fmt.Sprintf(", by the limit of its configuration (%s: %s)", name, value.ToString(s.Spec.Config.At(name)))
	}
	return text
}

// bound returns the setting in the model's own configuration that limits the length of
// answers, or "".
func (s Seat) bound() string {
	for _, name := range limits {
		if s.Spec.Config.Has(name) {
			return name
		}
	}
	return ""
}

// because returns the finish reason for a message, unless it explains nothing.
func because(finish string) string {
	if finish == "" || finish == "stop" {
		return ""
	}
	return " (finish reason " + finish + ")"
}

// blame adds the name of the model to an error.
func (j *Judge) blame(s Seat, err error) error {
	var e *proviso.Error
	code := proviso.Unavailable
	switch {
	case errors.As(err, &e):
		code = e.Code
	case errors.Is(err, context.DeadlineExceeded):
		code = proviso.Timeout
	}
	// Errors of providers already begin with their id.
	return proviso.Because(err, code, "the judge %s: %s", j.label(s), strings.TrimPrefix(err.Error(), s.Provider.ID()+": "))
}

// shown shortens a model's text for use in a message.
func shown(text string) string {
	return strings.ToValidUTF8(excerpt.Line(text, 160), string(utf8.RuneError))
}

// limits are the names of settings that limit the length of an answer.
var limits = [...]string{"max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "maxTokens", "num_predict"}

// settings returns the settings that override the model's own configuration: temperature
// 0 unless another one is configured, and the length limit of the answer.
func (j *Judge) settings(s Seat, c call) *value.Object {
	cfg := value.NewObject(2)
	if t, ok := j.temperature(s); ok {
		cfg.Set("temperature", t)
	}
	if c.MaxTokens > 0 && s.bound() == "" {
		cfg.Set("max_tokens", float64(c.MaxTokens))
	}
	if cfg.Len() == 0 {
		return nil
	}
	return cfg
}

// temperature returns the temperature for a model; false leaves it to the model's own
// configuration.
func (j *Judge) temperature(s Seat) (float64, bool) {
	if j.o.Temperature != nil {
		return *j.o.Temperature, true
	}
	return 0, !s.Spec.Config.Has("temperature")
}

// label returns the name of the model for messages and reports, without secrets.
func (j *Judge) label(s Seat) string {
	switch {
	case s.Spec.Label != "":
		return s.Spec.Label
	case s.Spec.ID != "":
		return j.o.Providers.Public(s.Spec.ID)
	}
	return j.o.Providers.Public(s.Provider.ID())
}

// askFor makes a call and parses the reply with read. If there is no answer, or read
// fails, it repeats the call once: with twice the length limit if the answer was
// truncated, or with the reply and its mistake if there is a reply. The usable function
// of the call gets only replies that read can parse. The usage and cost of the answer
// cover both calls, with or without an error.
func askFor[T any](ctx context.Context, j *Judge, s Seat, c call, read func(text string) (T, error)) (T, answer, error) {
	var none T
	readable := func(text string) bool { _, err := read(text); return err == nil }
	settled := c.usable
	// An unreadable reply is cached, too: the repair call is based on it.
	c.usable = func(text string) bool { return !readable(text) || settled == nil || settled(text) }
	first, err := j.ask(ctx, s, c)
	var v T
	var nothing *unanswered
	wrong := err
	if err == nil {
		if v, wrong = read(first.Text); wrong == nil {
			return v, first, nil
		}
	} else if !errors.As(err, &nothing) {
		return none, first, err
	}
	again := c
	again.usable = func(text string) bool { return readable(text) && (settled == nil || settled(text)) }
	again.Sample.Repair++
	switch {
	case nothing == nil:
		again.Messages = append(slices.Clone(c.Messages), repairTurns(first.Text, wrong)...)
	case nothing.cut:
		again.MaxTokens = max(2*c.MaxTokens, replyFloor)
	}
	second, err := j.ask(ctx, s, again)
	first.add(second)
	if err != nil {
		if errors.As(err, &nothing) {
			err = proviso.Because(err, proviso.Undecided, "%s; it was asked twice", err)
		} else if nothing != nil {
			err = proviso.Because(err, codeOf(err), "%s; then, asked again: %s", nothing, err)
		}
		return none, first, err
	}
	v, err = read(second.Text)
	if err != nil {
		return none, first, j.blame(s, proviso.Errorf(proviso.Undecided, "the answer cannot be read, and neither can the second one: %w; it began: %s", err, shown(second.Text)))
	}
	first.Text = second.Text
	return v, first, nil
}

// repairTurns show a model its reply and the mistake in it. They omit the part of the
// error after a colon: it quotes the reply, which may contain a prompt injection.
func repairTurns(reply string, wrong error) []message {
	why, _, _ := strings.Cut(wrong.Error(), ": ")
	return []message{
		{"assistant", excerpt.Head(reply, maxQuoted)},
		{"user", strings.ReplaceAll(strings.TrimSpace(repairText), "{{why}}", why)},
	}
}

// maxQuoted is the length to which an unreadable reply is cut for the model, in bytes.
const maxQuoted = 16 << 10

// add adds the usage and cost of another call. The sum counts as cached only if both
// calls are.
func (a *answer) add(b answer) {
	a.Usage.Add(b.Usage)
	a.Cost += b.Cost
	a.Cached = a.Cached && b.Cached
}
