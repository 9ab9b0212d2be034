package githistory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// Limits of the search for changes. Beyond them, Dirty is unknown.
const (
	maxTracked = 50_000   // files
	maxIndex   = 64 << 20 // bytes of git's index
	maxHashed  = 64 << 20 // bytes of a file
)

// State is what a repository has checked out.
type State struct {
	Commit string // in full
	Branch string // "" if HEAD is detached
	// Dirty is whether tracked files differ from the commit, in the index or in the working
	// copy. It is nil if unknown: the repository is too large, or the index format is not
	// supported.
	Dirty *bool
}

// Head returns the state of the repository around a folder. Like git, it compares the sizes
// and times of files with git's index, and reads only files that differ. It runs no filter, so
// a file whose line endings git would convert may count as changed.
func Head(ctx context.Context, dir string) (*State, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	root := around(abs)
	if root == "" {
		return nil, fmt.Errorf("%s is not in a git repository", dir)
	}
	store, err := open(root)
	if err != nil {
		return nil, err
	}
	ref, err := store.Reference(plumbing.HEAD)
	if err != nil {
		return nil, fmt.Errorf("read the repository of %s: %w", dir, err)
	}
	s := &State{}
	if ref.Type() == plumbing.SymbolicReference && ref.Target().IsBranch() {
		s.Branch = ref.Target().Short()
	}
	head, err := storer.ResolveReference(store, plumbing.HEAD)
	if err != nil {
		return nil, fmt.Errorf("the repository of %s has no commit: %w", dir, err)
	}
	s.Commit = head.Hash().String()
	r := &reader{ctx: ctx, store: store, history: &History{}}
	if dirty, err := r.dirty(root, head.Hash()); err == nil {
		s.Dirty = &dirty
	}
	return s, nil
}

var errUnknown = errors.New("too large")

// dirty compares the commit with the index, and the index with the files.
func (r *reader) dirty(root string, head plumbing.Hash) (bool, error) {
	c, err := r.commit(head)
	if err != nil {
		return false, err
	}
	info, err := r.store.Filesystem().Stat("index")
	if err != nil || info.Size() > maxIndex {
		return false, errors.Join(err, errUnknown)
	}
	idx, err := r.store.Index()
	if err != nil || len(idx.Entries) > maxTracked {
		return false, errors.Join(err, errUnknown)
	}
	if staged, err := r.staged(c, idx); staged || err != nil {
		return staged, err
	}
	for _, e := range idx.Entries {
		if r.ctx.Err() != nil {
			return false, context.Cause(r.ctx)
		}
		if e.SkipWorktree || e.Mode == filemode.Submodule {
			continue
		}
		if changed, err := changedFile(root, e, idx); changed || err != nil {
			return changed, err
		}
	}
	return false, nil
}

// staged reports whether the index differs from the commit. Usually the index holds the hash
// of the whole tree (the "cached tree" of gitformat-index).
func (r *reader) staged(c *commit, idx *index.Index) (bool, error) {
	if idx.Cache != nil {
		for _, t := range idx.Cache.Entries {
			if t.Path == "" && t.Entries >= 0 && t.Hash == c.tree {
				return false, nil
			}
		}
	}
	files := map[string]plumbing.Hash{}
	if err := r.files(c.tree, "", 0, files); err != nil {
		return false, err
	}
	for _, e := range idx.Entries {
		if e.Stage != index.Merged || e.IntentToAdd || files[e.Name] != e.Hash {
			return true, nil
		}
	}
	return len(files) != len(idx.Entries), nil
}

// files lists the files of a tree and its folders.
func (r *reader) files(tree plumbing.Hash, prefix string, depth int, list map[string]plumbing.Hash) error {
	entries, err := r.tree(tree)
	if err != nil || depth > maxFolders || len(list)+len(entries) > maxTracked || r.ctx.Err() != nil {
		return errors.Join(err, errUnknown)
	}
	for _, e := range entries {
		if !e.folder {
			list[prefix+e.name] = e.hash
			continue
		}
		if err := r.files(e.hash, prefix+e.name+"/", depth+1, list); err != nil {
			return err
		}
	}
	return nil
}

// changedFile reports whether a file differs from its entry in the index.
func changedFile(root string, e *index.Entry, idx *index.Index) (bool, error) {
	if !filepath.IsLocal(filepath.FromSlash(e.Name)) {
		return false, errUnknown // git writes no such name
	}
	path := filepath.Join(root, filepath.FromSlash(e.Name))
	info, err := os.Lstat(path)
	if err != nil || info.IsDir() {
		return true, nil
	}
	same := uint32(info.Size()) == e.Size && info.ModTime().Equal(e.ModifiedAt)
	if same && info.ModTime().Before(idx.ModTime) {
		return false, nil // git looked in the same instant, so a later change may have the same time
	}
	sum, err := blobOf(path, info)
	return sum != e.Hash, err
}

// blobOf returns the hash that git would store for a file or a link.
func blobOf(path string, info os.FileInfo) (plumbing.Hash, error) {
	if info.Mode()&os.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		return plumbing.ComputeHash(plumbing.BlobObject, []byte(filepath.ToSlash(target))), err
	}
	if !info.Mode().IsRegular() || info.Size() > maxHashed {
		return plumbing.ZeroHash, errUnknown
	}
	f, err := os.Open(path)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	defer f.Close()
	h := plumbing.NewHasher(plumbing.BlobObject, info.Size())
	n, err := io.Copy(h, io.LimitReader(f, maxHashed+1))
	if n != info.Size() {
		return plumbing.ZeroHash, err // it is being written
	}
	return h.Sum(), err
}
