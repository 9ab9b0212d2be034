package delta

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/githistory"
)

// ReadGit reads the history of a file from its git repository, through renames, or the history
// of a part of the file ([ReadPart]); the part "" is the whole file. A commit is no version if
// the file does not have the part yet or the part is unchanged. The notes are for the user.
// Mistakes are a [proviso.Mistakes].
func ReadGit(ctx context.Context, file, part string) (list []Version, notes []string, err error) {
	h, err := githistory.Of(ctx, file)
	if err != nil {
		return nil, nil, err
	}
	var missing proviso.Mistakes // mistakes of the latest commit without the part
	without := 0
	for _, r := range h.Revisions {
		name := r.Subject
		if r.Commit != "" {
			name = strings.TrimSpace(r.Commit[:8] + " " + r.Subject)
		}
		versions, more, mistakes := ReadPart(r.Path, part, r.Text)
		h.Notes = append(h.Notes, more...)
		switch err := mistakes.Err(); {
		case err != nil && part != "":
			missing = mistakes
			without++
			continue
		case err != nil:
			return nil, h.Notes, err
		}
		for _, v := range versions {
			v.Name, v.Time = name, r.Time
			if n := len(list); part != "" && n > 0 && list[n-1].Text == v.Text {
				continue // the rest of the file changed
			}
			list = append(list, v)
		}
	}
	switch {
	case part != "" && len(list) == 0:
		return nil, h.Notes, missing
	case without > 0:
		h.Notes = append(h.Notes, fmt.Sprintf("%d of %d commits of %s do not have %s and are left out", without, len(h.Revisions), file, part))
	}
	return list, h.Notes, nil
}

// SplitPart splits FILE:NAME. It does not split the name of an existing file, or a name
// without a colon after its extension. exists reports whether a file exists.
func SplitPart(name string, exists func(string) bool) (file, part string) {
	i := strings.LastIndexByte(name, ':')
	if i < 2 || i == len(name)-1 || strings.ContainsAny(name[i:], `/\`) || exists(name) { // 1 is a Windows drive
		return name, ""
	}
	return name[:i], name[i+1:]
}

// OfSuite returns the prompts of a suite as versions, the oldest first. It skips a prompt that
// code generates, which has no text, with a note.
func OfSuite(s *proviso.Suite) (list []Version, notes []string) {
	for i, p := range s.Prompts {
		name := p.Label
		if name == "" || name == p.Raw {
			name = fmt.Sprintf("prompt %d", i+1)
		}
		if p.Script != nil {
			notes = append(notes, name+" is written by code and left out")
			continue
		}
		ending := ".txt"
		if strings.HasPrefix(strings.TrimSpace(p.Raw), "[") {
			ending = ".json" // may be a chat
		}
		versions, wrong := ReadVersions(name+ending, []byte(p.Raw))
		if wrong.Err() != nil || len(versions) != 1 {
			versions = []Version{{Text: p.Raw}}
		}
		versions[0].Name = name
		list = append(list, versions[0])
	}
	return list, notes
}

// maxFolder bounds the total size of a folder of versions, in bytes.
const maxFolder = 256 << 20

// ReadFolder reads the files of a folder like [ReadVersions], one file per version, in the
// natural order of their names. It skips hidden files, and, with a note, subfolders and links
// that lead out of the folder. read reads a file; nil means [os.ReadFile]. Mistakes are a
// [proviso.Mistakes]; the notes are also valid with an error.
func ReadFolder(dir string, read func(name string) ([]byte, error)) (list []Version, notes []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, proviso.Errorf(proviso.NotFound, "%w", err)
	}
	if read == nil {
		read = os.ReadFile
	}
	slices.SortStableFunc(entries, func(a, b os.DirEntry) int { return natural(a.Name(), b.Name()) })
	total := 0
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		info, err := os.Stat(file)
		if strings.HasPrefix(e.Name(), ".") || err != nil || !info.Mode().IsRegular() {
			if err == nil && info.IsDir() && !strings.HasPrefix(e.Name(), ".") {
				notes = append(notes, "the folder "+file+" is left out")
			}
			continue
		}
		if e.Type()&os.ModeSymlink != 0 && !linksWithin(dir, file) {
			notes = append(notes, "the link "+file+" leads out of the folder and is left out")
			continue
		}
		if total += int(min(info.Size(), maxFolder)); total > maxFolder || len(list) > MaxVersions {
			return nil, notes, proviso.Errorf(proviso.Limit, "%s holds more than the %d MiB or %d versions that are read", dir, maxFolder>>20, MaxVersions)
		}
		versions, err := readFile(file, read)
		if err != nil {
			return nil, notes, err
		}
		for i := range versions {
			if len(versions) == 1 {
				versions[i].Name = e.Name()
			} else {
				versions[i].Name = e.Name() + ": " + versions[i].Name
			}
		}
		list = append(list, versions...)
	}
	if len(list) == 0 {
		return nil, notes, proviso.Errorf(proviso.Invalid, "%s holds no file", dir)
	}
	return list, notes, nil
}

func readFile(file string, read func(name string) ([]byte, error)) ([]Version, error) {
	data, err := read(file)
	if err != nil {
		return nil, err
	}
	versions, mistakes := ReadVersions(file, data)
	return versions, mistakes.Err()
}

// linksWithin reports whether a link in a folder leads to a file below the folder: the
// versions' author must not choose which files of the machine a model sees.
func linksWithin(dir, file string) bool {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	target, err := filepath.EvalSymlinks(file)
	if err != nil {
		return false
	}
	within, err := filepath.Rel(root, target)
	return err == nil && filepath.IsLocal(within)
}

// natural compares names in natural order: v2 comes before v10.
func natural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		dx, dy := digits(x), digits(y)
		if dx > 0 && dy > 0 {
			nx, ny := strings.TrimLeft(x[:dx], "0"), strings.TrimLeft(y[:dy], "0")
			if c := cmp.Or(cmp.Compare(len(nx), len(ny)), strings.Compare(nx, ny)); c != 0 {
				return c
			}
			x, y = x[dx:], y[dy:]
			continue
		}
		rx, n := utf8.DecodeRuneInString(x)
		ry, m := utf8.DecodeRuneInString(y)
		if rx != ry {
			return cmp.Compare(rx, ry)
		}
		x, y = x[n:], y[m:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

func digits(s string) int {
	return len(s) - len(strings.TrimLeft(s, "0123456789"))
}
