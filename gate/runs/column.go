package runs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/value"
)

// headerColumns returns the columns in a run's header.
func headerColumns(meta *value.Object) []*value.Object {
	list, _ := meta.At("columns").([]any)
	columns := make([]*value.Object, len(list))
	for i, v := range list {
		columns[i], _ = v.(*value.Object)
	}
	return columns
}

// columnsOf returns the labels of the columns. A prompt without a label of its own is
// labelled by its text, or by its file followed by the text. A comparison would then take
// a changed prompt for a different one, so columnsOf uses the file instead, or otherwise
// a number.
func columnsOf(meta *value.Object) []gate.Column {
	texts := map[string][]string{} // prompt texts by name
	var columns []gate.Column
	for _, o := range headerColumns(meta) {
		label, raw := o.Text("promptLabel"), o.Text("promptRaw")
		if name, made := withoutText(label, raw); made {
			n := slices.Index(texts[name], raw)
			if n < 0 {
				n = len(texts[name])
				texts[name] = append(texts[name], raw)
			}
			if label = name; n > 0 || name == "prompt" {
				label = fmt.Sprintf("%s %d", name, n+1)
			}
		}
		columns = append(columns, gate.Column{Prompt: label, Provider: cmp.Or(o.Text("providerLabel"), o.Text("providerId"))})
	}
	return columns
}

// withoutText returns the name of a prompt whose label was generated from its text.
func withoutText(label, raw string) (name string, made bool) {
	if label == raw || label == "" {
		return "prompt", true
	}
	for i := range label {
		rest, ok := strings.CutPrefix(label[i:], ": ")
		if !ok || i == 0 {
			continue
		}
		if text := strings.TrimSuffix(rest, "..."); text != "" && strings.HasPrefix(raw, text) {
			return label[:i], true
		}
	}
	return label, false
}
