package judge

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
)

// canary is an assertion that is known to fail: it requires a word that the output cannot
// contain. If the judge passes it, a prompt injection probably succeeded, and all
// verdicts of the same call are discarded. Wording, word and position are derived from a
// hash of the call, so that calls can be replayed and an output cannot predict them.
type canary struct {
	asked
	at int // position among the assertions of the call
}

// addCanary inserts a canary among the assertions of a call.
func addCanary(s subject, list []asked, sample proviso.Sample) ([]asked, canary) {
	seed := func(counter int) []byte {
		parts := append([]string{"canary 1", promptVersion()}, s.key()...)
		key := blobs.Key(append(parts, assertionsJSON(list), sampleText(sample), strconv.Itoa(counter))...)
		raw, _ := hex.DecodeString(key) // a key is hexadecimal
		return raw
	}
	raw := seed(0)
	token := word(raw)
	for counter := 1; anyContains(s.texts(), token); counter++ {
		raw = seed(counter)
		token = word(raw)
	}
	forms := strings.Split(strings.TrimSpace(canaryText), "\n")
	form := strings.Split(forms[below(raw[0:4], len(forms))], "|")
	for i := range form {
		form[i] = strings.ReplaceAll(strings.TrimSpace(form[i]), "{{token}}", token)
	}
	c := canary{at: below(raw[4:8], len(list)+1)}
	c.asked = asked{id: uniqueID(form[0], list), instruction: form[1], ns: []int{1}, texts: []string{form[2]}}
	return slices.Insert(slices.Clone(list), c.at, c.asked), c
}

// word makes a nonsense word of six syllables from the bytes of a hash. There are about
// 10^11 such words, so that an output does not contain one by chance.
func word(raw []byte) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var b strings.Builder
	for i := range 6 {
		b.WriteByte(consonants[int(raw[8+2*i])%len(consonants)])
		b.WriteByte(vowels[int(raw[9+2*i])%len(vowels)])
	}
	return strings.ToUpper(b.String()[:1]) + b.String()[1:]
}

// below reduces four bytes to a number below n.
func below(raw []byte, n int) int { return int(binary.BigEndian.Uint32(raw) % uint32(n)) }

// uniqueID returns id, with a number appended if an assertion of list has that id.
func uniqueID(id string, list []asked) string {
	taken := func(id string) bool { return slices.ContainsFunc(list, func(a asked) bool { return a.id == id }) }
	unique := id
	for n := 2; taken(unique); n++ {
		unique = id + "-" + strconv.Itoa(n)
	}
	return unique
}
