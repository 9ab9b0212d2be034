package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Meta is the data of a run besides its rows, for reports.
type Meta struct {
	RunID   string
	Version string // of proviso
	Suite   string // its description, or else its file name
	Started time.Time
	Elapsed time.Duration
	Config  *value.Object // the suite as read, without secrets; nil if unknown
	Columns []Column      // prompts × providers, by [proviso.Result.PromptIdx]
	RunFile string        // where the run is stored; "" if it is not
	Planned int           // rows of the complete run; 0 if unknown
	Types   proviso.Types // how they compare, so that a report can mark what differs; without it nothing is marked
	Folder  string        // of the suite, where the human labels for its judges are stored; "" if unknown

	// Place returns the file and the line, from 1, of an assertion of a case, as in the
	// repository; "" if they are unknown. The assertion has the form of
	// [AssertionJSON]; nil means the case as a whole. It may be nil.
	Place func(test int, assertion []byte) (file string, line int)

	On string // the address of the run on the server that executes it; "" if it ran here

	Revision Revision // of the repository that the suite is in
	Hashes   Hashes   // of the input

	// Trust returns the agreement of a judge, by its identity, with human labels for
	// an assertion, by its id and its form in the row. It may be nil.
	Trust func(judge, assertion string, raw *value.Object) Trust

	// Decision is what a gate decided on the run; nil without one.
	Decision *Decision

	// Missed is what its assertions would miss; nil if that was not measured.
	Missed *Missed
}

// Rows are the finished rows of a run. *runfile.Reader is one.
type Rows interface {
	// Rows yields index and encoded row in index order; a row is valid until the next
	// one. Err then reports whether the sequence ended early.
	Rows() iter.Seq2[int, []byte]
	Err() error
	// Row returns one row by its index.
	Row(index int) ([]byte, error)
}

// Column is one prompt at one provider. The part that all its rows share is encoded
// once.
type Column struct {
	PromptID      string
	PromptLabel   string
	PromptRaw     string // the template
	ProviderID    string
	ProviderLabel string // "" if the suite has none

	// shared holds the members from promptId to the label in prompt.
	shared []byte
	label  []byte
}

// NewColumn returns the column of a prompt and a provider. A prompt without an id
// gets one from its text.
func NewColumn(prompt *proviso.Prompt, provider *proviso.ProviderSpec) Column {
	c := Column{PromptID: prompt.ID, PromptLabel: prompt.Label, PromptRaw: prompt.Raw,
		ProviderID: proviso.RedactedURL(provider.ID), ProviderLabel: provider.Label}
	if c.PromptID == "" {
		sum := sha256.Sum256([]byte(prompt.Raw))
		c.PromptID = hex.EncodeToString(sum[:8])
	}
	c.shared = c.appendShared(nil)
	c.label = value.AppendQuoted(nil, prompt.Label)
	return c
}

func (c *Column) appendShared(dst []byte) []byte {
	e := encoder{b: dst}
	e.text(`,"promptId":`, c.PromptID)
	e.text(`,"provider":{"id":`, c.ProviderID)
	e.text(`,"label":`, c.ProviderLabel)
	return append(e.b, '}')
}

// provider returns the name of the column's provider for people.
func (c *Column) provider() string { return cmp.Or(c.ProviderLabel, c.ProviderID) }

// prompt returns the name of the column's prompt for people.
func (c *Column) prompt() string { return cmp.Or(c.PromptLabel, c.PromptRaw) }
