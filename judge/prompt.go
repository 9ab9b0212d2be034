package judge

import (
	_ "embed"
	"encoding/hex"
	"strconv"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
)

// The words of the judge. systemText is the same to the byte in every call, so
// that vendors find it in their caches; it is long enough for the caches that
// begin at 1,024 tokens.
var (
	//go:embed wording/system.txt
	systemText string
	//go:embed wording/closing.txt
	closingText string
	//go:embed wording/repair.txt
	repairText string
	//go:embed wording/canaries.txt
	canaryText string
)

// promptVersion identifies everything that proviso itself says to a judge.
var promptVersion = sync.OnceValue(func() string {
	return blobs.Key("judge prompt 1", systemText, closingText, repairText, canaryText, proviso.Stringify(replySchema()))
})

// PromptHash identifies the wording of the judge's prompt. Verdicts under
// different hashes are not comparable without a look.
func PromptHash() string { return promptVersion()[:12] }

// subject is what a judge looks at.
type subject struct{ input, output string }

// asked is an assertion as it stands in a call: some or all of its criteria.
type asked struct {
	id, instruction string
	ns              []int // numbers of criteria, from 1
	texts           []string
}

// compose words a call about the assertions in list. What changes least comes
// first: the system message is constant, then fence, input, output, assertions.
func compose(s subject, list []asked, sample proviso.Sample) []Message {
	assertions := assertionsJSON(list)
	fence := fenceFor(s.input, s.output, assertions, sample)
	var b strings.Builder
	b.Grow(len(s.input) + len(s.output) + len(assertions) + 512)
	b.WriteString("Fence: ")
	b.WriteString(fence)
	b.WriteString("\n")
	for _, part := range [...]struct{ name, text string }{{"input", s.input}, {"output", s.output}, {"assertions", assertions}} {
		b.WriteString("\n[" + fence + " begin " + part.name + "]\n")
		b.WriteString(part.text)
		b.WriteString("\n[" + fence + " end " + part.name + "]\n")
	}
	b.WriteString("\n" + strings.TrimSpace(closingText))
	return []Message{{"system", strings.TrimSpace(systemText)}, {"user", b.String()}}
}

// assertionsJSON writes assertions one to a line.
func assertionsJSON(list []asked) string {
	b := []byte("[")
	for i, a := range list {
		if i > 0 {
			b = append(b, ",\n "...)
		}
		criteria := make([]any, len(a.ns))
		for k, n := range a.ns {
			criteria[k] = proviso.ObjectOf("n", float64(n), "text", a.texts[k])
		}
		o := proviso.ObjectOf("id", a.id)
		if a.instruction != "" {
			o.Set("instruction", a.instruction)
		}
		o.Set("criteria", criteria)
		b = proviso.AppendJSON(b, o)
	}
	return string(append(b, ']'))
}

// fenceFor returns 128 bits that no part of the message contains: a hash of all
// of it, which no text can contain on purpose, and a counter against chance. It
// is the same whenever the same is asked, so that calls can be replayed.
func fenceFor(input, output, assertions string, sample proviso.Sample) string {
	parts := []string{"fence 1", promptVersion(), input, output, assertions, sampleText(sample)}
	return freeFence(parts, input, output, assertions)
}

// Fence returns 32 hexadecimal digits that none of contents holds, for the marks
// around material that a model is shown and must not take for instructions. They
// are derived from key, which has to hold all of contents and what tells this call
// from others, so that the same call is always marked the same way.
func Fence(key []string, contents ...string) string { return freeFence(key, contents...) }

// freeFence derives a fence from parts, and another as long as one of contents
// holds it.
func freeFence(parts []string, contents ...string) string {
	for counter := 0; ; counter++ {
		key := blobs.Key(append(parts[:len(parts):len(parts)], strconv.Itoa(counter))...)
		fence := key[:hex.EncodedLen(16)]
		if !anyContains(contents, fence) && !anyContains(contents, strings.ToUpper(fence)) {
			return fence
		}
	}
}

func anyContains(texts []string, s string) bool {
	for _, text := range texts {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// sampleText writes a sample for hashes.
func sampleText(s proviso.Sample) string {
	return strconv.Itoa(s.Repeat) + "." + strconv.Itoa(s.Vote) + "." + strconv.Itoa(s.Repair)
}

// replySchema is the shape of a reply. It is the same in every call.
var replySchema = sync.OnceValue(func() *proviso.Object {
	criterion := strictObject("n", ofType("integer"), "reasoning", ofType("string"), "evidence", listOf(ofType("string")), "met", ofType("boolean"))
	result := strictObject("id", ofType("string"), "criteria", listOf(criterion))
	return strictObject("results", listOf(result))
})
