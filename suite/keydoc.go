package suite

import "github.com/proviso-eval/proviso/internal/kind"

// KeyDoc is the manual entry of one key of a suite file.
type KeyDoc struct {
	Object string // the object that has the key: "suite", "prompt", …
	Key    string
	Kind   kind.Set // the kinds of value that it accepts
	Doc    string
	State  string // "" if it is supported, else [KeyIgnored] or [KeyUnsupported]
	Own    bool   // not a key of promptfoo
	Beside string // for unsupported: the key next to which it is ignored in a suite of promptfoo's shape, or ""
}

// The states of a key that has no effect: a warning, and an error.
const (
	KeyIgnored     = "ignored"
	KeyUnsupported = "unsupported"
)

// KeyDocs returns the keys of a suite file, in the order of the tables that also check
// them. Keys of assertions are those of package internal/assertion.
func KeyDocs() []KeyDoc {
	var all []KeyDoc
	for _, t := range [...]struct {
		object string
		rows   []keyRow
	}{
		{"suite", suiteKeys()},
		{"evaluateOptions", evaluateKeys()},
		{"commandLineOptions", commandLineKeys()},
		{"case", caseKeys()},
		{"options", optionKeys()},
		{"scenario", scenarioKeys()},
		{"prompt", promptKeys()},
		{"provider", providerKeys()},
		{"judge", judgeKeys()},
		{"derived metric", derivedKeys()},
		{"repeat", repeatKeys()},
		{"gate", gateKeys()},
		{"gate.assertions", gateAssertionKeys()},
		{"gate.cost", gateCostKeys()},
		{"gate.latency", gateLatencyKeys()},
		{"sandbox", sandboxKeys()},
		{"tracing", tracingKeys()},
		{"tracing.otlp", otlpKeys()},
		{"tracing.otlp.http", receiverKeys()},
		{"tracing.forwarding", endpointKeys()},
	} {
		for _, row := range t.rows {
			if row.Support == wrong {
				continue
			}
			state := [...]string{supported: "", ignored: KeyIgnored, unsupported: KeyUnsupported}[row.Support]
			all = append(all, KeyDoc{t.object, row.Key, row.Kind, row.Doc, state, row.Own, row.Beside})
		}
	}
	return all
}
