package spade

import (
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/value"
)

// maxSuiteCases bounds the cases of a suite, in bytes of outputs and variables.
const maxSuiteCases = 8 << 20

// WholeSuite holds the parts of a suite that checks a prompt.
type WholeSuite struct {
	Description string
	Prompt      string
	// Providers produce the outputs. Without any, cases have the tried outputs, so that the
	// suite runs without a model.
	Providers  []string
	Assertions []byte // YAML with the member assertions, such as [Result.Suite]
	Cases      []trial.Trial
}

// YAML writes the suite. Texts from runs stay data: a case with a variable that a suite would
// treat as a template or a file name is left out and counted.
func (f *WholeSuite) YAML() []byte {
	var y format.YAML
	y.Comment("", "Run it with: proviso eval -c suite.yaml")
	if len(f.Providers) == 0 {
		y.Comment("", "Cases have the outputs that were tried. To ask a model, name it under providers, and remove providerOutput.")
	}
	y.Member("", "", "description", f.Description)
	y.WriteString("prompts:\n")
	y.Item("  ", value.ObjectOf("raw", asText(f.Prompt), "label", "prompt"))
	providers := make([]any, 0, len(f.Providers))
	for _, id := range f.Providers {
		providers = append(providers, id)
	}
	if len(providers) == 0 {
		providers = append(providers, "echo")
	}
	y.Member("", "", "providers", providers)
	y.Write(f.Assertions)
	f.cases(&y)
	return y.Bytes()
}

// cases writes the cases. Cases with the same variables are merged if a model is asked.
func (f *WholeSuite) cases(y *format.YAML) {
	seen, size, written, left, beyond := map[string]bool{}, 0, 0, 0, 0
	for i := range f.Cases {
		t := &f.Cases[i]
		vars := value.Stringify(t.Vars)
		switch {
		case !isData(t.Vars):
			left++
			continue
		case len(f.Providers) > 0 && seen[vars]:
			continue
		case size+len(vars)+len(t.Text()) > maxSuiteCases:
			beyond++
			continue
		}
		seen[vars] = true
		size += len(vars)
		if written++; written == 1 {
			y.WriteString("tests:\n")
		}
		one := value.ObjectOf("description", described(t))
		if t.Vars.Len() > 0 {
			one.Set("vars", t.Vars)
		}
		if hasList(t.Vars) {
			one.Set("options", value.ObjectOf("disableVarExpansion", true)) // otherwise a list makes a row of each entry
		}
		if len(f.Providers) == 0 {
			one.Set("providerOutput", t.Text())
			size += len(t.Text())
		}
		y.Item("  ", one)
	}
	if written == 0 {
		y.Comment("", "Add cases: tests: [{vars: {question: …}}]")
	}
	if left > 0 {
		y.Comment("", fmt.Sprintf("Left out: %s with a variable that a suite would read as a template or as the name of a file.", plural.Of(left, "output")))
	}
	if beyond > 0 {
		y.Comment("", fmt.Sprintf("Left out: %s beyond %d MiB.", plural.Of(beyond, "output"), maxSuiteCases>>20))
	}
}

func described(t *trial.Trial) string {
	switch t.Label {
	case "1":
		return t.ID + ", labelled good"
	case "0":
		return t.ID + ", labelled bad"
	}
	return t.ID
}

// asText keeps a prompt from being treated as the name of a file or of a program.
func asText(prompt string) string {
	named := !strings.ContainsAny(prompt, "\n\r") && strings.ContainsAny(prompt, `/\*.`)
	for _, prefix := range [...]string{"file://", "exec:", "langfuse://", "portkey://", "helicone://"} {
		named = named || strings.HasPrefix(prompt, prefix)
	}
	if !named || strings.HasPrefix(prompt, "{") {
		return prompt
	}
	return "{% raw %}{% endraw %}" + prompt
}

// isData reports whether a suite treats a value as data: not as a template or a reference.
func isData(v any) bool {
	switch v := v.(type) {
	case string:
		return !strings.Contains(v, "{{") && !strings.Contains(v, "{%") && !strings.Contains(v, "{#") && !strings.HasPrefix(v, "file://") && !strings.HasPrefix(v, "package:")
	case []any:
		for _, e := range v {
			if !isData(e) {
				return false
			}
		}
	case *value.Object:
		for key, e := range v.All() {
			if !isData(key) || !isData(e) {
				return false
			}
		}
	}
	return true
}

func hasList(vars *value.Object) bool {
	for _, v := range vars.All() {
		if _, ok := v.([]any); ok {
			return true
		}
	}
	return false
}
