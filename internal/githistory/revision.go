package githistory

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/pattern"
)

// maxRef is the maximum length of a commit name, and maxSteps how far ~ and ^ may go back.
const maxRef, maxSteps = 250, 100_000

// refName is what git-check-ref-format(1) permits, without a leading dash, which a program
// would take for an option.
var refName = pattern.Of(`^[\pL\pN_@][\pL\pN_@./+#=,%-]*$`)

// parents is what may follow a name: ~, ~3, ^, ^2 and sequences of them
// (gitrevisions(7)).
var parents = pattern.Of(`^(?:[~^][0-9]*)*$`)

// resolve finds a commit by a branch, a tag, a remote branch, HEAD, @ or a hash of at least 4
// digits, optionally followed by ~ and ^.
func (r *reader) resolve(root, name string) (*commit, error) {
	base, steps := name, ""
	if i := strings.IndexAny(name, "~^"); i >= 0 {
		base, steps = name[:i], name[i:]
	}
	switch {
	case len(name) > maxRef || !refName.Matches(base) || strings.Contains(base, "..") || strings.Contains(base, "//") || !parents.Matches(steps):
		return nil, proviso.Errorf(proviso.Invalid, "%q is not the name of a commit: expected a branch, a tag or a hash, such as origin/main, v1.2, HEAD~1 or 3f2a91c", shortened(name))
	case base == "@":
		base = "HEAD"
	}
	hash, err := r.named(base)
	if err != nil {
		return nil, err
	}
	if hash.IsZero() {
		return nil, r.unknown(root, name)
	}
	c, err := r.peeled(hash)
	if err == nil {
		c, err = r.back(c, steps)
	}
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, r.unknown(root, name)
	}
	return c, err
}

func shortened(name string) string { return name[:min(len(name), 100)] }

// named returns the hash that a name stands for, or the zero hash if the name is unknown. As
// in git, a name has priority over a hash prefix.
func (r *reader) named(base string) (plumbing.Hash, error) {
	if len(base) == 40 && plumbing.IsHash(base) {
		return plumbing.NewHash(base), nil
	}
	for _, rule := range plumbing.RefRevParseRules {
		full := plumbing.ReferenceName(fmt.Sprintf(rule, base))
		if !strings.HasPrefix(full.String(), "refs/") && full.String() != strings.ToUpper(base) {
			continue // outside of refs, only names such as HEAD and FETCH_HEAD count
		}
		if ref, err := storer.ResolveReference(r.store, full); err == nil {
			return ref.Hash(), nil
		}
	}
	if len(base) < 4 || len(base) > 40 {
		return plumbing.ZeroHash, nil
	}
	prefix, err := hex.DecodeString(base[:len(base)&^1])
	if err != nil {
		return plumbing.ZeroHash, nil
	}
	list, err := r.store.HashesWithPrefix(prefix)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	list = slices.DeleteFunc(list, func(h plumbing.Hash) bool {
		_, err := r.store.EncodedObject(plumbing.CommitObject, h)
		return err != nil || !strings.HasPrefix(h.String(), strings.ToLower(base))
	})
	switch len(list) {
	case 0:
		return plumbing.ZeroHash, nil
	case 1:
		return list[0], nil
	}
	return plumbing.ZeroHash, proviso.Errorf(proviso.Invalid, "%s is the beginning of %d commits; write more of its digits", base, len(list))
}

// unknown returns the error that there is no such commit, with advice.
func (r *reader) unknown(root, name string) error {
	hint := "`git fetch` downloads what a remote has"
	if _, err := r.store.Shallow(); err == nil {
		if list, _ := r.store.Shallow(); len(list) > 0 {
			hint = "the clone is shallow; `git fetch --unshallow`, or fetch-depth: 0 in actions/checkout, gets the rest"
		}
	}
	return proviso.Errorf(proviso.NotFound, "the repository %s has no commit named %s: %s", filepath.Base(root), name, hint)
}

// maxTags limits tags of tags.
const maxTags = 10

// peeled returns the commit that a hash is or that a tag points to.
func (r *reader) peeled(hash plumbing.Hash) (*commit, error) {
	for range maxTags {
		data, err := r.object(plumbing.TagObject, hash, maxCommit)
		if err != nil {
			break
		}
		target, ok := strings.CutPrefix(string(data), "object ")
		if !ok || len(target) < 40 {
			return nil, fmt.Errorf("tag %s is broken", short(hash))
		}
		hash = plumbing.NewHash(target[:40])
	}
	return r.commit(hash)
}

// back follows ~n, the n-th first parent, and ^n, the n-th parent.
func (r *reader) back(c *commit, steps string) (*commit, error) {
	for steps != "" {
		kind := steps[0]
		digits := steps[1:]
		if i := strings.IndexAny(digits, "~^"); i >= 0 {
			digits = digits[:i]
		}
		steps = steps[1+len(digits):]
		n := 1
		if digits != "" {
			var err error
			if n, err = strconv.Atoi(digits); err != nil || n > maxSteps {
				return nil, proviso.Errorf(proviso.Invalid, "%c%s goes back too far", kind, shortened(digits))
			}
		}
		times, parent := n, 0
		if kind == '^' {
			times, parent = min(n, 1), n-1
		}
		for range times {
			if err := r.ctx.Err(); err != nil {
				return nil, err
			}
			if parent >= len(c.parents) {
				return nil, plumbing.ErrObjectNotFound
			}
			var err error
			if c, err = r.commit(c.parents[parent]); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// repository returns the root of the working copy around a folder, with links resolved. If the
// folder does not exist, the search starts at its nearest existing parent.
func repository(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		if info, err := os.Stat(abs); err == nil && info.IsDir() || abs == filepath.Dir(abs) {
			break
		}
		abs = filepath.Dir(abs)
	}
	root, _, err := locate(filepath.Join(abs, "x"))
	if err != nil {
		return "", proviso.Errorf(proviso.NotFound, "%s is not in a git repository; run this in a clone", dir)
	}
	return root, nil
}
