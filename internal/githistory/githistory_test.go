package githistory_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/proviso-eval/proviso/internal/githistory"
)

// repo is a repository that a test creates.
type repo struct {
	t     testing.TB
	dir   string
	store *filesystem.Storage
	clock int
}

func newRepo(t testing.TB) *repo {
	t.Helper()
	dir := t.TempDir()
	s := filesystem.NewStorage(osfs.New(filepath.Join(dir, ".git")), cache.NewObjectLRUDefault())
	r := &repo{t: t, dir: dir, store: s}
	r.must(s.Init())
	r.must(s.SetReference(plumbing.NewSymbolicReference(plumbing.HEAD, "refs/heads/main")))
	return r
}

func (r *repo) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) put(encode func(plumbing.EncodedObject) error) plumbing.Hash {
	r.t.Helper()
	o := r.store.NewEncodedObject()
	r.must(encode(o))
	hash, err := r.store.SetEncodedObject(o)
	r.must(err)
	return hash
}

func (r *repo) blob(text string) plumbing.Hash {
	return r.put(func(o plumbing.EncodedObject) error {
		o.SetType(plumbing.BlobObject)
		w, err := o.Writer()
		if err != nil {
			return err
		}
		if _, err := w.Write([]byte(text)); err != nil {
			return err
		}
		return w.Close()
	})
}

// commit writes files, which may be in folder p, and makes the commit HEAD.
func (r *repo) commit(message string, files map[string]string, parents ...plumbing.Hash) plumbing.Hash {
	r.t.Helper()
	root, folder := &object.Tree{}, &object.Tree{}
	for name, text := range files {
		entry := object.TreeEntry{Name: filepath.Base(name), Mode: filemode.Regular, Hash: r.blob(text)}
		if strings.HasPrefix(name, "p/") {
			folder.Entries = append(folder.Entries, entry)
		} else {
			root.Entries = append(root.Entries, entry)
		}
	}
	byName := func(a, b object.TreeEntry) int { return strings.Compare(a.Name, b.Name) }
	if len(folder.Entries) > 0 {
		slices.SortFunc(folder.Entries, byName)
		root.Entries = append(root.Entries, object.TreeEntry{Name: "p", Mode: filemode.Dir, Hash: r.put(folder.Encode)})
	}
	slices.SortFunc(root.Entries, byName)
	r.clock++
	who := object.Signature{Name: "Ann Example", Email: "ann@example.com", When: time.Unix(int64(1_700_000_000+r.clock*3600), 0)}
	c := &object.Commit{Author: who, Committer: who, Message: message, TreeHash: r.put(root.Encode), ParentHashes: parents}
	hash := r.put(c.Encode)
	r.must(r.store.SetReference(plumbing.NewHashReference("refs/heads/main", hash)))
	return hash
}

func (r *repo) write(name, text string) string {
	r.t.Helper()
	file := filepath.Join(r.dir, filepath.FromSlash(name))
	r.must(os.MkdirAll(filepath.Dir(file), 0o755))
	r.must(os.WriteFile(file, []byte(text), 0o600))
	return file
}

func shown(h *githistory.History) string {
	var list []string
	for _, v := range h.Revisions {
		list = append(list, fmt.Sprintf("%s %s %q", v.Path, v.Subject, v.Text))
	}
	return strings.Join(append(list, h.Notes...), "\n")
}

const long = "You are a teacher.\nAnswer in one sentence.\nBe kind and patient.\n"

func TestOf(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	a := r.commit("begin\n\nbody", map[string]string{"p/old.txt": long, "x": "1"})
	b := r.commit("other file", map[string]string{"p/old.txt": long, "x": "2"}, a)
	c := r.commit("move", map[string]string{"p/new.txt": long, "x": "2"}, b)
	d := r.commit("move and change", map[string]string{"top.txt": long + "More.\n", "x": "2"}, c)
	// A branch that keeps the file, and a merge that takes the other side.
	side := r.commit("side", map[string]string{"top.txt": long + "More.\n", "x": "3"}, d)
	e := r.commit("change", map[string]string{"top.txt": long + "Still more.\n", "x": "2"}, d)
	r.commit("merge", map[string]string{"top.txt": long + "Still more.\n", "x": "3"}, side, e)
	file := r.write("top.txt", long+"Still more.\r\n")

	h, err := githistory.Of(context.Background(), file)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("p/old.txt begin %q\ntop.txt move and change %q\ntop.txt change %q", long, long+"More.\n", long+"Still more.\n")
	if got := shown(h); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	r.write("top.txt", "new")
	if h, err = githistory.Of(context.Background(), file); err != nil || !strings.HasSuffix(shown(h), `top.txt not committed "new"`) {
		t.Errorf("%v\n%s", err, shown(h))
	}
	r.must(os.Remove(file))
	if h, err = githistory.Of(context.Background(), file); err != nil || !strings.HasSuffix(shown(h), "the file is not in the working copy") {
		t.Errorf("%v\n%s", err, shown(h))
	}
}

func TestOfWorktree(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	head := r.commit("begin", map[string]string{"a.txt": "a"})
	linked := t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(r.dir, ".git/worktrees/w/HEAD"):      head.String() + "\n",
		filepath.Join(r.dir, ".git/worktrees/w/commondir"): "../..\n",
		filepath.Join(linked, ".git"):                      "gitdir: " + filepath.Join(r.dir, ".git/worktrees/w") + "\n",
		filepath.Join(linked, "a.txt"):                     "a",
	} {
		r.must(os.MkdirAll(filepath.Dir(name), 0o755))
		r.must(os.WriteFile(name, []byte(text), 0o600))
	}
	h, err := githistory.Of(context.Background(), filepath.Join(linked, "a.txt"))
	if err != nil || shown(h) != `a.txt begin "a"` {
		t.Errorf("%v\n%s", err, shown(h))
	}
}

func TestOfShallow(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.commit("second", map[string]string{"a.txt": "a"}, plumbing.NewHash("1234567890123456789012345678901234567890"))
	h, err := githistory.Of(context.Background(), r.write("a.txt", "a"))
	if err != nil || !strings.Contains(shown(h), "shallow") {
		t.Errorf("%v\n%s", err, shown(h))
	}
}

func TestOfMistakes(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	broken := t.TempDir()
	r.must(os.WriteFile(filepath.Join(broken, ".git"), []byte("nonsense"), 0o600))
	none := r.write("none.txt", "x")
	for _, c := range []struct{ file, want string }{
		{none, "has no commit"},
		{filepath.Join(t.TempDir(), "x"), "is not in a git repository"},
		{r.dir, "is a folder"},
		{filepath.Join(broken, "x"), "does not name the folder of a repository"},
	} {
		if _, err := githistory.Of(context.Background(), c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	r.commit("begin", map[string]string{"a.txt": "a"})
	for _, file := range []string{none, filepath.Join(r.dir, "gone.txt")} {
		if _, err := githistory.Of(context.Background(), file); err == nil || !strings.Contains(err.Error(), "is not in the last commit") {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := githistory.Of(ctx, filepath.Join(r.dir, "a.txt")); err == nil {
		t.Error("a cancelled reading has no error")
	}
}
