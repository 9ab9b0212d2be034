package githistory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/proviso-eval/proviso"
)

// Limits of the files of one commit.
const (
	maxFiles     = 50_000
	maxFile      = 64 << 20 // bytes of one file
	maxFileTotal = 1 << 30
	maxLinks     = 8 // links that lead to each other
)

// Snapshot is the files of one commit. It is not safe for concurrent use.
type Snapshot struct {
	Root   string // root of the working copy, links resolved
	Commit string // full hash
	Notes  []string

	r     *reader
	tree  plumbing.Hash
	trees map[plumbing.Hash][]entry
	files int
	bytes int64
}

// At returns the files of a commit in the repository around a folder. name is a branch, a tag
// or a hash, optionally followed by ~ and ^. At fetches nothing.
func At(ctx context.Context, dir, name string) (*Snapshot, error) {
	root, err := repository(dir)
	if err != nil {
		return nil, err
	}
	store, err := open(root)
	if err != nil {
		return nil, err
	}
	r := &reader{ctx: ctx, store: store, history: &History{}}
	c, err := r.resolve(root, name)
	if err != nil {
		return nil, err
	}
	return &Snapshot{Root: root, Commit: c.hash.String(), r: r, tree: c.tree, trees: map[plumbing.Hash][]entry{}}, nil
}

// Name returns the repository name of a path on disk, with slashes; false if the path is
// outside the repository. The path need not exist. Links below the root stay in the name: a
// file that a change replaced with a link to another file keeps its own name.
func (s *Snapshot) Name(file string) (string, bool) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return "", false
	}
	rest, real := "", ""
	for dir := abs; ; {
		if at, err := filepath.EvalSymlinks(dir); err == nil && at == s.Root {
			real = filepath.Join(at, rest) // if several folders match, the one with the longest rest wins
		} else if err == nil && real == "" {
			real = filepath.Join(at, rest)
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir, rest = up, filepath.Join(filepath.Base(dir), rest)
	}
	rel, err := filepath.Rel(s.Root, real)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

func (s *Snapshot) list(hash plumbing.Hash) ([]entry, error) {
	if list, ok := s.trees[hash]; ok {
		return list, nil
	}
	if len(s.trees) > 2*maxFiles {
		return nil, fmt.Errorf("the commit has too many folders")
	}
	list, err := s.r.tree(hash)
	if err != nil {
		return nil, err
	}
	s.trees[hash] = list
	return list, nil
}

// find returns the entry of a name, following links inside the repository; nil if there is
// none. "." is the root.
func (s *Snapshot) find(name string) (*entry, error) {
	for range maxLinks {
		e, rest, at, err := s.walk(name)
		if err != nil || e == nil || !e.link {
			return e, err
		}
		target, err := s.r.object(plumbing.BlobObject, e.hash, 4096)
		if err != nil {
			return nil, err
		}
		name = path.Join(path.Dir(at), string(target), rest)
		if path.IsAbs(string(target)) || name != "." && !fs.ValidPath(name) {
			s.note("the link %s leads out of the repository and is left out", at)
			return nil, nil
		}
	}
	return nil, nil
}

// walk follows a name to its entry, or to the first link on the way and the rest of the name
// behind that link.
func (s *Snapshot) walk(name string) (e *entry, rest, at string, err error) {
	e = &entry{folder: true, hash: s.tree}
	if name == "." {
		return e, "", name, nil
	}
	parts := strings.Split(name, "/")
	for i, part := range parts {
		if !e.folder {
			return nil, "", "", nil
		}
		list, err := s.list(e.hash)
		if err != nil {
			return nil, "", "", err
		}
		k := slices.IndexFunc(list, func(x entry) bool { return x.name == part })
		if k < 0 {
			return nil, "", "", nil
		}
		if e = &list[k]; e.link {
			return e, strings.Join(parts[i+1:], "/"), strings.Join(parts[:i+1], "/"), nil
		}
	}
	return e, "", name, nil
}

func (s *Snapshot) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); len(s.Notes) < 20 && !slices.Contains(s.Notes, text) {
		s.Notes = append(s.Notes, text)
	}
}

// Write writes a file, or a folder with everything in it, below a folder on disk, under its
// name in the repository. A link to a file in the repository becomes a copy of that file.
// Links to folders are resolved in names, but not copied. Write runs no hook and no filter. It
// reports whether the commit has the name; files that were written before stay unchanged.
func (s *Snapshot) Write(to *os.Root, name string) (bool, error) {
	e, err := s.find(name)
	if err != nil || e == nil {
		return false, err
	}
	return true, s.write(to, name, e, 0)
}

func (s *Snapshot) write(to *os.Root, name string, e *entry, depth int) error {
	switch {
	case s.r.ctx.Err() != nil:
		return context.Cause(s.r.ctx)
	case e.file:
		return s.writeFile(to, name, e)
	case !e.folder || depth > maxFolders:
		return nil // a submodule
	}
	list, err := s.list(e.hash)
	if err != nil {
		return err
	}
	for i := range list {
		child := &list[i]
		inner := path.Join(name, child.name)
		if !plain(child.name) {
			s.note("%q in %s is not a valid file name, and is left out", shortened(child.name), name)
			continue
		}
		if child.link {
			if child, err = s.find(inner); err != nil {
				return err
			}
			if child == nil || child.folder { // a file in a linked folder is written only on request
				continue
			}
		}
		if err := s.write(to, inner, child, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// plain reports whether a name in a tree is a valid file name on every system.
func plain(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.EqualFold(name, ".git") && !strings.ContainsAny(name, "/\\\x00") && filepath.IsLocal(name)
}

// lfs is the start of a file whose content is stored elsewhere (Git LFS specification, version
// 1).
var lfs = []byte("version https://git-lfs.github.com/spec/")

func (s *Snapshot) writeFile(to *os.Root, name string, e *entry) error {
	local := filepath.FromSlash(name)
	if _, err := to.Lstat(local); err == nil {
		return nil
	}
	data, err := s.r.object(plumbing.BlobObject, e.hash, maxFile)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.files++
	s.bytes += int64(len(data))
	if s.files > maxFiles || s.bytes > maxFileTotal {
		return proviso.Errorf(proviso.Limit, "the commit has more than %d files or %d MiB in this folder; put the suite into a folder of its own", maxFiles, maxFileTotal>>20)
	}
	if bytes.HasPrefix(data, lfs) {
		s.note("%s is kept in Git LFS, so that only its pointer is read", name)
	}
	if err := to.MkdirAll(filepath.Dir(local), 0o700); err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	if e.program {
		mode = 0o700
	}
	return to.WriteFile(local, data, mode)
}

// Changed returns which of the given paths on disk differ from the commit, by their names in
// the repository: changed, new or deleted files. A folder is changed if a file that the commit
// has directly in it is gone. Paths outside of the repository are ignored.
func (s *Snapshot) Changed(paths []string) ([]string, error) {
	changed := map[string]bool{}
	for _, file := range paths {
		if err := s.r.ctx.Err(); err != nil {
			return nil, err
		}
		name, ok := s.Name(file)
		if !ok || name == ".git" || strings.HasPrefix(name, ".git/") {
			continue
		}
		e, err := s.find(name)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(file)
		switch here := err == nil; {
		case e == nil && here && info.Mode().IsRegular(), e != nil && e.file && !here:
			changed[name] = true
		case e == nil || !here && !e.folder:
		case e.folder:
			if err := s.gone(name, e, file, changed); err != nil {
				return nil, err
			}
		case !e.file || !info.Mode().IsRegular():
			changed[name] = true
		default:
			same, err := sameFile(file, e.hash)
			if err != nil {
				return nil, err
			}
			if !same {
				changed[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(changed)), nil
}

// gone adds the files that the commit has in a folder and the folder on disk lacks.
func (s *Snapshot) gone(name string, e *entry, dir string, changed map[string]bool) error {
	list, err := s.list(e.hash)
	if err != nil {
		return err
	}
	for _, child := range list {
		if !child.file && !child.link || !plain(child.name) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, child.name)); errors.Is(err, fs.ErrNotExist) {
			changed[path.Join(name, child.name)] = true
		}
	}
	return nil
}

// sameFile compares a file with a blob by its hash. A checkout may have changed the line
// endings.
func sameFile(file string, hash plumbing.Hash) (bool, error) {
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil || len(data) > maxFile {
		return false, err // a file that is too large to compare counts as changed
	}
	if plumbing.ComputeHash(plumbing.BlobObject, data) == hash {
		return true, nil
	}
	unix := bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return len(unix) < len(data) && plumbing.ComputeHash(plumbing.BlobObject, unix) == hash, nil
}
