package suite

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// assertions decodes a list of assertions and records its mistakes. Assertions with
// mistakes are kept as broken, so that further mistakes in them are found.
func (r *reading) assertions(doc *document.Document, pointer string, v any) []*proviso.Assertion {
	return r.decoder(doc).List(r.at(doc, pointer), v)
}

// decoder returns a decoder for a document. It records mistakes right away.
func (r *reading) decoder(doc *document.Document) *decoder {
	d := &decoder{facts: r.options.Facts, trust: r.trust, files: r.files, load: r.yaml}
	d.Decoder = assertion.Decoder{Lenient: r.promptfoo, Owner: d, Report: r.recordIn(doc)}
	return d
}

// decoder turns the objects of a suite into assertions and cases. Unknown keys are
// warnings in a suite of promptfoo's shape.
type decoder struct {
	assertion.Decoder
	facts     proviso.Facts
	trust     *Trust                                        // limits of an untrusted suite
	files     *Files                                        // files that it may read
	load      func(name string) (*document.Document, error) // reads a file of the suite; nil if there is none
	providers map[string]any                                // files that were read, by name
}

// Redact implements [assertion.Owner].
func (d *decoder) Redact(o *value.Object) *value.Object { return redact(d.facts.Types, o) }

// Guard implements [assertion.Owner].
func (d *decoder) Guard(at string, o *value.Object) { d.guard().assertion(at, o) }

// Provider implements [assertion.Owner]. The type checks values that are not texts.
func (d *decoder) Provider(at string, v any) any {
	if name, ok := v.(string); ok {
		return d.providerRef(at, name)
	}
	return v
}

// IsType implements [assertion.Owner].
func (d *decoder) IsType(name string) bool { return d.facts.Types.Of(name) != nil }

// TypeOf implements [assertion.Owner].
func (d *decoder) TypeOf(text string) string {
	name, _ := Cells(d.facts.Types).parseTyped(text).At("type").(string)
	return name
}
