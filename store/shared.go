package store

import (
	"context"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/permit"
)

// Shared holds short-lived items that the servers on one store share, such as browser sessions
// and the events of a running evaluation. Items belong to no project, and clients cannot
// address them: a server checks the rights itself.
type Shared interface {
	// Several reports whether several servers may use the store at a time. If not, the server's
	// memory is enough, and nothing needs to be shared.
	Several() bool
	// PutShared stores items, all or none. They replace items with the same kind and name. An
	// item that is too large is a Limit error.
	PutShared(ctx context.Context, items ...SharedItem) error
	// ReplaceShared stores an item only if one with its kind and name exists and has not
	// expired, so that a deleted item does not come back. It returns false if there is none.
	ReplaceShared(ctx context.Context, item SharedItem) (bool, error)
	// GetShared returns an item, or nil if there is none or it has expired.
	GetShared(ctx context.Context, kind, name string) (*SharedItem, error)
	// ListShared returns up to limit items of a group with names after the given one, in byte
	// order of their names. It returns fewer if their contents exceed MaxPageBytes.
	ListShared(ctx context.Context, kind, group, after string, limit int) ([]SharedItem, error)
	// DeleteShared removes items by name. Missing items are ignored.
	DeleteShared(ctx context.Context, kind string, names ...string) error
	// DeleteSharedGroup removes all items of a group.
	DeleteSharedGroup(ctx context.Context, kind, group string) error
}

// SharedItem is an item of [Shared].
type SharedItem struct {
	Kind    string // such as "session"
	Name    string // unique within its kind
	Group   string // items that are listed and removed together; "" is a group, too
	Content []byte
	Seal    bool          // seal the content like those of events, if the store has a key; false when read
	Life    time.Duration // time to live from when it is stored; when read, the remaining time
}

// maxShared is the maximum content of an item, in bytes.
const maxShared = MaxContent

// Check returns why an item is invalid, or nil.
func (i *SharedItem) Check() error {
	switch {
	case i.Kind == "" || i.Name == "":
		return proviso.Errorf(proviso.Invalid, "a shared item has a kind and a name, not %q and %q", i.Kind, i.Name)
	case i.Life <= 0:
		return proviso.Errorf(proviso.Invalid, "the shared item %s %q has a time to live of %v", i.Kind, i.Name, i.Life)
	case len(i.Content) > maxShared:
		return proviso.Errorf(proviso.Limit, "the shared item %s %q has %d bytes, more than %d", i.Kind, i.Name, len(i.Content), maxShared)
	}
	return nil
}

// Rates are rate limits of model endpoints, shared by all processes of a store.
type Rates interface {
	// ShareRate records what a process reports about its requests to an endpoint, and returns
	// what it may send next: see [permit.Endpoint]. The endpoint name must hold no secrets; it
	// may be a hash. The store keeps only a keyed hash of it.
	ShareRate(ctx context.Context, endpoint string, a permit.Ask) (permit.Grant, error)
}

// CheckEndpoint returns why an endpoint name is invalid, or nil.
func CheckEndpoint(name string) error { return checkText("endpoint", name, MaxName) }
