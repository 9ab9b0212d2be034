package run

import (
	"strconv"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// memory holds data that rows leave for later ones: the turns of conversations and the outputs
// that cases store. If a suite uses it, rows run one at a time, in order.
type memory struct {
	run string // id of the run

	mu     sync.Mutex
	turns  map[string][]any
	stored *value.Object
}

func newMemory(run string) *memory {
	return &memory{run: run, turns: map[string][]any{}, stored: value.NewObject(0)}
}

// conversational reports whether a prompt uses the earlier turns of a
// conversation.
func conversational(raw string) bool { return strings.Contains(raw, "_conversation") }

// extend adds the conversation and stored outputs to vars. Stored outputs
// replace the case's own variables.
func (m *memory) extend(vars *value.Object, pc *prepared, col *column) *value.Object {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stored.Len() == 0 && !col.conversation {
		return vars
	}
	out := vars.Clone().OrEmpty()
	if col.conversation && !has(pc.Options.Extra, "disableConversationVar") {
		out.Set("_conversation", append([]any{}, m.turns[conversation(pc, col)]...))
	}
	for name, v := range m.stored.All() {
		out.Set(name, v)
	}
	return out
}

// ownVars are the variables that a run sets for each row. Prompts and code see them. Assertions
// and reports do not, because the values differ between runs.
type ownVars struct {
	run                  string
	test, prompt, repeat int
	// foreign are the names of variables with values from a model.
	foreign map[string]bool
}

// Names of the variables that a run sets.
const (
	evalID      = proviso.EvalID
	evalStepID  = "__evalStepId"
	repeatIndex = "__repeatIndex"
)

// own returns the variables that the run sets for a row.
func (m *memory) own(pc *prepared, col *column) ownVars {
	return ownVars{run: m.run, test: pc.Index, prompt: col.index, repeat: pc.Repeat, foreign: m.foreign(pc)}
}

// over returns vars overlaid with those of the run.
func (o ownVars) over(vars *value.Object) *value.Object {
	return over(vars, o.vars())
}

// vars are the variables of the run alone.
func (o ownVars) vars() *value.Object {
	step := "test-" + strconv.Itoa(o.test) + "-prompt-" + strconv.Itoa(o.prompt) + "-repeat-" + strconv.Itoa(o.repeat)
	return value.ObjectOf(evalID, o.run, evalStepID, step, repeatIndex, float64(o.repeat))
}

// without returns vars without those of the run.
func (o ownVars) without(vars *value.Object) *value.Object {
	out := vars
	for _, name := range [...]string{evalID, evalStepID, repeatIndex} {
		if !vars.Has(name) {
			continue
		}
		if out == vars {
			out = vars.Clone()
		}
		out.Delete(name)
	}
	return out
}

// usedBy reports whether a prompt or a text in vars may name a variable of the run.
func (o ownVars) usedBy(raw string, vars *value.Object) bool {
	const sign = "__"
	if strings.Contains(raw, sign) {
		return true
	}
	for name, v := range vars.All() {
		if text, ok := v.(string); strings.HasPrefix(name, sign) || ok && strings.Contains(text, sign) && strings.Contains(text, "{") {
			return true
		}
	}
	return false
}

// foreign returns the names of variables with values from a model. They are inserted into
// templates but are never templates themselves, because an answer must not read the environment
// or other variables.
func (m *memory) foreign(pc *prepared) map[string]bool {
	if pc.Options.DisableTemplates {
		names := map[string]bool{}
		for _, name := range pc.Vars.Keys() {
			names[name] = true
		}
		return names
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stored.Len() == 0 && len(m.turns) == 0 {
		return nil
	}
	names := map[string]bool{"_conversation": true}
	for _, name := range m.stored.Keys() {
		names[name] = true
	}
	return names
}

func has(o *value.Object, key string) bool { return value.Truthy(o.At(key)) }

// conversation is the key of a row's conversation.
func conversation(pc *prepared, col *column) string {
	id, _ := pc.Metadata.At("conversationId").(string)
	return strings.Join([]string{col.spec.Name(), col.prompt.ID, col.prompt.Label, id}, "\x00")
}

// remember keeps the parts of a finished row that later rows may see.
func (m *memory) remember(pc *prepared, col *column, res *proviso.Result) {
	if !col.conversation && pc.Options.StoreOutputAs == "" || noOutput(res.Output.Value) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if name := pc.Options.StoreOutputAs; name != "" {
		m.stored.Set(name, res.Output.Value)
	}
	if !col.conversation {
		return
	}
	key := conversation(pc, col)
	turn := value.ObjectOf("prompt", chat(res.Rendered), "input", lastMessage(res.Rendered), "output", res.Output.Value)
	if res.Output.Metadata != nil {
		turn.Set("metadata", res.Output.Metadata)
	}
	m.turns[key] = append(m.turns[key], turn)
}

// chat returns a JSON prompt as a value, and any other prompt as text.
func chat(prompt string) any {
	if v, ok := jsonPrompt(prompt); ok {
		return v
	}
	return prompt
}

// lastMessage returns the user's message: the text of the last message of a chat, or the prompt
// itself.
func lastMessage(prompt string) any {
	list, ok := chat(prompt).([]any)
	if !ok || len(list) == 0 {
		return prompt
	}
	o, ok := list[len(list)-1].(*value.Object)
	if !ok || !o.Has("content") {
		return prompt
	}
	return o.At("content")
}
