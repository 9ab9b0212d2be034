package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"

	"github.com/proviso-eval/proviso"
)

// Kind is a kind of document.
type Kind string

// The kinds of documents.
const (
	SuiteKind        Kind = "suite"
	AssertionSetKind Kind = "assertion_set"
	DatasetKind      Kind = "dataset"
)

// NewDocument is a version of a document to be stored.
type NewDocument struct {
	Kind       Kind
	Name       string
	PromptHash string // hash of the prompts that it is judged with, "" if there are none
	MediaType  string // media type of the content, such as application/json
	Content    []byte // as it was sent
	CreatedBy  string // id of the API key
	// Replaces, if not nil, is the hash that the current version of the name must have, or ""
	// if the name must be free. Otherwise the write is a Conflict, so that it does not
	// overwrite somebody else's change.
	Replaces *string
}

// Document is one version of a suite, an assertion set or a dataset.
type Document struct {
	NewDocument
	Hash    string // identity of the version, see [NewDocument.Version]
	Number  int    // version number under its name, from 1
	Current bool   // whether it is the current version of the name
	Size    int    // bytes of content
	Created time.Time
}

// Version returns the SHA-256 hash, in hexadecimal, of kind, prompt hash, media type and
// content.
func (d NewDocument) Version() string {
	h := sha256.New()
	for _, part := range [...]string{string(d.Kind), d.PromptHash, d.MediaType} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	h.Write(d.Content)
	return hex.EncodeToString(h.Sum(nil))
}

// Check returns why a document is invalid, or nil.
func (d NewDocument) Check() error {
	switch d.Kind {
	case SuiteKind, AssertionSetKind, DatasetKind:
	default:
		return &proviso.Error{Code: proviso.Invalid, Message: "there is no kind of document " + quote(string(d.Kind)),
			Valid: []string{string(SuiteKind), string(AssertionSetKind), string(DatasetKind)}}
	}
	if err := checkText("name", d.Name, MaxName); err != nil {
		return err
	}
	if len(d.Content) > MaxContent {
		return proviso.Errorf(proviso.Limit, "the content of a document has %d bytes, more than %d", len(d.Content), MaxContent)
	}
	return nil
}

// DocumentFilter selects documents.
type DocumentFilter struct {
	Kind Kind   // "" for all
	Name string // all versions of this name, "" for the current version of every name
}
