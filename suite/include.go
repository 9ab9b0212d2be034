package suite

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/proviso-eval/proviso"
)

// maxInclude is the largest file that a template includes, in bytes.
const maxInclude = 8 << 20

// Include reads the files that prompts include with {% include %}. A name is
// relative to the suite's folder or, as in promptfoo, to the working folder. With
// links resolved, the file must lie in the suite's folder or in one of Granted.
type Include struct {
	Files   *Files
	Granted []string // files and folders, relative to the suite's folder
}

// Read returns the text of a file. The error is a *[proviso.Error]: NotFound, or
// Refused outside these folders and in an untrusted suite.
func (i Include) Read(name string) (string, error) {
	if i.Files.options.Confine {
		return "", proviso.Errorf(proviso.Refused, "the prompts of an untrusted suite include no files")
	}
	suiteDir, err := filepath.Abs(i.Files.dir)
	if err != nil {
		return "", err
	}
	working, err := filepath.Abs(".")
	if err != nil {
		return "", err
	}
	name = filepath.FromSlash(strings.TrimPrefix(name, "file://"))
	allowed := false
	for _, base := range []string{suiteDir, working} {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(base, path)
		}
		text, err := i.readIn(suiteDir, path)
		if !errors.Is(err, errOutside) {
			allowed = true
		}
		switch {
		case err == nil:
			return text, nil
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errOutside):
			return "", proviso.Errorf(proviso.Invalid, "%w", err)
		}
	}
	if !allowed {
		return "", proviso.Errorf(proviso.Refused, "%s is outside of the suite's folder (--grant read:FOLDER gives it)", name)
	}
	return "", proviso.Errorf(proviso.NotFound, "there is no such file in %s", i.Files.options.Shown)
}

// errOutside is the error of a file that no prompt may include.
var errOutside = errors.New("outside of the suite's folder")

// readIn reads a file that lies in a folder from which prompts may include files.
func (i Include) readIn(suiteDir, path string) (string, error) {
	err, path := errOutside, resolved(path)
	for _, folder := range append([]string{"."}, i.Granted...) {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(suiteDir, folder)
		}
		folder = resolved(folder)
		local, wrong := filepath.Rel(folder, path)
		if wrong != nil || !filepath.IsLocal(local) {
			continue
		}
		if local == "." { // the grant is the file itself
			folder, local = filepath.Split(path)
		}
		text, wrong := i.readBelow(folder, local)
		if wrong == nil {
			return text, nil
		}
		err = wrong
	}
	return "", err
}

// resolved returns a path without links, or the path itself if there is no such
// file.
func resolved(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return filepath.Clean(path)
}

// readBelow reads a file below a folder; no link leads out of it.
func (i Include) readBelow(folder, local string) (string, error) {
	path := filepath.Join(folder, local)
	if i.Files.options.Seen != nil {
		i.Files.options.Seen(path)
	}
	if waits(path) {
		return "", i.Files.irregular(filepath.ToSlash(path))
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", err
	}
	defer root.Close()
	file, err := root.OpenFile(local, openFlags(path), 0)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return "", err
		}
		return "", errOutside // a link that leads out
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxInclude+1))
	if err != nil {
		return "", err
	}
	if len(data) > maxInclude {
		return "", proviso.Errorf(proviso.Limit, "the file is larger than %d MiB", maxInclude>>20)
	}
	return string(data), nil
}
