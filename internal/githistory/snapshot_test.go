package githistory_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/proviso-eval/proviso/internal/githistory"
)

// raw writes a tree as a hostile program would: git itself refuses some of the names.
func (r *repo) raw(entries ...object.TreeEntry) plumbing.Hash {
	return r.put(func(o plumbing.EncodedObject) error {
		o.SetType(plumbing.TreeObject)
		w, err := o.Writer()
		if err != nil {
			return err
		}
		for _, e := range entries {
			mode := strings.TrimLeft(e.Mode.String(), "0")
			if _, err := w.Write(append([]byte(mode+" "+e.Name+"\x00"), e.Hash[:]...)); err != nil {
				return err
			}
		}
		return w.Close()
	})
}

func (r *repo) commitTree(tree plumbing.Hash, branch string, parents ...plumbing.Hash) plumbing.Hash {
	who := object.Signature{Name: "Ann Example", Email: "ann@example.com"}
	c := &object.Commit{Author: who, Committer: who, Message: "m", TreeHash: tree, ParentHashes: parents}
	hash := r.put(c.Encode)
	r.must(r.store.SetReference(plumbing.NewHashReference(plumbing.ReferenceName(branch), hash)))
	return hash
}

func (r *repo) file(name, text string) object.TreeEntry {
	return object.TreeEntry{Name: name, Mode: filemode.Regular, Hash: r.blob(text)}
}

func (r *repo) link(name, target string) object.TreeEntry {
	return object.TreeEntry{Name: name, Mode: filemode.Symlink, Hash: r.blob(target)}
}

func (r *repo) folder(name string, entries ...object.TreeEntry) object.TreeEntry {
	return object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: r.raw(entries...)}
}

// written writes names of a commit and returns all files that then exist.
func written(t *testing.T, s *githistory.Snapshot, names ...string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range names {
		if _, err := s.Write(root, name); err != nil {
			return "", err
		}
	}
	var list []string
	err = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if d.Type()&os.ModeSymlink != 0 {
				t.Errorf("%s is a link", p)
			}
			rel, _ := filepath.Rel(dir, p)
			text, _ := os.ReadFile(p)
			list = append(list, filepath.ToSlash(rel)+"="+string(text))
		}
		return err
	})
	return strings.Join(list, " "), err
}

// TestSnapshotWrite writes the folder of a suite and a file beside it. Nothing leads out of
// the repository, whatever the commit contains.
func TestSnapshotWrite(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write("secret", "not in the commit")
	loop := r.folder("deep", r.link("up", ".."), r.file("f", "deep"))
	tree := r.raw(
		r.folder("shared", r.file("p.txt", "shared")),
		r.folder("suite", loop, r.link("again", "../shared"), r.link("away", "../../etc/passwd"), r.link("copy", "../shared/p.txt"), r.link("root", "/etc/passwd"),
			r.link("self", "self"), r.file("..", "x"), r.file(".git", "x"), r.file("a/../../b", "x"), r.file("big.bin", "version https://git-lfs.github.com/spec/v1\n"), r.file("s.yaml", "suite")),
	)
	r.commitTree(tree, "refs/heads/main")
	s, err := githistory.At(context.Background(), r.dir, "main")
	if err != nil {
		t.Fatal(err)
	}
	got, err := written(t, s, "suite", "suite/again/p.txt", "suite/deep/up/s.yaml", "none")
	const want = "suite/again/p.txt=shared suite/big.bin=version https://git-lfs.github.com/spec/v1\n suite/copy=shared suite/deep/f=deep suite/deep/up/s.yaml=suite suite/s.yaml=suite"
	if err != nil || got != want {
		t.Errorf("%v; got\n%s\nwant\n%s", err, got, want)
	}
	notes := strings.Join(s.Notes, "\n")
	for _, want := range []string{"suite/away leads out", "suite/root leads out", "suite/big.bin is kept in Git LFS", `".." in suite is not a valid file name`, `".git" in suite is not a valid file name`} {
		if !strings.Contains(notes, want) {
			t.Errorf("no note %q in\n%s", want, notes)
		}
	}
}

// TestSnapshotChanged compares a working copy with a commit.
func TestSnapshotChanged(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.commit("begin", map[string]string{"p/same.txt": "a\nb\n", "p/other.txt": "x", "p/gone.txt": "x", "top.txt": "x"})
	paths := []string{
		r.write("p/same.txt", "a\r\nb\r\n"), r.write("p/other.txt", "y"), r.write("p/new.txt", "y"), r.write("top.txt", "x"),
		filepath.Join(r.dir, "p"), filepath.Join(r.dir, "p", "never.txt"), filepath.Join(r.dir, "top.txt", "x"), filepath.Join(t.TempDir(), "elsewhere"),
	}
	s, err := githistory.At(context.Background(), filepath.Join(r.dir, "p"), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Changed(paths)
	if want := []string{"p/gone.txt", "p/new.txt", "p/other.txt"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

// TestSnapshotChangedLinks: a file that a change replaced with a link to another file of the
// commit, or to an outside file, has changed although no text in the commit has.
func TestSnapshotChangedLinks(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.commit("begin", map[string]string{"p/a.txt": "a", "p/b.txt": "b", "p/c.txt": "c", "q/d.txt": "d", "o/d.txt": "other"})
	outside := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(outside, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.write("p/b.txt", "b")
	r.write("o/d.txt", "other")
	for name, target := range map[string]string{"p/a.txt": "b.txt", "p/c.txt": outside, "q": "o"} {
		if err := os.Symlink(target, filepath.Join(r.dir, filepath.FromSlash(name))); err != nil {
			if runtime.GOOS == "windows" {
				t.Skip(err) // not every account has this right
			}
			t.Fatal(err)
		}
	}
	s, err := githistory.At(context.Background(), r.dir, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, name := range []string{"p/a.txt", "p/b.txt", "p/c.txt", "q/d.txt"} {
		paths = append(paths, filepath.Join(r.dir, filepath.FromSlash(name)))
	}
	got, err := s.Changed(paths)
	if want := []string{"p/a.txt", "p/c.txt", "q/d.txt"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

// TestSnapshotLargeFile: a file that is too large is not read into memory to find that out.
// The test runs alone, because it measures what the process allocates.
func TestSnapshotLargeFile(t *testing.T) {
	r := newRepo(t)
	r.commitTree(r.raw(r.file("big", strings.Repeat("0", 128<<20))), "refs/heads/main")
	s, err := githistory.At(context.Background(), r.dir, "main")
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := written(t, s, "big"); err == nil || !strings.Contains(err.Error(), "has 128 MiB; 64 MiB are read") {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 32<<20 {
		t.Errorf("%d MiB were allocated", n>>20)
	}
}

// TestResolve finds commits by git's names for them.
func TestResolve(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	a := r.commitTree(r.raw(r.file("a", "1")), "refs/heads/old")
	side := r.commitTree(r.raw(r.file("a", "2")), "refs/heads/feature/x")
	b := r.commitTree(r.raw(r.file("a", "3")), "refs/heads/main", a, side)
	r.must(r.store.SetReference(plumbing.NewHashReference("refs/remotes/origin/main", a)))
	tag := r.put((&object.Tag{Name: "v1", Target: b, TargetType: plumbing.CommitObject, Tagger: object.Signature{}, Message: "m"}).Encode)
	r.must(r.store.SetReference(plumbing.NewHashReference("refs/tags/v1", tag)))
	for name, want := range map[string]plumbing.Hash{
		"main": b, "HEAD": b, "@": b, "refs/heads/main": b, "v1": b, "origin/main": a, "feature/x": side,
		"HEAD~1": a, "main^": a, "main^2": side, "v1~": a, "HEAD~0": b, "main^0": b, b.String(): b, a.String()[:7]: a, strings.ToUpper(side.String()[:8]): side,
	} {
		s, err := githistory.At(context.Background(), r.dir, name)
		if err != nil || s.Commit != want.String() {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	for name, want := range map[string]string{
		"":                       "is not the name of a commit",
		"--upload-pack=touch x":  "is not the name of a commit",
		"-x":                     "is not the name of a commit",
		"main..old":              "is not the name of a commit",
		"../../../etc/passwd":    "is not the name of a commit",
		"main:a":                 "is not the name of a commit",
		"main@{1}":               "is not the name of a commit",
		"a b":                    "is not the name of a commit",
		"main\x00":               "is not the name of a commit",
		strings.Repeat("a", 300): "is not the name of a commit",
		"HEAD~99999999":          "goes back too far",
		"nothing":                "has no commit named nothing: `git fetch` downloads",
		"config":                 "has no commit named config",
		"main~5":                 "has no commit named main~5",
		"ffffffff":               "has no commit named ffffffff",
		strings.Repeat("f", 40):  "has no commit named",
	} {
		if _, err := githistory.At(context.Background(), r.dir, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
	r.must(r.store.SetShallow([]plumbing.Hash{a}))
	if _, err := githistory.At(context.Background(), r.dir, "nothing"); err == nil || !strings.Contains(err.Error(), "the clone is shallow") {
		t.Error(err)
	}
	if _, err := githistory.At(context.Background(), t.TempDir(), "main"); err == nil || !strings.Contains(err.Error(), "is not in a git repository") {
		t.Error(err)
	}
}

// FuzzResolve: no name of a commit causes a panic or leaves the repository, and whatever is
// found is a commit.
func FuzzResolve(f *testing.F) {
	for _, name := range []string{"main", "HEAD~1", "main^2~3^0", "--upload-pack=x", "@{u}", "refs/../config", "ffff", "v1.2/x"} {
		f.Add(name)
	}
	r := newRepo(f)
	f.Fuzz(func(t *testing.T, name string) {
		if s, err := githistory.At(t.Context(), r.dir, name); err == nil && len(s.Commit) != 40 {
			t.Errorf("%q is %q", name, s.Commit)
		}
	})
}
