package runs

import (
	"slices"
	"testing"

	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/value"
)

// TestColumnsOf: changing a prompt's text does not change its name.
func TestColumnsOf(t *testing.T) {
	t.Parallel()
	prompt := func(label, raw string) any {
		return value.ObjectOf("promptLabel", label, "promptRaw", raw, "providerId", "echo")
	}
	got := columnsOf(value.ObjectOf("columns", []any{
		prompt("Hi {{x}}", "Hi {{x}}"), prompt("Hi {{x}}", "Hi {{x}}"), prompt("Bye", "Bye"), prompt("", "third"),
		prompt("p.txt: Dear\n{{x}}", "Dear\n{{x}}"), prompt("p.txt: Hello", "Hello"), prompt("q.md: # Title...", "# Title\nand more"),
		prompt("short: mine", "Dear"), prompt("a: b.txt: Hey", "Hey"),
	}))
	want := []string{"prompt 1", "prompt 1", "prompt 2", "prompt 3", "p.txt", "p.txt 2", "q.md", "short: mine", "a: b.txt"}
	if !slices.EqualFunc(got, want, func(c gate.Column, name string) bool { return c.Prompt == name }) {
		t.Errorf("%q", got)
	}
}
