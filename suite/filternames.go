package suite

import (
	"strings"

	"github.com/proviso-eval/proviso"
)

// nameable is something that a case's filter can name.
type nameable struct{ id, label string }

func nameOfPrompt(p proviso.Prompt) nameable { return nameable{p.ID, p.Label} }

func nameOfProvider(p proviso.ProviderSpec) nameable { return nameable{p.ID, p.Label} }

func namesOf[T any](list []T, nameOf func(T) nameable) []nameable {
	out := make([]nameable, len(list))
	for i, e := range list {
		out[i] = nameOf(e)
	}
	return out
}

func matchesAny(pattern string, known []nameable) bool {
	for _, k := range known {
		if MatchName(pattern, k.id) || MatchName(pattern, k.label) {
			return true
		}
	}
	return false
}

// validNames returns the short names that would match.
func validNames(known []nameable) []string {
	var out []string
	for _, k := range known {
		for _, name := range [...]string{k.label, k.id} {
			if name != "" && len(name) < 80 && !strings.Contains(name, "\n") {
				out = append(out, name)
				break
			}
		}
	}
	return out
}

// MatchName reports whether a name in a case's `prompts` or `providers` matches the
// label or id of a prompt or provider: the same text, a beginning that ends at a
// colon ("openai" for "openai:gpt-5"), or a pattern in which * is any text.
func MatchName(pattern, name string) bool {
	if pattern == name {
		return name != ""
	}
	head, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern != "" && strings.HasPrefix(name, pattern) && strings.HasPrefix(name[len(pattern):], ":")
	}
	if !strings.HasPrefix(name, head) {
		return false
	}
	name = name[len(head):]
	for {
		part, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(name, part)
		}
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name, rest = name[i+len(part):], after
	}
}
