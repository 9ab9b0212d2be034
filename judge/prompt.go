package judge

import (
	_ "embed"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/shape"
	"github.com/proviso-eval/proviso/value"
)

// The texts of the judge's prompt. systemText is identical in every call, so that
// vendors can cache it; it is long enough for caches with a minimum of 1,024 tokens.
var (
	//go:embed wording/system.txt
	systemText string
	//go:embed wording/closing.txt
	closingText string
	//go:embed wording/repair.txt
	repairText string
	//go:embed wording/canaries.txt
	canaryText string
	// backgroundText follows systemText in calls with a context. Calls without one are as
	// if there were no such thing.
	//go:embed wording/background.txt
	backgroundText string
)

// promptVersion is a hash of proviso's own texts in the prompt, except backgroundText.
var promptVersion = sync.OnceValue(func() string {
	return blobs.Key("judge prompt 2", systemText, closingText, repairText, canaryText, value.Stringify(replySchema()))
})

// subject is what a judge evaluates.
type subject struct {
	input, output string
	context       string // "" if there is none
}

// texts returns the texts to judge or to consult.
func (s *subject) texts() []string {
	if s.context == "" {
		return []string{s.input, s.output}
	}
	return []string{s.input, s.output, s.context}
}

// key returns the hash parts that identify the subject.
func (s *subject) key() []string {
	if s.context == "" {
		return []string{s.input, s.output}
	}
	return []string{s.input, s.output, "context 1", backgroundText, s.context}
}

// system returns the system message.
func (s *subject) system() string {
	if s.context == "" {
		return strings.TrimSpace(systemText)
	}
	return strings.TrimSpace(systemText) + "\n\n" + strings.TrimSpace(backgroundText)
}

// asked is an assertion as part of a call, with some or all of its criteria.
type asked struct {
	id, instruction string
	ns              []int // numbers of criteria in this call, from 1
	texts           []string
	values          *value.Object // values of the {{markers}} in instruction and texts
	negated         bool          // the assertion passes if its criteria are not all met
}

// compose writes the messages of a call about the assertions in list. The parts that most
// calls share come first, so that vendors can cache them: the system message is constant;
// fence, input, context and output are the same in all calls about one output; variables,
// assertions and sample are specific to this call. shared is the number of leading bytes
// of the last message that all calls about the subject have in common.
func compose(s subject, list []asked, sample proviso.Sample) (messages []message, shared int) {
	assertions, variables := assertionsJSON(list), variablesJSON(list)
	fence := fenceFor(s, variables, assertions)
	var b strings.Builder
	b.Grow(len(s.input) + len(s.context) + len(s.output) + len(variables) + len(assertions) + 768)
	b.WriteString("Fence: ")
	b.WriteString(fence)
	b.WriteString("\n")
	for _, part := range [...]struct{ name, text string }{{"input", s.input}, {"context", s.context}, {"output", s.output}, {"variables", variables}, {"assertions", assertions}} {
		if (part.name == "variables" || part.name == "context") && part.text == "" {
			continue
		}
		b.WriteString("\n[" + fence + " begin " + part.name + "]\n")
		b.WriteString(part.text)
		b.WriteString("\n[" + fence + " end " + part.name + "]\n")
		if part.name == "output" {
			shared = b.Len()
		}
	}
	if sample != (proviso.Sample{}) {
		b.WriteString("\nSample: " + sampleText(sample) + "\n")
	}
	b.WriteString("\n" + strings.TrimSpace(closingText))
	return []message{{"system", s.system()}, {"user", b.String()}}, shared
}

// assertionsJSON writes assertions, one per line.
func assertionsJSON(list []asked) string {
	b := []byte("[")
	for i, a := range list {
		if i > 0 {
			b = append(b, ",\n "...)
		}
		criteria := make([]any, len(a.ns))
		for k, n := range a.ns {
			criteria[k] = value.ObjectOf("n", float64(n), "text", a.texts[k])
		}
		o := value.ObjectOf("id", a.id)
		o.SetText("instruction", a.instruction)
		o.Set("criteria", criteria)
		b = value.AppendJSON(b, o)
	}
	return string(append(b, ']'))
}

// variablesJSON writes the marker values of a call's assertions, sorted by name; "" if
// there are none. Markers with the same name have the same value in all assertions (see
// [session.nameValues]).
func variablesJSON(list []asked) string {
	all := map[string]any{}
	for _, a := range list {
		maps.Insert(all, a.values.All())
	}
	if len(all) == 0 {
		return ""
	}
	o := value.NewObject(len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		o.Set(name, all[name])
	}
	return value.Stringify(o)
}

// fenceFor returns 128 bits that no part of the message contains: a hash of input,
// context and output, so that these cannot contain it on purpose. All calls about one
// output share it, and thus the beginning of the message. If variables or assertions
// contain it, the fence is a hash of all parts instead.
func fenceFor(s subject, variables, assertions string) string {
	parts := append([]string{"fence 2", promptVersion()}, s.key()...)
	fence := Fence(parts, s.texts()...)
	if contains(fence, variables, assertions) {
		fence = Fence(append(parts, variables, assertions), append(s.texts(), variables, assertions)...)
	}
	return fence
}

// FenceOf returns the fence of a call about an output, provided that the assertions do
// not contain it. Tests use it to attack a judge whose prompt is known.
func FenceOf(input, output string) string {
	return fenceFor(subject{input: input, output: output}, "", "")
}

// Fence returns 32 hexadecimal digits that do not occur in contents. They delimit
// material that a model must not treat as instructions. Fence derives them from key,
// which must include all contents and everything that distinguishes this call from
// others, so that equal calls get equal marks.
func Fence(key []string, contents ...string) string {
	for counter := 0; ; counter++ {
		hash := blobs.Key(append(key[:len(key):len(key)], strconv.Itoa(counter))...)
		fence := hash[:hex.EncodedLen(16)]
		if !contains(fence, contents...) {
			return fence
		}
	}
}

// contains reports whether one of contents contains a fence in lower or upper case.
func contains(fence string, contents ...string) bool {
	return anyContains(contents, fence) || anyContains(contents, strings.ToUpper(fence))
}

func anyContains(texts []string, s string) bool {
	for _, text := range texts {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// sampleText formats a sample for hashes.
func sampleText(s proviso.Sample) string {
	return strconv.Itoa(s.Repeat) + "." + strconv.Itoa(s.Vote) + "." + strconv.Itoa(s.Repair)
}

// The verdicts that a judge can give on a criterion.
const (
	verdictMet        = "met"
	verdictNotMet     = "not_met"
	verdictCannotTell = "cannot_tell"
)

// replySchema is the schema of a reply, the same in every call.
var replySchema = sync.OnceValue(func() *value.Object {
	n := value.ObjectOf("type", "integer", "minimum", 1.0)
	verdict := shape.Enum(verdictMet, verdictNotMet, verdictCannotTell)
	criterion := shape.Object("n", n, "evidence", shape.List(shape.Of("string")), "reasoning", shape.Of("string"), "verdict", verdict)
	result := shape.Object("id", shape.Of("string"), "criteria", shape.List(criterion))
	return shape.Object("results", shape.List(result))
})

// A variable's value may contain a prompt injection. So it is never inserted into the
// text of a criterion or an instruction: the text keeps a marker such as {{name}}, and
// the value is in a separate part of the prompt, which the judge must treat as material.

// validValues returns values as valid UTF-8 texts for a call.
func validValues(values *value.Object) *value.Object {
	if values.Len() == 0 {
		return nil
	}
	o := value.NewObject(values.Len())
	for name, v := range values.All() {
		o.Set(validText(name), validText(value.ToString(v)))
	}
	return o
}

func validText(text string) string { return strings.ToValidUTF8(text, string(utf8.RuneError)) }

// nameValues renames markers if two assertions of the session use the same name for
// different values, such as the variable of two loops.
func (s *session) nameValues() {
	all := value.NewObject(0)
	for n := range s.items {
		it := &s.items[n]
		if it.values.Len() == 0 {
			continue
		}
		named, rename := check.Distinct(it.values, all)
		it.values, it.instruction = named, rename.Replace(it.instruction)
		for k, text := range it.texts {
			it.texts[k] = rename.Replace(text)
		}
	}
}
