package sqldb

import (
	"context"
	"encoding/json"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// Several implements [store.Shared].
func (d *DB) Several() bool { return d.engine.Several() }

// sharedLock is what changes of shared items lock in place of a project. They change nothing
// else, so other changes need not wait. No project has such a name.
const sharedLock = "\x01shared"

// ofShared returns what [contents.pack] binds the content of a shared item to.
func ofShared(kind, name string) string { return "shared\x00" + kind + "\x00" + name }

// packShared returns the stored form of an item's content.
func (d *DB) packShared(i *store.SharedItem) ([]byte, error) {
	if err := i.Check(); err != nil {
		return nil, err
	}
	if !i.Seal {
		return d.contents.encoder().EncodeAll(i.Content, []byte{packed}), nil
	}
	return d.contents.pack(ofShared(i.Kind, i.Name), i.Content, dayOf(d.now()))
}

// PutShared implements [store.Shared].
func (d *DB) PutShared(ctx context.Context, items ...store.SharedItem) error {
	contents := make([][]byte, len(items))
	for i := range items {
		var err error
		if contents[i], err = d.packShared(&items[i]); err != nil {
			return err
		}
	}
	return d.changeIn(ctx, sharedLock, "share an item in", func(t *tx) error {
		for n, i := range items {
			t.texts = t.texts || i.Seal
			if err := t.keepShared(&i, contents[n], d.now().Add(i.Life)); err != nil {
				return err
			}
		}
		return nil
	})
}

// putShared stores an item with the JSON of a value as its content.
func (t *tx) putShared(i store.SharedItem, value any, until time.Time) (err error) {
	if i.Content, err = json.Marshal(value); err != nil {
		return err
	}
	content, err := t.db.packShared(&i)
	if err != nil {
		return err
	}
	return t.keepShared(&i, content, until)
}

// keepShared stores the packed content of an item.
func (t *tx) keepShared(i *store.SharedItem, content []byte, until time.Time) error {
	_, err := t.exec(`INSERT INTO shared (kind, name, item_group, content, expires) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (kind, name) DO UPDATE SET item_group = excluded.item_group, content = excluded.content, expires = excluded.expires`,
		i.Kind, i.Name, i.Group, content, micros(until))
	return err
}

// ReplaceShared implements [store.Shared].
func (d *DB) ReplaceShared(ctx context.Context, i store.SharedItem) (found bool, err error) {
	content, err := d.packShared(&i)
	if err != nil {
		return false, err
	}
	err = d.changeIn(ctx, sharedLock, "share an item in", func(t *tx) error {
		t.texts = i.Seal
		n, err := t.changed("UPDATE shared SET item_group = ?, content = ?, expires = ? WHERE kind = ? AND name = ? AND expires > ?",
			i.Group, content, micros(d.now().Add(i.Life)), i.Kind, i.Name, micros(d.now()))
		found = n > 0
		return err
	})
	return found, err
}

const selectShared = "SELECT kind, name, item_group, content, expires FROM shared"

// readShared reads a row of selectShared.
func (d *DB) readShared(row scanner) (i store.SharedItem, err error) {
	var content []byte
	var expires time.Time
	if err = row.Scan(&i.Kind, &i.Name, &i.Group, &content, at(&expires)); err == nil {
		i.Life = expires.Sub(d.now())
		i.Content, err = d.contents.unpack(ofShared(i.Kind, i.Name), content)
	}
	return i, err
}

// GetShared implements [store.Shared].
func (d *DB) GetShared(ctx context.Context, kind, name string) (*store.SharedItem, error) {
	i, err := d.readShared(d.queryRow(ctx, selectShared+" WHERE kind = ? AND name = ? AND expires > ?", kind, name, micros(d.now())))
	if err != nil {
		return nil, d.failed("read", ignoreNone(err))
	}
	return &i, nil
}

// ListShared implements [store.Shared].
func (d *DB) ListShared(ctx context.Context, kind, group, after string, limit int) ([]store.SharedItem, error) {
	rows, err := d.query(ctx, selectShared+" WHERE kind = ? AND item_group = ? AND name > ? AND expires > ? ORDER BY name LIMIT ?", kind, group, after, micros(d.now()), limit)
	if err != nil {
		return nil, d.failed("read", err)
	}
	defer rows.Close()
	var items []store.SharedItem
	for size := 0; size < store.MaxPageBytes && rows.Next(); {
		i, err := d.readShared(rows)
		if err != nil {
			return nil, d.failed("read", err)
		}
		size += len(i.Content)
		items = append(items, i)
	}
	return items, d.failed("read", rows.Err())
}

// DeleteShared implements [store.Shared].
func (d *DB) DeleteShared(ctx context.Context, kind string, names ...string) error {
	return d.changeIn(ctx, sharedLock, "remove an item from", func(t *tx) error {
		for _, name := range names {
			if _, err := t.exec("DELETE FROM shared WHERE kind = ? AND name = ?", kind, name); err != nil {
				return err
			}
		}
		return nil
	})
}

// DeleteSharedGroup implements [store.Shared].
func (d *DB) DeleteSharedGroup(ctx context.Context, kind, group string) error {
	return d.changeIn(ctx, sharedLock, "remove items from", func(t *tx) error {
		_, err := t.exec("DELETE FROM shared WHERE kind = ? AND item_group = ?", kind, group)
		return err
	})
}
