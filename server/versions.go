package server

import (
	"context"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// leastDigits is how many digits of a hash name a version at least.
const leastDigits = 8

// versionNamed returns the version of a document that a text names: NAME for the current
// one, or NAME@VERSION with its number or the first digits of its hash.
func (s *Server) versionNamed(c *call, kind store.Kind, text string) (store.Document, error) {
	return documentNamed(c.r.Context(), c.kept, kind, text)
}

// documentNamed is versionNamed in a store.
func documentNamed(ctx context.Context, kept store.Documents, kind store.Kind, text string) (store.Document, error) {
	name, version, found := strings.Cut(text, "@")
	if !found || len(version) == 64 {
		return kept.Document(ctx, kind, name, version)
	}
	number, err := strconv.Atoi(version)
	if err != nil || len(version) >= leastDigits {
		number = 0
	}
	if number < 1 && (len(version) < leastDigits || strings.Trim(version, "0123456789abcdef") != "") {
		return store.Document{}, proviso.Errorf(proviso.Invalid,
			"a version is its number, or the first %d or more digits of its hash, not %s", leastDigits, strconv.Quote(shortened(version)))
	}
	for d, err := range all(ctx, kept.ListDocuments, store.DocumentFilter{Kind: kind, Name: name}) {
		if err != nil {
			return store.Document{}, err
		}
		if d.Number == number || number == 0 && strings.HasPrefix(d.Hash, version) {
			return kept.Document(ctx, kind, name, d.Hash)
		}
	}
	if _, err := kept.Document(ctx, kind, name, ""); err != nil {
		return store.Document{}, err
	}
	return store.Document{}, proviso.Errorf(proviso.NotFound, "%s has no version %s", strconv.Quote(shortened(name)), shortened(version))
}
