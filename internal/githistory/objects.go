package githistory

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// commit is the part of a commit that this package needs. (The object package of go-git would
// also check signatures, with an OpenPGP library that every command would have to initialize.)
type commit struct {
	hash    plumbing.Hash
	tree    plumbing.Hash
	parents []plumbing.Hash
	time    time.Time
	message string
}

// The maximum size of a commit and of a tree, in bytes.
const maxCommit, maxTree = 1 << 20, 64 << 20

// commit reads a commit: header lines, a blank line and the message (gitformat-commit, the
// format of `git cat-file commit`).
func (r *reader) commit(hash plumbing.Hash) (*commit, error) {
	data, err := r.object(plumbing.CommitObject, hash, maxCommit)
	if err != nil {
		return nil, err
	}
	head, message, _ := strings.Cut(string(data), "\n\n")
	c := &commit{hash: hash, message: message}
	for line := range strings.SplitSeq(head, "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "tree":
			c.tree = plumbing.NewHash(value)
		case "parent":
			c.parents = append(c.parents, plumbing.NewHash(value))
		case "committer":
			_, after, _ := strings.Cut(value, "> ")
			seconds, _, _ := strings.Cut(after, " ")
			if n, err := strconv.ParseInt(seconds, 10, 64); err == nil {
				c.time = time.Unix(n, 0).UTC()
			}
		}
	}
	if c.tree.IsZero() {
		return nil, fmt.Errorf("commit %s has no tree", short(hash))
	}
	return c, nil
}

func short(hash plumbing.Hash) string { return hash.String()[:7] }

// entry is a member of a tree.
type entry struct {
	name   string
	hash   plumbing.Hash
	folder bool
	file   bool // a regular file: no link, no submodule
	link   bool // a symbolic link

	program bool // an executable file
}

// tree reads a folder: mode, name, NUL and hash of each member.
func (r *reader) tree(hash plumbing.Hash) ([]entry, error) {
	data, err := r.object(plumbing.TreeObject, hash, maxTree)
	if err != nil {
		return nil, err
	}
	var list []entry
	for len(data) > 0 {
		nul := bytes.IndexByte(data, 0)
		if nul < 0 || len(data) < nul+1+len(plumbing.Hash{}) {
			return nil, fmt.Errorf("tree %s is broken", short(hash))
		}
		mode, name, _ := strings.Cut(string(data[:nul]), " ")
		e := entry{name: name, folder: mode == "40000", file: strings.HasPrefix(mode, "100"), link: mode == "120000", program: mode == "100755"}
		copy(e.hash[:], data[nul+1:])
		list = append(list, e)
		data = data[nul+1+len(plumbing.Hash{}):]
	}
	return list, nil
}

// blob returns the file's blob in a commit, or the zero hash if the commit does not have it.
func (r *reader) blob(c *commit, name string) (plumbing.Hash, error) {
	at := c.tree
	parts := strings.Split(name, "/")
	for i, part := range parts {
		list, err := r.tree(at)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		var found *entry
		for k := range list {
			if list[k].name == part {
				found = &list[k]
			}
		}
		switch last := i == len(parts)-1; {
		case found == nil, !last && !found.folder:
			return plumbing.ZeroHash, nil
		case last && !found.file:
			return plumbing.ZeroHash, fmt.Errorf("%s is not a file in commit %s", part, short(c.hash))
		default:
			at = found.hash
		}
	}
	return at, nil
}

// object reads a whole object.
func (r *reader) object(kind plumbing.ObjectType, hash plumbing.Hash, limit int64) ([]byte, error) {
	// The size is known before the object is loaded, whether it is stored whole or as a delta.
	if size, err := r.store.EncodedObjectSize(hash); err == nil && size > limit {
		return nil, fmt.Errorf("%s %s has %d MiB; %d MiB are read", kind, short(hash), size>>20, limit>>20)
	}
	o, err := r.store.EncodedObject(kind, hash)
	if err != nil {
		return nil, err
	}
	in, err := o.Reader()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	return data, errors.Join(err, in.Close())
}

// gone lists at most limit files that are in one tree and not in the other. It skips folders
// that are the same in both.
func (r *reader) gone(from, to plumbing.Hash, prefix string, depth, limit int, list map[string]plumbing.Hash) error {
	if from == to || depth > maxFolders || len(list) >= limit || r.ctx.Err() != nil {
		return nil
	}
	before, err := r.tree(from)
	if err != nil {
		return err
	}
	after := map[string]entry{}
	if !to.IsZero() {
		entries, err := r.tree(to)
		if err != nil {
			return err
		}
		for _, e := range entries {
			after[e.name] = e
		}
	}
	for _, e := range before {
		now, there := after[e.name]
		switch {
		case e.folder && there && now.folder:
			err = r.gone(e.hash, now.hash, prefix+e.name+"/", depth+1, limit, list)
		case e.folder:
			err = r.gone(e.hash, plumbing.ZeroHash, prefix+e.name+"/", depth+1, limit, list)
		case e.file && !there && len(list) < limit:
			list[prefix+e.name] = e.hash
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxFolders is the maximum folder depth of the search for a file's old name.
const maxFolders = 64
