// Package blobs keeps files named by a hash of their key. Start at [Open]. An entry
// is one readable file, dir/ab/cdef….json. Entries are written atomically, so any
// number of processes may share a folder without locks, and a broken entry counts
// as missing.
package blobs

import (
	"bytes"
	"context"
	"crypto/rand"
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

	"github.com/proviso-eval/proviso/value"
)

// maxEntry is the maximum size of an entry, in bytes.
const maxEntry = 128 << 20

const (
	suffix  = ".json"
	partial = ".part-" // prefix of files that are being written
)

// Store is a folder of entries. It is safe for concurrent use, even by several
// processes.
type Store struct{ dir string }

// Open returns the store in dir. It does no I/O: the first entry creates the
// folder.
func Open(dir string) *Store { return &Store{dir: dir} }

// Dir returns the folder.
func (s *Store) Dir() string { return s.dir }

// Key returns the key for the given parts: the hexadecimal SHA-256 of the parts,
// each after its length, so that different lists never give the same key.
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

// WithScope returns a context in which [KeyIn] returns keys that differ from those
// of any other scope.
func WithScope(ctx context.Context, scope string) context.Context {
	return context.WithValue(ctx, scopeKey{}, scope)
}

// KeyIn is [Key] within the scope of ctx, if it has one: another scope has other
// keys for the same parts.
func KeyIn(ctx context.Context, parts ...string) string {
	if scope, _ := ctx.Value(scopeKey{}).(string); scope != "" {
		return Key("scope", scope, Key(parts...))
	}
	return Key(parts...)
}

// Key is the function [Key], for callers that use the store as an interface.
func (*Store) Key(parts ...string) string { return Key(parts...) }

// Path returns the file of an entry, whether or not it exists.
func (s *Store) Path(key string) string {
	if !valid(key) {
		return filepath.Join(s.dir, "invalid")
	}
	return filepath.Join(s.dir, key[:2], key[2:]+suffix)
}

// valid reports whether key has the form that [Key] returns, and so is a safe file
// name.
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

// Read returns the bytes of an entry as stored. The error for a missing entry is
// fs.ErrNotExist.
func (s *Store) Read(key string) ([]byte, error) {
	if err := checked(key); err != nil {
		return nil, err
	}
	f, err := os.Open(s.Path(key))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxEntry+1))
	if err == nil && len(data) > maxEntry {
		err = fmt.Errorf("%s has more than %d bytes", s.Path(key), maxEntry)
	}
	return data, err
}

// Write stores data as the entry of key. It writes a temporary file and renames it,
// so that no reader sees a partial entry.
func (s *Store) Write(key string, data []byte) error {
	if err := checked(key); err != nil {
		return err
	}
	if len(data) > maxEntry {
		return fmt.Errorf("an entry of %d bytes is more than %d", len(data), maxEntry)
	}
	if err := s.write(key, data); err != nil {
		return s.failure(err)
	}
	return nil
}

// failure names the folder in an error instead of a file in it, whose name is
// meaningless to users.
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

// Replace makes data the contents of a file. It writes a temporary file and renames it,
// so that the file is complete at any time and unchanged after an error.
func Replace(name string, data []byte, mode fs.FileMode) error {
	return replaceBy(name, mode, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// replaceBy is [Replace] with contents from a function.
func replaceBy(name string, mode fs.FileMode, write func(io.Writer) error) error {
	temp := filepath.Join(filepath.Dir(name), partial+rand.Text())
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	err = write(f)
	// Some file systems report errors such as a quota only at Close.
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temp, name)
	}
	if err != nil {
		_ = os.Remove(temp) // the first error is the cause
	}
	return err
}

// ErrFolder means that a file name is the name of a folder.
var ErrFolder = errors.New("it is a folder")

// WriteBy is [replaceBy] for a name that a user gives. For a link it replaces the
// target, not the link. It writes directly to a file that is not regular, such as a
// pipe. The error for a folder is [ErrFolder].
func WriteBy(name string, mode fs.FileMode, write func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	info, err := os.Stat(name)
	switch {
	case err != nil || info.Mode().IsRegular():
		return replaceBy(name, mode, write)
	case info.IsDir():
		return ErrFolder
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// Writable creates the folder if needed, and returns an error if no entry can be
// stored in it.
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
func (s *Store) Put(key string, entry *value.Object) error {
	var b bytes.Buffer
	if err := json.Indent(&b, value.AppendJSON(nil, entry), "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	return s.Write(key, b.Bytes())
}

// Get reads an object that [Store.Put] wrote, and the time of writing. It is nil if
// there is none; a file without a complete object is removed.
func (s *Store) Get(key string) (*value.Object, time.Time, error) {
	data, err := s.Read(key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, time.Time{}, nil
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	v, _ := value.ParseJSON(string(data))
	entry, ok := v.(*value.Object)
	if !ok {
		return nil, time.Time{}, s.Delete(key)
	}
	info, err := os.Stat(s.Path(key))
	if err != nil { // removed in the meantime; the data is still valid
		return entry, time.Time{}, nil
	}
	return entry, info.ModTime(), nil
}

// Delete removes an entry; a missing entry is not an error.
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
