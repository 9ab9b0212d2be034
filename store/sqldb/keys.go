package sqldb

import (
	"context"
	"crypto/subtle"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/store"
)

const selectKey = "SELECT seq, id, name, project, hint, scopes, budget, spent, providers, created, last_used, revoked, hash FROM api_key"

// readKey reads a row of selectKey.
func readKey(row scanner) (k store.Key, seq int64, hash []byte, err error) {
	err = row.Scan(&seq, &k.ID, &k.Name, &k.Project, &k.Hint, listed(&k.Scopes), &k.Budget, &k.Spent, listed(&k.Providers), at(&k.Created), at(&k.LastUsed), at(&k.Revoked), &hash)
	return k, seq, hash, err
}

// CreateKey implements [store.Keys].
func (d *DB) CreateKey(ctx context.Context, k store.NewKey) (store.Key, string, error) {
	if err := k.Check(); err != nil {
		return store.Key{}, "", err
	}
	if k.Project == "" {
		k.Project = store.DefaultProject
	}
	secret, now := store.NewSecret(), d.now()
	hash := store.HashSecret(secret)
	key := store.Key{ID: store.NewID(store.KeyID, now), Name: k.Name, Project: k.Project, Hint: store.SecretHint(secret),
		Scopes: k.Scopes, Budget: k.Budget, Providers: k.Providers, Created: now}
	err := d.change(ctx, "keep an API key in", func(t *tx) error {
		_, err := t.exec("INSERT INTO api_key (id, name, project, hint, hash, scopes, budget, providers, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			key.ID, key.Name, string(key.Project), key.Hint, hash[:], list(key.Scopes), key.Budget, list(key.Providers), micros(now))
		return err
	})
	if err != nil {
		return store.Key{}, "", err
	}
	return key, secret, nil
}

// Authenticate implements [store.Keys].
func (d *DB) Authenticate(ctx context.Context, secret string) (store.Key, error) {
	unknown := proviso.Errorf(proviso.NotFound, "there is no such API key")
	if !store.IsSecret(secret) {
		return store.Key{}, unknown
	}
	want := store.HashSecret(secret)
	k, _, hash, err := readKey(d.queryRow(ctx, selectKey+" WHERE hash = ?", want[:]))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return store.Key{}, unknown
	case err != nil:
		return store.Key{}, d.failed("read", err)
	case subtle.ConstantTimeCompare(hash, want[:]) != 1:
		return store.Key{}, unknown
	case !k.Revoked.IsZero():
		return store.Key{}, proviso.Errorf(proviso.Refused, "the API key %s was revoked", k.ID)
	}
	return k, nil
}

// Key implements [store.Keys].
func (d *DB) Key(ctx context.Context, id string) (store.Key, error) {
	k, _, _, err := readKey(d.queryRow(ctx, selectKey+" WHERE id = ?", id))
	return k, d.failed("read", noRow(err, "API key", id))
}

// notFound returns the error for an unknown id.
func notFound(what, id string) error {
	return proviso.Errorf(proviso.NotFound, "there is no %s %s", what, short(id))
}

// conflict returns the error for an id that is taken; aWhat is for example "a run".
func conflict(aWhat, id string) error {
	return proviso.Errorf(proviso.Conflict, "there is %s %s already", aWhat, short(id))
}

// short quotes and shortens external text for a message.
func short(text string) string { return fmt.Sprintf("%q", excerpt.Bytes(text, 80)) }

// ListKeys implements [store.Keys].
func (d *DB) ListKeys(ctx context.Context, p store.Page) (store.List[store.Key], error) {
	var c conditions
	return page(ctx, d.reader, "keys", p, selectKey, "seq DESC", &c, func(row scanner) (store.Key, int64, error) {
		k, seq, _, err := readKey(row)
		return k, seq, err
	}, nil)
}

// Projects implements [store.Keys].
func (d *DB) Projects(ctx context.Context) ([]store.Project, error) {
	return collect(d, one[store.Project])(d.query(ctx, "SELECT project FROM api_key UNION SELECT ? ORDER BY 1", string(store.DefaultProject)))
}

// RevokeKey implements [store.Keys].
func (d *DB) RevokeKey(ctx context.Context, id string) (store.Key, error) {
	return d.updateKey(ctx, id, "UPDATE api_key SET revoked = coalesce(revoked, ?) WHERE id = ?", micros(d.now()))
}

// Charge implements [store.Keys].
func (d *DB) Charge(ctx context.Context, id string, dollars float64) (store.Key, error) {
	if err := checkCost(dollars); err != nil {
		return store.Key{}, err
	}
	return d.updateKey(ctx, id, charge, dollars)
}

const charge = "UPDATE api_key SET spent = spent + ? WHERE id = ?"

// checkCost rejects a negative or non-finite cost.
func checkCost(dollars float64) error {
	if dollars < 0 || math.IsNaN(dollars) || math.IsInf(dollars, 0) {
		return proviso.Errorf(proviso.Invalid, "a cost is a number of US dollars from 0, not %v", dollars)
	}
	return nil
}

// TouchKey implements [store.Keys].
func (d *DB) TouchKey(ctx context.Context, id string, at time.Time) error {
	_, err := d.updateKey(ctx, id, "UPDATE api_key SET last_used = greatest(coalesce(last_used, 0), ?) WHERE id = ?", micros(at))
	return err
}

// updateKey changes a key and returns it.
func (d *DB) updateKey(ctx context.Context, id, update string, value any) (store.Key, error) {
	var k store.Key
	err := d.change(ctx, "change an API key in", func(t *tx) error {
		if _, err := t.exec(update, value, id); err != nil {
			return err
		}
		var err error
		k, _, _, err = readKey(t.queryRow(selectKey+" WHERE id = ?", id))
		return noRow(err, "API key", id)
	})
	return k, err
}
