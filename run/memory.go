package run

import (
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
)

// memory is what one row leaves for later ones: the turns of conversations and
// the outputs that cases store. Where a suite uses it, rows run one at a time, in
// order.
type memory struct {
	run string // id of the run

	mu     sync.Mutex
	turns  map[string][]any
	stored *proviso.Object
}

func newMemory(run string) *memory {
	return &memory{run: run, turns: map[string][]any{}, stored: proviso.NewObject(0)}
}

// conversational reports whether a prompt looks at what was said before.
func conversational(raw string) bool { return strings.Contains(raw, "_conversation") }

// builtin reports whether a prompt uses a variable that the run itself sets.
func builtin(raw string) bool {
	return strings.Contains(raw, "__evalId") || strings.Contains(raw, "__evalStepId") || strings.Contains(raw, "__repeatIndex")
}

// extend adds to vars what the row may see: stored outputs under the case's own
// variables, the conversation, and the variables that the run sets.
func (m *memory) extend(vars *proviso.Object, pc *prepared, col *column) *proviso.Object {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stored.Len() == 0 && !col.conversation && !col.builtin {
		return vars
	}
	out := m.stored.Clone()
	for name, v := range vars.All() {
		out.Set(name, v)
	}
	if col.conversation && !has(pc.Options.Extra, "disableConversationVar") {
		out.Set("_conversation", append([]any{}, m.turns[conversation(pc, col)]...))
	}
	if col.builtin {
		out.Set("__evalId", m.run)
		out.Set("__evalStepId", m.run+"/"+pc.ID)
		out.Set("__repeatIndex", float64(pc.Repeat))
	}
	return out
}

// foreign returns the names of variables that a model wrote. They are put into
// templates and are never templates themselves: an answer must not read the
// environment, or the other variables, by what it says.
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

func has(o *proviso.Object, key string) bool { return proviso.Truthy(o.At(key)) }

// conversation names the conversation that a row belongs to.
func conversation(pc *prepared, col *column) string {
	id, _ := pc.Metadata.At("conversationId").(string)
	return strings.Join([]string{col.spec.Name(), col.prompt.ID, col.prompt.Label, id}, "\x00")
}

// remember keeps what later rows may see of a finished row.
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
	turn := proviso.ObjectOf("prompt", chat(res.Rendered), "input", lastMessage(res.Rendered), "output", res.Output.Value)
	if res.Output.Metadata != nil {
		turn.Set("metadata", res.Output.Metadata)
	}
	m.turns[key] = append(m.turns[key], turn)
}

// chat returns a prompt that is JSON as the value it is.
func chat(prompt string) any {
	if v, ok := jsonPrompt(prompt); ok {
		return v
	}
	return prompt
}

// lastMessage is what the user said: the text of the last message of a chat, or
// the prompt itself.
func lastMessage(prompt string) any {
	list, ok := chat(prompt).([]any)
	if !ok || len(list) == 0 {
		return prompt
	}
	o, ok := list[len(list)-1].(*proviso.Object)
	if !ok || !o.Has("content") {
		return prompt
	}
	return o.At("content")
}
