package sqldb

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// leastKey is the minimum length of [Options.ContentKey], in bytes.
const leastKey = 32

// The first byte of stored content.
const (
	plain  = 0 // plain text, in a column that may also hold sealed text
	packed = 1 // compressed
	sealed = 2 // compressed and encrypted: the day of its key in 4 bytes, then nonce, ciphertext and tag
)

// contents compresses the texts of events, and seals them if there is a key.
type contents struct {
	known  atomic.Bool // the database is known to have a key
	secret []byte

	mu   sync.Mutex
	days map[uint32]cipher.AEAD // derived keys by day, so that no key seals too many texts

	encoder func() *zstd.Encoder
	decoder func() *zstd.Decoder
}

// openContents checks the key of a database. A database without a key adopts the given one.
func (d *DB) openContents(ctx context.Context) error {
	c := &d.contents
	c.days = map[uint32]cipher.AEAD{}
	c.encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(256<<10), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
		if err != nil {
			panic(err) // the options are constant
		}
		return e
	})
	c.decoder = sync.OnceValue(func() *zstd.Decoder {
		r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(2*store.MaxContent), zstd.WithDecoderLowmem(true))
		if err != nil {
			panic(err) // the options are constant
		}
		return r
	})
	var salt, known []byte
	err := d.queryRow(ctx, "SELECT salt, known FROM content_key").Scan(&salt, &known)
	if ignoreNone(err) != nil {
		return err
	}
	c.known.Store(err == nil)
	key := d.options.ContentKey
	switch {
	case len(key) == 0:
		return nil
	case len(key) < leastKey:
		return proviso.Errorf(proviso.Invalid, "the content key has %d bytes, fewer than %d; `openssl rand -hex 32` makes one", len(key), leastKey)
	case c.known.Load():
		if c.secret, err = deriveKey(key, salt); err != nil {
			return err
		}
		if _, err := c.unpack("key", known); err != nil {
			return proviso.Errorf(proviso.Refused, "this is not the content key with which the texts of the database are encrypted")
		}
		return nil
	case d.options.Access == Reading:
		return nil // nothing needs to be sealed
	}
	salt = make([]byte, 32)
	rand.Read(salt) // never fails: crypto/rand ends the program instead
	if c.secret, err = deriveKey(key, salt); err != nil {
		return err
	}
	if known, err = c.pack("key", []byte("proviso"), 0); err != nil {
		return err
	}
	if err = d.beginSealing(ctx, salt, known); err == nil {
		c.known.Store(true)
	}
	return err
}

// textTables are the tables with sealed texts.
var textTables = []string{"event_content", "feedback", "shared", "trace_part", "traffic_prompt", "watch", "watch_verdict"}

// beginSealing stores the data by which a key is checked. A concurrent transaction that stores
// a text has either ended by then, or sees the key: see [tx.checkUnsealed].
func (d *DB) beginSealing(ctx context.Context, salt, known []byte) (err error) {
	for range tries {
		if err = d.storeKey(ctx, salt, known); err == nil || !d.engine.Again(err) {
			break
		}
	}
	return err
}

func (d *DB) storeKey(ctx context.Context, salt, known []byte) error {
	t, err := d.writing.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer t.Rollback() // does nothing after Commit
	if err := d.engine.Exclude(ctx, t, textTables); err != nil {
		return err
	}
	if _, err := t.ExecContext(ctx, d.engine.Query("INSERT INTO content_key (one, salt, known) VALUES (1, ?, ?)"), salt, known); err != nil {
		return err
	}
	return t.Commit()
}

// anyKey is the query that finds out whether the database has a key.
const anyKey = "SELECT count(*) FROM content_key"

// checkUnsealed returns why a change that stored a text must be rolled back: another server has
// begun to seal, and this process has no key. It is called after the text is written, so that a
// concurrent beginSealing either waits for this transaction or is visible to it.
func (t *tx) checkUnsealed() error {
	texts := t.texts
	t.texts = false
	if !texts || !t.db.engine.Several() || t.db.contents.secret != nil {
		return nil
	}
	return t.db.unsealed(t.queryRow(anyKey))
}

// unsealed is checkUnsealed on the result row of [anyKey].
func (d *DB) unsealed(row scanner) error {
	var keys int
	if err := row.Scan(&keys); err != nil {
		return err
	}
	if keys > 0 {
		d.contents.known.Store(true)
	}
	return d.textsAccepted()
}

func deriveKey(key, salt []byte) ([]byte, error) {
	return hkdf.Key(sha256.New, key, salt, "proviso contents", 32)
}

// CheckContentKey returns why a process that needs contents must not start: they are sealed,
// and it has no key. Everything else works without the key.
func (d *DB) CheckContentKey() error {
	if d.textsAccepted() != nil {
		return proviso.Because(store.ErrSealed, proviso.Refused, "the texts of events are encrypted, and the content key was not given")
	}
	return nil
}

// textsAccepted returns why this process can store no texts, as far as it knows, or nil.
func (d *DB) textsAccepted() error {
	if d.contents.known.Load() && d.contents.secret == nil {
		return errSealed()
	}
	return nil
}

// errSealed returns the error for reading or storing sealed texts without the key.
func errSealed() error {
	return proviso.Because(store.ErrSealed, proviso.Unavailable, "%v", store.ErrSealed)
}

// Texts implements [store.Store].
func (d *DB) Texts(ctx context.Context) error {
	if d.contents.secret != nil || d.contents.known.Load() || !d.Several() {
		return d.textsAccepted()
	}
	return d.unsealed(d.queryRow(ctx, anyKey))
}

// ofDay returns the cipher of a day, counted from 1970.
func (c *contents) ofDay(day uint32) (cipher.AEAD, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a, ok := c.days[day]; ok {
		return a, nil
	}
	key, err := hkdf.Expand(sha256.New, c.secret, fmt.Sprintf("day %d", day), 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	a, err := cipher.NewGCMWithRandomNonce(block)
	if err == nil && len(c.days) < 1000 {
		c.days[day] = a
	}
	return a, err
}

// pack returns the stored form of a content. what is authenticated with it, so that the content
// of one event cannot replace that of another.
func (c *contents) pack(what string, content []byte, day int64) ([]byte, error) {
	if c.secret == nil {
		return c.encoder().EncodeAll(content, []byte{packed}), nil
	}
	a, err := c.ofDay(uint32(day))
	if err != nil {
		return nil, err
	}
	out := binary.BigEndian.AppendUint32([]byte{sealed}, uint32(day))
	return a.Seal(out, nil, c.encoder().EncodeAll(content, nil), []byte(what)), nil
}

// unpack is the inverse of pack.
func (c *contents) unpack(what string, stored []byte) ([]byte, error) {
	if len(stored) == 0 {
		return nil, fmt.Errorf("a content is missing")
	}
	kind, rest := stored[0], stored[1:]
	switch {
	case kind == packed:
	case kind == sealed && c.secret == nil:
		c.known.Store(true)
		return nil, errSealed()
	case kind == sealed && len(rest) > 4:
		a, err := c.ofDay(binary.BigEndian.Uint32(rest))
		if err != nil {
			return nil, err
		}
		if rest, err = a.Open(nil, nil, rest[4:], []byte(what)); err != nil {
			return nil, fmt.Errorf("an encrypted text was changed: %w", err)
		}
	default:
		return nil, fmt.Errorf("a content has an unknown form")
	}
	text, err := c.decoder().DecodeAll(rest, nil)
	if err != nil {
		return nil, fmt.Errorf("a content is damaged: %w", err)
	}
	return text, nil
}

// ofEvent returns what [contents.pack] binds the content of an event to.
func ofEvent(p store.Project, id string) string { return "event\x00" + string(p) + "\x00" + id }

// ofPrompt is like ofEvent, for the text of a prompt.
func ofPrompt(hash string) string { return "prompt\x00" + hash }

// ofComment is like ofEvent, for the comment of a thumb.
func ofComment(p store.Project, f *ingest.Feedback) string {
	return "comment\x00" + string(p) + "\x00" + f.Event + "\x00" + f.TraceID + "\x00" + f.User
}

// sealedText is the prefix of a watch's sealed error. The rest is base64, because the column
// holds text.
const sealedText = "sealed:"

// ofError is like ofEvent, for the error of a watch.
func ofError(watch int64) string { return fmt.Sprintf("error of watch %d", watch) }

// sealError returns the stored form of the reason why an event could not be evaluated. The
// reason may quote sealed texts.
func (c *contents) sealError(watch int64, why string, day int64) (string, error) {
	if c.secret == nil || why == "" {
		return why, nil
	}
	stored, err := c.pack(ofError(watch), []byte(why), day)
	return sealedText + base64.StdEncoding.EncodeToString(stored), err
}

// openError is the inverse of sealError. Without the key it returns "".
func (c *contents) openError(watch int64, stored string) string {
	text, isSealed := strings.CutPrefix(stored, sealedText)
	data, err := base64.StdEncoding.DecodeString(text)
	if !isSealed || err != nil {
		return stored
	}
	why, err := c.unpack(ofError(watch), data)
	if err != nil {
		return ""
	}
	return string(why)
}

// packEvent returns the stored form of an event's texts.
func (c *contents) packEvent(p store.Project, e *ingest.Event, now time.Time) ([]byte, error) {
	metadata := ""
	if e.Metadata.Len() > 0 {
		metadata = value.Stringify(e.Metadata)
	}
	texts := [...]string{e.Input, e.Output, e.Context, metadata, e.Error}
	size := 0
	for _, text := range texts {
		size += len(text) + binary.MaxVarintLen32
	}
	content := make([]byte, 0, size)
	for _, text := range texts {
		content = append(binary.AppendUvarint(content, uint64(len(text))), text...)
	}
	return c.pack(ofEvent(p, e.ID), content, dayOf(now))
}

// unpackEvent fills in the texts of an event.
func (c *contents) unpackEvent(p store.Project, e *ingest.Event, stored []byte) error {
	content, err := c.unpack(ofEvent(p, e.ID), stored)
	if err != nil {
		return err
	}
	var metadata string
	for _, into := range [...]*string{&e.Input, &e.Output, &e.Context, &metadata, &e.Error} {
		n, used := binary.Uvarint(content)
		if used <= 0 || n > uint64(len(content)-used) {
			return fmt.Errorf("the content of an event is damaged")
		}
		*into, content = string(content[used:used+int(n)]), content[used+int(n):]
	}
	if metadata == "" {
		return nil
	}
	v, err := value.ParseJSON(metadata)
	e.Metadata, _ = v.(*value.Object)
	return err
}
