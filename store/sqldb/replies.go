package sqldb

import (
	"context"
	"database/sql"
	"errors"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// Claim implements [store.Replies].
func (d *DB) Claim(ctx context.Context, c store.Claim) (*store.Response, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	var response *store.Response
	err := d.change(ctx, "claim an idempotency key in", func(t *tx) error {
		now := d.now()
		var request []byte
		var expires, status sql.NullInt64
		var r store.Response
		err := t.queryRow("SELECT request, expires, status, media_type, location, body FROM reply WHERE created_by = ? AND key = ?", c.CreatedBy, c.Key).
			Scan(&request, &expires, &status, &r.MediaType, &r.Location, &r.Body)
		switch {
		case errors.Is(err, sql.ErrNoRows), err == nil && !fromMicros(expires).After(now):
			_, err = t.exec(`INSERT INTO reply (created_by, key, request, expires) VALUES (?, ?, ?, ?)
				ON CONFLICT (created_by, key) DO UPDATE SET request = excluded.request, expires = excluded.expires, status = NULL, media_type = '', location = '', body = NULL`,
				c.CreatedBy, c.Key, c.Request[:], micros(now.Add(store.ClaimLease)))
			return err
		case err != nil:
			return err
		case string(request) != string(c.Request[:]):
			return proviso.Errorf(proviso.Conflict, "%w", store.ErrOtherRequest)
		case !status.Valid:
			return proviso.Errorf(proviso.Conflict, "%w", store.ErrInProgress)
		}
		r.Status = int(status.Int64)
		response = &r
		return nil
	})
	return response, err
}

// Reply implements [store.Replies].
func (d *DB) Reply(ctx context.Context, r store.Reply) error {
	if err := checkReply(&r); err != nil {
		return err
	}
	return d.change(ctx, "keep a reply in", func(t *tx) error { return t.reply(&r) })
}

// checkReply returns why a reply is invalid, or nil. A nil reply is valid.
func checkReply(r *store.Reply) error {
	if r == nil {
		return nil
	}
	if err := checkContent("reply", r.Body); err != nil {
		return err
	}
	if r.Expires.IsZero() {
		return proviso.Errorf(proviso.Invalid, "the reply has no expiry time")
	}
	return r.Check()
}

// checkContent rejects content that is too large.
func checkContent(what string, content []byte) error {
	if len(content) > store.MaxContent {
		return proviso.Errorf(proviso.Limit, "the %s has %d bytes, more than %d", what, len(content), store.MaxContent)
	}
	return nil
}

// reply stores a reply; a nil reply stores nothing.
func (t *tx) reply(r *store.Reply) error {
	if r == nil {
		return nil
	}
	_, err := t.exec(`INSERT INTO reply (created_by, key, request, expires, status, media_type, location, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (created_by, key) DO UPDATE SET
			expires = excluded.expires, status = excluded.status, media_type = excluded.media_type, location = excluded.location, body = excluded.body
		WHERE reply.status IS NULL AND reply.request = excluded.request`,
		r.CreatedBy, r.Key, r.Request[:], micros(r.Expires), r.Status, r.MediaType, r.Location, nonNil(r.Body))
	return err
}

// Release implements [store.Replies].
func (d *DB) Release(ctx context.Context, c store.Claim) error {
	return d.change(ctx, "release an idempotency key in", func(t *tx) error {
		_, err := t.exec("DELETE FROM reply WHERE created_by = ? AND key = ? AND request = ? AND status IS NULL", c.CreatedBy, c.Key, c.Request[:])
		return err
	})
}
