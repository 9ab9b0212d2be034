package store

import (
	"context"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/permit"
)

// Shared is what the servers on one store tell each other: short-lived items, such as the
// sessions of browsers and the events of an evaluation that goes on. They belong to no
// project, and no client names one: a server checks the rights itself.
type Shared interface {
	// Several reports whether several servers may use the store at a time. If not, the memory
	// of the only one is enough, and nothing need be shared.
	Several() bool
	// PutShared stores items, all or none, in place of those of the same kinds and names. An
	// item that is too large is a Limit.
	PutShared(ctx context.Context, items ...SharedItem) error
	// ReplaceShared stores an item if there is one of its kind and name that has not expired;
	// false if there is none, so that what was deleted does not come back.
	ReplaceShared(ctx context.Context, item SharedItem) (bool, error)
	// GetShared returns an item, nil if there is none or it has expired.
	GetShared(ctx context.Context, kind, name string) (*SharedItem, error)
	// ListShared returns up to limit items of a group in the order of their names, byte by
	// byte, which begin after a name. There are fewer if their contents exceed MaxPageBytes.
	ListShared(ctx context.Context, kind, group, after string, limit int) ([]SharedItem, error)
	// DeleteShared removes items by their names. Where there is none, it does nothing.
	DeleteShared(ctx context.Context, kind string, names ...string) error
	// DeleteSharedGroup removes all items of a group.
	DeleteSharedGroup(ctx context.Context, kind, group string) error
}

// SharedItem is an item of [Shared].
type SharedItem struct {
	Kind    string // such as "session"
	Name    string // unique in its kind
	Group   string // what is listed and removed together; "" is a group, too
	Content []byte
	Seal    bool          // seal the content as those of events, if the store has a key for them; false when it is read
	Life    time.Duration // from when it is stored; when it is read, what is left of it
}

// maxShared is how many bytes the content of an item may have.
const maxShared = MaxContent

// Check returns why an item is invalid, or nil.
func (i *SharedItem) Check() error {
	switch {
	case i.Kind == "" || i.Name == "":
		return proviso.Errorf(proviso.Invalid, "a shared item has a kind and a name, not %q and %q", i.Kind, i.Name)
	case i.Life <= 0:
		return proviso.Errorf(proviso.Invalid, "the shared item %s %q has a life of %v", i.Kind, i.Name, i.Life)
	case len(i.Content) > maxShared:
		return proviso.Errorf(proviso.Limit, "the shared item %s %q has %d bytes, more than %d", i.Kind, i.Name, len(i.Content), maxShared)
	}
	return nil
}

// Rates are how often the processes of a store, together, may ask the endpoints of models.
type Rates interface {
	// ShareRate takes note of what a process tells of its requests to an endpoint, and returns
	// what it may send next: see [permit.Endpoint]. The endpoint is a name without secrets, such
	// as a hash, of which the store keeps only a hash with a key of its own.
	ShareRate(ctx context.Context, endpoint string, a permit.Ask) (permit.Grant, error)
}

// CheckEndpoint returns why a text cannot be the name of an endpoint, or nil.
func CheckEndpoint(name string) error { return checkText("endpoint", name, MaxName) }
