package sqldb

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/proviso-eval/proviso/permit"
	"github.com/proviso-eval/proviso/store"
)

var _ store.Rates = (*DB)(nil)

// The states of endpoints are shared items. Servers of an earlier version use the table
// endpoint_rate instead. The next migration that requires them to be stopped drops it; in
// SQLite, its next migration does, since a migration for that alone would only prevent
// downgrades.
const (
	rateKind = "rate"      // kind of the states, named by the hash of the endpoint
	saltKind = "rate salt" // kind of the only salt
	saltLife = 100 * 365 * 24 * time.Hour
	// rateLock is the prefix of the lock names that serialize the changes of an endpoint.
	rateLock = "\x01endpoint "
)

// ShareRate implements [store.Rates].
func (d *DB) ShareRate(ctx context.Context, endpoint string, a permit.Ask) (g permit.Grant, err error) {
	if err := store.CheckEndpoint(endpoint); err != nil {
		return g, err
	}
	name, err := d.endpointName(ctx, endpoint)
	if err != nil {
		return g, err
	}
	err = d.changeIn(ctx, rateLock+name, "share a rate in", func(t *tx) error {
		now := d.now()
		e, err := t.endpoint(name)
		if err != nil {
			return err
		}
		g = e.Take(now, a)
		return t.keepEndpoint(name, now, e)
	})
	return g, err
}

// endpoint reads the state of an endpoint, or returns a new one if there is none that can be
// read.
func (t *tx) endpoint(name string) (*permit.Endpoint, error) {
	e := &permit.Endpoint{}
	i, err := t.db.readShared(t.queryRow(selectShared+" WHERE kind = ? AND name = ?", rateKind, name))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return e, nil
	case err != nil:
		return nil, err
	}
	if json.Unmarshal(i.Content, e) != nil {
		return &permit.Endpoint{}, nil // state in the format of another version
	}
	return e, nil
}

func (t *tx) keepEndpoint(name string, now time.Time, e *permit.Endpoint) error {
	until := now
	if e.NotBefore.After(until) {
		until = e.NotBefore
	}
	// expires changes once a minute, so that most changes touch no index.
	until = until.Truncate(time.Minute).Add(time.Minute + permit.Life)
	return t.putShared(store.SharedItem{Kind: rateKind, Name: name, Life: permit.Life}, e, until)
}

// endpointName hashes the name of an endpoint with the salt of the database, and with its
// content key if there is one. So nobody who reads the database can test a guessed provider
// key.
func (d *DB) endpointName(ctx context.Context, endpoint string) (string, error) {
	salt := d.rateSalt.Load()
	if salt == nil {
		read, err := d.readSalt(ctx)
		if err != nil {
			return "", err
		}
		salt = &read
		d.rateSalt.Store(salt)
	}
	key := hmac.New(sha256.New, d.options.ContentKey)
	key.Write(*salt)
	h := hmac.New(sha256.New, key.Sum(nil))
	h.Write([]byte(endpoint))
	return hex.EncodeToString(h.Sum(nil)), nil
}

// readSalt returns the salt of the database. The first process generates it.
func (d *DB) readSalt(ctx context.Context) (salt []byte, err error) {
	made := make([]byte, sha256.Size)
	_, _ = rand.Read(made) // never fails
	item := store.SharedItem{Kind: saltKind, Name: saltKind, Content: made, Life: saltLife}
	content, err := d.packShared(&item)
	if err != nil {
		return nil, err
	}
	err = d.changeIn(ctx, sharedLock, "share an item in", func(t *tx) error {
		if _, err := t.exec("INSERT INTO shared (kind, name, item_group, content, expires) VALUES (?, ?, ?, ?, ?) ON CONFLICT (kind, name) DO NOTHING",
			item.Kind, item.Name, "", content, micros(d.now().Add(item.Life))); err != nil {
			return err
		}
		i, err := d.readShared(t.queryRow(selectShared+" WHERE kind = ? AND name = ?", item.Kind, item.Name))
		salt = i.Content
		return err
	})
	return salt, err
}
