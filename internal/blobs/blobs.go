// Package blobs keeps files that are named by the hash of what they stand for.
// Start at [Open]. An entry is one file, dir/ab/cdef….json, that people can read:
// it appears whole or not at all, so that any number of processes may use one
// folder without locks, and whatever is broken is as if it were not there.
package blobs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/proviso-eval/proviso"
)

// MaxEntry is the most bytes that an entry may have.
const MaxEntry = 128 << 20

const (
	suffix  = ".json"
	partial = ".part-" // begins the names of files that are being written
)

// Store is a folder of entries. It is safe for concurrent use, by several
// processes too.
type Store struct{ dir string }

// Open returns the store in dir. It does no work: the folder is made with the
// first entry.
func Open(dir string) *Store { return &Store{dir: dir} }

// Dir returns the folder.
func (s *Store) Dir() string { return s.dir }

// Key returns the name of what the parts describe: the SHA-256, in hexadecimal,
// of the parts with the length of each before it, so that no two lists of parts
// run together.
func Key(parts ...string) string {
	h := sha256.New()
	var length [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(length[:], uint64(len(p)))
		h.Write(length[:])
		io.WriteString(h, p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

type scopeKey struct{}

// WithScope returns a context in which [KeyIn] gives names that no other scope has.
func WithScope(ctx context.Context, scope string) context.Context {
	return context.WithValue(ctx, scopeKey{}, scope)
}

// KeyIn is [Key] within the scope of ctx, if it has one: what somebody else keeps for
// the same parts has another name.
func KeyIn(ctx context.Context, parts ...string) string {
	if scope, _ := ctx.Value(scopeKey{}).(string); scope != "" {
		return Key("scope", scope, Key(parts...))
	}
	return Key(parts...)
}

// Key is the function [Key], for those who know the store as an interface.
func (*Store) Key(parts ...string) string { return Key(parts...) }

// Path returns the file of an entry, whether or not it is there.
func (s *Store) Path(key string) string {
	if !valid(key) {
		return filepath.Join(s.dir, "invalid")
	}
	return filepath.Join(s.dir, key[:2], key[2:]+suffix)
}

// valid reports whether key is one that [Key] makes, and so a safe file name.
func valid(key string) bool {
	if len(key) != hex.EncodedLen(sha256.Size) {
		return false
	}
	for i := range len(key) {
		if c := key[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func checked(key string) error {
	if !valid(key) {
		return fmt.Errorf("%q is not the key of an entry", key)
	}
	return nil
}

// Read returns the bytes of an entry as they are in the file. There being none
// is an error that is fs.ErrNotExist.
func (s *Store) Read(key string) ([]byte, error) {
	if err := checked(key); err != nil {
		return nil, err
	}
	f, err := os.Open(s.Path(key))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxEntry+1))
	if err == nil && len(data) > MaxEntry {
		err = fmt.Errorf("%s has more than %d bytes", s.Path(key), MaxEntry)
	}
	return data, err
}

// Write makes data the entry of key: it is written beside its place and moved
// there, so that nobody sees half of it.
func (s *Store) Write(key string, data []byte) error {
	if err := checked(key); err != nil {
		return err
	}
	if len(data) > MaxEntry {
		return fmt.Errorf("an entry of %d bytes is more than %d", len(data), MaxEntry)
	}
	if err := s.write(key, data); err != nil {
		return s.failure(err)
	}
	return nil
}

// failure names the folder in place of a file in it, whose name says little.
func (s *Store) failure(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("write to %s: %w", s.dir, err)
}

func (s *Store) write(key string, data []byte) error {
	name := s.Path(key)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return Replace(name, data, 0o600)
}

// Replace makes data the contents of a file: it is written beside it and renamed,
// so that the file is whole at any time and stays as it was if anything goes wrong.
func Replace(name string, data []byte, mode fs.FileMode) error {
	return ReplaceBy(name, mode, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// ReplaceBy is [Replace] for contents that write writes.
func ReplaceBy(name string, mode fs.FileMode, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), partial+"*") // mode 0600
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil && mode != 0o600 {
		err = f.Chmod(mode)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error tells what is wrong
	}
	return err
}

// Writable makes the folder if need be, and says why nothing can be kept in it.
func (s *Store) Writable() error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return s.failure(err)
	}
	f, err := os.CreateTemp(s.dir, partial+"*")
	if err != nil {
		return s.failure(err)
	}
	_, err = f.Write([]byte("{}\n"))
	if err = errors.Join(err, f.Close(), os.Remove(f.Name())); err != nil {
		return s.failure(err)
	}
	return nil
}

// Put writes an object as indented JSON.
func (s *Store) Put(key string, entry *proviso.Object) error {
	var b bytes.Buffer
	if err := json.Indent(&b, proviso.AppendJSON(nil, entry), "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	return s.Write(key, b.Bytes())
}

// Get reads an object that [Store.Put] wrote, and when that was. It is nil if
// there is none; a file that does not hold a whole object is removed.
func (s *Store) Get(key string) (*proviso.Object, time.Time, error) {
	data, err := s.Read(key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, time.Time{}, nil
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	v, _ := proviso.ParseJSON(string(data))
	entry, ok := v.(*proviso.Object)
	if !ok {
		return nil, time.Time{}, s.Delete(key)
	}
	info, err := os.Stat(s.Path(key))
	if err != nil { // it was removed in the meantime; what was read is still right
		return entry, time.Time{}, nil
	}
	return entry, info.ModTime(), nil
}

// Delete removes an entry; that there is none is no error.
func (s *Store) Delete(key string) error {
	if err := checked(key); err != nil {
		return err
	}
	err := os.Remove(s.Path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
