package suite

// KeyDoc is the manual entry of one key of a suite file.
type KeyDoc struct {
	Object string // the object that has the key: "suite", "prompt", …
	Key    string
	Kind   string // the kinds of value that it accepts
	Doc    string
	State  string // "" if it is supported, else "ignored" or "unsupported"
}

// KeyDocs returns the keys of a suite file, sorted within their objects, from the
// tables that also check them. Keys of cases and assertions are not included.
func KeyDocs() []KeyDoc {
	var all []KeyDoc
	for _, t := range [...]struct {
		object string
		rows   []keyRow
	}{
		{"suite", suiteKeys()},
		{"evaluateOptions", evaluateKeys()},
		{"commandLineOptions", commandLineKeys()},
		{"prompt", promptKeys()},
		{"provider", providerKeys()},
		{"judge", judgeKeys()},
		{"derived metric", derivedKeys()},
		{"repeat", repeatKeys()},
		{"sandbox", sandboxKeys()},
		{"tracing", tracingKeys()},
		{"tracing.otlp.http", receiverKeys()},
		{"tracing.forwarding", endpointKeys()},
	} {
		for _, row := range t.rows {
			if row.Support == wrong {
				continue
			}
			state := [...]string{supported: "", ignored: "ignored", unsupported: "unsupported"}[row.Support]
			all = append(all, KeyDoc{t.object, row.Key, row.Kind.String(), row.Doc, state})
		}
	}
	return all
}
