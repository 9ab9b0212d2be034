// Package githistory reads the revisions of one file, and the files of one commit, from
// the git repository around them. It reads git's objects and runs no git, no hook and no
// filter. Start at [Of] and [At].
package githistory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// Revision is the text of a file in one commit.
type Revision struct {
	Commit  string // in full; "" for the working copy
	Time    time.Time
	Subject string // first line of the commit message
	Path    string // path in the repository, with slashes
	Text    []byte
}

// Limits of a history.
const (
	maxCommits   = 200_000  // commits that are read
	maxRevisions = 10_000   // revisions that are kept
	maxText      = 16 << 20 // bytes per revision
	maxTotal     = 256 << 20
)

// History is the revisions of a file, oldest first, with notes for the user.
type History struct {
	Revisions []Revision
	Notes     []string
}

// Of returns the history of a file in its repository, back from HEAD. At a merge that kept one
// side it follows only that side, and it follows a renamed file under its old name. If the
// working copy differs from HEAD, it is the last revision. Of returns an error if there is no
// repository, if the repository does not have the file, or if a limit is exceeded.
func Of(ctx context.Context, file string) (*History, error) {
	root, name, err := locate(file)
	if err != nil {
		return nil, err
	}
	store, err := open(root)
	if err != nil {
		return nil, err
	}
	h := &reader{ctx: ctx, store: store, path: name, history: &History{}}
	head, err := storer.ResolveReference(store, plumbing.HEAD)
	switch {
	case errors.Is(err, plumbing.ErrReferenceNotFound):
		return nil, fmt.Errorf("the repository of %s has no commit", file)
	case err != nil:
		return nil, fmt.Errorf("read the repository of %s: %w", file, err)
	}
	if err := h.walk(head.Hash()); err != nil {
		return nil, fmt.Errorf("read the history of %s: %w", file, err)
	}
	if len(h.history.Revisions) == 0 {
		return nil, fmt.Errorf("%s is not in the last commit (HEAD) of its repository", file)
	}
	slices.Reverse(h.history.Revisions)
	if err := h.workingCopy(root, name); err != nil {
		return nil, err
	}
	return h.history, nil
}

// locate returns the root of the repository that contains a file, and the file's name in it.
// The file itself may be deleted.
func locate(file string) (root, name string, err error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return "", "", err
	}
	if info, err := os.Stat(abs); err == nil && info.IsDir() {
		return "", "", fmt.Errorf("%s is a folder; the history of a file is read", file)
	}
	dir := filepath.Dir(abs)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir, abs = real, filepath.Join(real, filepath.Base(abs))
	}
	if root = around(dir); root == "" {
		return "", "", fmt.Errorf("%s is not in a git repository", file)
	}
	rel, err := filepath.Rel(root, abs)
	return root, filepath.ToSlash(rel), err
}

// around returns the root of the repository that contains a folder, "" if there is none.
func around(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// open opens a repository's objects. In a linked worktree, .git is a file that names the
// worktree's folder, which names the common one (gitrepository-layout(5)).
func open(root string) (*filesystem.Storage, error) {
	dir := filepath.Join(root, ".git")
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		at, err := pointer(dir, "gitdir:")
		if err != nil {
			return nil, err
		}
		dir = at
	}
	fs := osfs.New(dir)
	if _, err := os.Stat(filepath.Join(dir, "commondir")); err == nil {
		common, err := pointer(filepath.Join(dir, "commondir"), "")
		if err != nil {
			return nil, err
		}
		fs = dotgit.NewRepositoryFilesystem(fs, osfs.New(common))
	}
	return filesystem.NewStorage(fs, cache.NewObjectLRU(32<<20)), nil
}

// pointer reads a file that names a folder, relative to the file's own folder.
func pointer(file, prefix string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil {
		return "", err
	}
	at, ok := strings.CutPrefix(strings.TrimSpace(string(data)), prefix)
	if at = strings.TrimSpace(at); !ok || at == "" {
		return "", fmt.Errorf("%s does not name the folder of a repository", file)
	}
	if !filepath.IsAbs(at) {
		at = filepath.Join(filepath.Dir(file), at)
	}
	return at, nil
}

type reader struct {
	ctx     context.Context
	store   *filesystem.Storage
	path    string
	total   int
	history *History
}

func (r *reader) note(format string, args ...any) {
	r.history.Notes = append(r.history.Notes, fmt.Sprintf(format, args...))
}

// walk follows the file from a commit back to the commit that added it.
func (r *reader) walk(at plumbing.Hash) error {
	c, err := r.commit(at)
	if err != nil {
		return err
	}
	blob, err := r.blob(c, r.path)
	if err != nil || blob.IsZero() {
		return err
	}
	for n := 0; c != nil; n++ {
		switch {
		case r.ctx.Err() != nil:
			return context.Cause(r.ctx)
		case n == maxCommits:
			r.note("only the last %d commits were looked at", maxCommits)
			return nil
		case len(r.history.Revisions) == maxRevisions:
			r.note("only the last %d versions were read", maxRevisions)
			return nil
		}
		next, theirs, err := r.before(c, blob)
		if err != nil {
			return err
		}
		if theirs != blob {
			if err := r.keep(c, blob); err != nil {
				return err
			}
		}
		if next != nil && theirs.IsZero() {
			if theirs, err = r.renamed(next, c, blob); err != nil {
				return err
			}
			if theirs == blob && len(r.history.Revisions) > 0 { // a rename alone is not a new version
				r.history.Revisions = r.history.Revisions[:len(r.history.Revisions)-1]
			}
			if theirs.IsZero() {
				return nil
			}
		}
		c, blob = next, theirs
	}
	return nil
}

// before returns the parent to follow and the file's blob there: the first parent with the
// same file, else the first parent that has the file, else the first parent.
func (r *reader) before(c *commit, blob plumbing.Hash) (*commit, plumbing.Hash, error) {
	var best *commit
	var found plumbing.Hash
	for _, hash := range c.parents {
		p, err := r.commit(hash)
		if errors.Is(err, plumbing.ErrObjectNotFound) {
			r.note("the repository is shallow: the commits before %s are missing", short(c.hash))
			continue
		}
		if err != nil {
			return nil, plumbing.ZeroHash, err
		}
		theirs, err := r.blob(p, r.path)
		if err != nil {
			return nil, plumbing.ZeroHash, err
		}
		switch {
		case theirs == blob:
			return p, theirs, nil
		case best == nil || found.IsZero() && !theirs.IsZero():
			best, found = p, theirs
		}
	}
	return best, found, nil
}

// As with git's -M50%, a deleted file is the same file under another name if half of the lines
// agree. At most renameLimit deleted files are compared.
const renameScore, renameLimit = 0.5, 1000

// renamed looks for the file's old name in the parent and follows it. It returns the file's
// blob there, or the zero hash if the commit added the file.
func (r *reader) renamed(parent, c *commit, blob plumbing.Hash) (plumbing.Hash, error) {
	gone := map[string]plumbing.Hash{}
	if err := r.gone(parent.tree, c.tree, "", 0, renameLimit, gone); err != nil {
		return plumbing.ZeroHash, err
	}
	best, score := "", 0.0
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		s := 1.0
		if gone[name] != blob {
			var err error
			if s, err = r.alike(gone[name], blob); err != nil {
				return plumbing.ZeroHash, err
			}
		}
		// Among equally similar files, prefer the one with the same base name.
		if s > score || s == score && path.Base(name) == path.Base(r.path) {
			best, score = name, s
		}
	}
	if score < renameScore {
		return plumbing.ZeroHash, nil
	}
	r.path = best
	return gone[best], nil
}

// maxCompared bounds how many bytes of a file are compared.
const maxCompared = 1 << 20

// alike returns the share of common lines of two files.
func (r *reader) alike(a, b plumbing.Hash) (float64, error) {
	var texts [2]string
	for i, hash := range []plumbing.Hash{a, b} {
		if size, err := r.store.EncodedObjectSize(hash); err != nil || size > maxCompared {
			return 0, err
		}
		data, err := r.object(plumbing.BlobObject, hash, maxCompared)
		if err != nil {
			return 0, err
		}
		texts[i] = string(data)
	}
	lines := map[string]int{}
	n, common := 0, 0
	for line := range strings.Lines(texts[0]) {
		lines[strings.TrimSpace(line)]++
		n++
	}
	m := 0
	for line := range strings.Lines(texts[1]) {
		m++
		if key := strings.TrimSpace(line); lines[key] > 0 {
			lines[key]--
			common++
		}
	}
	return float64(common) / float64(max(1, n, m)), nil
}

// keep adds the file's text in a commit.
func (r *reader) keep(c *commit, hash plumbing.Hash) error {
	data, err := r.object(plumbing.BlobObject, hash, maxText)
	if err != nil {
		return err
	}
	if r.total += len(data); r.total > maxTotal {
		return fmt.Errorf("its versions have more than %d MiB together", maxTotal>>20)
	}
	subject, _, _ := strings.Cut(strings.TrimSpace(c.message), "\n")
	r.history.Revisions = append(r.history.Revisions, Revision{
		Commit: c.hash.String(), Time: c.time, Subject: strings.TrimSpace(subject), Path: r.path, Text: data,
	})
	return nil
}

// workingCopy adds the file in the working copy if it differs from the last commit.
func (r *reader) workingCopy(root, name string) error {
	file := filepath.Join(root, filepath.FromSlash(name))
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		r.note("the file is not in the working copy")
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return err
	}
	if len(data) > maxText {
		return fmt.Errorf("%s is longer than the %d MiB that are read", file, maxText>>20)
	}
	n := len(r.history.Revisions)
	if n > 0 && sameText(r.history.Revisions[n-1].Text, data) {
		return nil
	}
	r.history.Revisions = append(r.history.Revisions, Revision{Subject: "not committed", Path: name, Text: data})
	return nil
}

// sameText compares texts, ignoring line endings, which a checkout may change.
func sameText(a, b []byte) bool {
	unix := func(s []byte) string { return strings.ReplaceAll(string(s), "\r\n", "\n") }
	return unix(a) == unix(b)
}
