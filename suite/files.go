package suite

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
)

// maxFile is the maximum size of a file that is read as a whole, in bytes. Streams,
// such as cases in JSON Lines, may be larger.
const maxFile = 256 << 20

// FilesOptions limit what a suite may open. The zero value permits everything that
// the user may open.
type FilesOptions struct {
	// Confine permits only names under the suite's folder, with links resolved, and
	// none that begins with a dot there: .git and .env hold keys.
	Confine bool
	// Shown is the folder in messages; "" means as given.
	Shown string
	// Home replaces ~; "" means that ~ is refused.
	Home string
	// Seen is called with every file and folder before it is looked up, whether or
	// not it exists. It may be nil. It must be safe for concurrent use.
	Seen func(path string)
}

// Files opens the files that a suite names, relative to the suite's folder. It
// implements [proviso.Files] and is safe for concurrent use.
type Files struct {
	dir     string
	options FilesOptions
	shown   string // the name of every file in messages; "" is its own name
}

var _ proviso.Files = (*Files)(nil)

// NewFiles returns the files below a suite's folder; "" is the working folder.
func NewFiles(dir string, o FilesOptions) *Files {
	if dir == "" {
		dir = "."
	}
	if o.Shown == "" {
		o.Shown = dir
	}
	return &Files{dir: dir, options: o}
}

// Clean returns the canonical name of a file: without the file:// prefix, with
// forward slashes, relative to the suite's folder unless it is absolute.
func (f *Files) Clean(name string) string {
	name = strings.TrimPrefix(name, "file://")
	if f.options.Home != "" && (name == "~" || strings.HasPrefix(name, "~/")) {
		name = f.options.Home + name[1:]
	}
	return path.Clean(filepath.ToSlash(name))
}

// Show returns a name for messages, relative to the working folder.
func (f *Files) Show(name string) string {
	if f.shown != "" {
		return f.shown
	}
	name = f.Clean(name)
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.ToSlash(filepath.Join(f.options.Shown, name))
}

// path returns the path of a clean name on disk.
func (f *Files) path(name string) string {
	path := filepath.FromSlash(name)
	if !filepath.IsAbs(name) {
		path = filepath.Join(f.dir, path)
	}
	if f.options.Seen != nil {
		f.options.Seen(path)
	}
	return path
}

// Open opens a file for reading. The error is a *[proviso.Error]: NotFound with the
// nearest name that exists, Invalid for a folder, Refused outside the folder of a
// confined suite.
func (f *Files) Open(name string) (*os.File, error) {
	clean := f.Clean(name)
	if waits(f.path(clean)) {
		return nil, f.irregular(clean)
	}
	file, err := f.open(clean)
	if err != nil {
		return nil, f.openError(clean, err)
	}
	info, err := file.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = proviso.Errorf(proviso.Invalid, "%s is a folder, not a file", f.Show(clean))
	case !given(f.path(clean)) && (!info.Mode().IsRegular() || ofKernel(file)):
		err = f.irregular(clean)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// irregular returns the error for anything that is not a file with an end: a pipe, a
// socket, a device, or a file that the kernel generates while it is read, such as
// /proc/kmsg.
func (f *Files) irregular(clean string) error {
	return proviso.Errorf(proviso.Invalid, "%s is not a regular file: pipes, sockets, devices and files of the kernel are not read", f.Show(clean))
}

// waits reports whether opening a file could block forever or have side effects.
func waits(path string) bool {
	if given(path) {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice) != 0
}

// given reports whether a path is a file descriptor that a shell passes as a file,
// which may be a pipe.
func given(path string) bool {
	for _, folder := range []string{"/dev/fd/", "/dev/stdin", "/proc/self/fd/"} {
		if strings.HasPrefix(path, folder) {
			return true
		}
	}
	return false
}

// openFlags returns the flags to open a file for reading without waiting for a
// writer.
func openFlags(path string) int {
	if given(path) {
		return os.O_RDONLY
	}
	return os.O_RDONLY | nonblocking
}

func (f *Files) open(clean string) (*os.File, error) {
	if !f.options.Confine {
		path := f.path(clean)
		return os.OpenFile(path, openFlags(path), 0)
	}
	local, err := f.local(clean)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := root.OpenFile(filepath.FromSlash(local), openFlags(local), 0)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, f.refused(clean)
	}
	return file, err
}

// local returns a clean name relative to the folder of a confined suite.
func (f *Files) local(clean string) (string, error) {
	if filepath.IsAbs(clean) {
		base, err := filepath.Abs(f.dir)
		if err != nil {
			return "", err
		}
		rel, err := filepath.Rel(base, clean)
		if err != nil {
			return "", f.refused(clean)
		}
		clean = filepath.ToSlash(rel)
	}
	if !filepath.IsLocal(clean) || clean == "~" || strings.HasPrefix(clean, "~/") {
		return "", f.refused(clean)
	}
	return clean, f.hidden(clean)
}

// hidden refuses a name that leads, through links or not, to something whose name
// begins with a dot.
func (f *Files) hidden(local string) error {
	if dotted(local) {
		return f.refusedDot(local)
	}
	target, err := filepath.EvalSymlinks(filepath.Join(f.dir, filepath.FromSlash(local)))
	if err != nil {
		return nil // opening it gives the reason
	}
	root, err := filepath.EvalSymlinks(f.dir)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(root, target)
	if err != nil || !filepath.IsLocal(rel) {
		return f.refused(local)
	}
	if dotted(filepath.ToSlash(rel)) {
		return f.refusedDot(local)
	}
	return nil
}

// dotted reports whether a part of a clean name begins with a dot.
func dotted(name string) bool {
	return name != "." && (strings.HasPrefix(name, ".") || strings.Contains(name, "/."))
}

func (f *Files) refusedDot(clean string) error {
	return proviso.Errorf(proviso.Refused, "%s is hidden: an untrusted suite reads no file whose name begins with a dot", f.Show(clean))
}

func (f *Files) refused(clean string) error {
	return proviso.Errorf(proviso.Refused, "%s is outside of the suite's folder", clean)
}

// openError gives an error of the system a code and, for a missing file, the nearest
// name in its folder.
func (f *Files) openError(clean string, err error) error {
	var known *proviso.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, fs.ErrPermission):
		return proviso.Because(fs.ErrPermission, proviso.Invalid, "%s may not be read", f.Show(clean))
	case !errors.Is(err, fs.ErrNotExist):
		return &proviso.Error{Code: proviso.Invalid, Message: f.Show(clean) + " cannot be opened", Err: cause(err)}
	}
	e := proviso.Because(fs.ErrNotExist, proviso.NotFound, "the file %s does not exist", f.Show(clean))
	if near := f.nearest(clean); near != "" {
		e.Valid = []string{near}
	}
	return e
}

// cause strips the path from an error of the system; the message names the file.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// nearest returns the name of an existing file that may be meant: one with a similar name in the
// same folder, or the same file below the suite's folder, if the name begins with the name of a
// folder above it. "" means none.
func (f *Files) nearest(clean string) string {
	if _, rest, ok := strings.Cut(clean, "/"); ok && rest != "" {
		entries, err := f.readDir(path.Dir(rest))
		if err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() && e.Name() == path.Base(rest) }) {
			return rest
		}
	}
	entries, err := f.readDir(path.Dir(clean))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	near := document.Nearest(path.Base(clean), names)
	if near == "" {
		return ""
	}
	return path.Join(path.Dir(clean), near)
}

// ReadFile returns the content of a file of at most [maxFile] bytes.
func (f *Files) ReadFile(name string) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, &proviso.Error{Code: proviso.Invalid, Message: f.Show(name) + " cannot be read", Err: cause(err)}
	}
	if len(data) > maxFile {
		return nil, proviso.Errorf(proviso.Limit, "%s is larger than %d MiB", f.Show(name), maxFile>>20)
	}
	return data, nil
}

// Exists reports whether a name can be opened as a file.
func (f *Files) Exists(name string) bool {
	if len(name) > maxPath || strings.ContainsAny(name, "\n\x00") {
		return false
	}
	clean := f.Clean(name)
	if f.options.Confine {
		file, err := f.Open(clean)
		if err != nil {
			return false
		}
		_ = file.Close()
		return true
	}
	info, err := os.Stat(f.path(clean))
	return err == nil && !info.IsDir()
}

// maxPath is longer than any path of an operating system. A longer text, such as an
// inline prompt, is not a file name.
const maxPath = 4096

// readDir lists a folder, given by its clean name.
func (f *Files) readDir(clean string) ([]fs.DirEntry, error) {
	if !f.options.Confine {
		return os.ReadDir(f.path(clean))
	}
	local, err := f.local(clean)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return fs.ReadDir(root.FS(), local)
}

// mistakeOf turns an error into a mistake; a syntax error keeps its own place.
func mistakeOf(err error) proviso.Mistake {
	var syntax *document.SyntaxError
	if errors.As(err, &syntax) {
		return proviso.Mistake{Place: syntax.Place, Code: proviso.Invalid, Message: syntax.Message}
	}
	var known *proviso.Error
	if !errors.As(err, &known) {
		return proviso.Mistake{Code: proviso.Invalid, Message: err.Error()}
	}
	m := proviso.Mistake{Code: known.Code, Message: known.Error()}
	if known.Code == proviso.NotFound && errors.Is(err, fs.ErrNotExist) {
		m.Message = known.Message // the cause adds nothing
	}
	if len(known.Valid) == 1 {
		m.Nearest = known.Valid[0]
	}
	return m
}
