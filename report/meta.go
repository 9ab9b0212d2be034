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

// Meta is a run's data besides its rows, for reports.
type Meta struct {
	RunID   string
	Version string // proviso's version
	Suite   string // its description, else its file name
	Started time.Time
	Elapsed time.Duration
	Config  *value.Object // the suite as read, without secrets; nil if unknown
	Columns []Column      // prompts × providers, by [proviso.Result.PromptIdx]
	RunFile string        // where the run is stored; "" if it is not
	Planned int           // rows of the complete run; 0 if unknown
	Types   proviso.Types // comparison facts, with which a report marks differences; nil marks none
	Folder  string        // of the suite, where the human labels for its judges are stored; "" if unknown

	// Place returns the file in the repository and the line, from 1, of an assertion of a
	// case; "" if they are unknown. The assertion has the form of [AssertionJSON]; nil
	// means the case as a whole. Place may be nil.
	Place func(test int, assertion []byte) (file string, line int)

	On string // the address of the run on the server that executes it; "" if it ran here

	Revision Revision // revision of the suite's repository
	Hashes   Hashes   // hashes of the input

	// Trust returns the agreement of a judge with human labels. The judge is given by its
	// identity, the assertion by its id and its form in the row. Trust may be nil.
	Trust func(judge, assertion string, raw *value.Object) Trust

	// Decision is a gate's decision on the run, or nil.
	Decision *Decision

	// Missed is what the assertions would miss; nil if that was not measured.
	Missed *Missed
}

// Rows gives access to the finished rows of a run. *runfile.Reader implements it.
type Rows interface {
	// Rows yields index and encoded row in index order. A row is valid until the next one.
	// Err then reports an error that ended the sequence early.
	Rows() iter.Seq2[int, []byte]
	Err() error
	// Row returns one row by its index.
	Row(index int) ([]byte, error)
}

// Column is one prompt at one provider. The part that its rows share is encoded once.
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

// NewColumn returns the column of a prompt and a provider. A prompt without an id gets one
// derived from its text.
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

// provider returns the column's provider name for people.
func (c *Column) provider() string { return cmp.Or(c.ProviderLabel, c.ProviderID) }

// prompt returns the column's prompt name for people.
func (c *Column) prompt() string { return cmp.Or(c.PromptLabel, c.PromptRaw) }
