package suite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// maxMistakes limits how many mistakes one reading reports.
const maxMistakes = 100

// reading is one pass over a suite's files: their content, and every mistake in them.
// It is used by one goroutine.
type reading struct {
	// ctx is the context of Read. In a pass over the cases it is never done: the
	// consumer can stop a pass between cases.
	ctx context.Context

	options         Options
	files           *Files
	env             proviso.Env
	promptfoo       bool // the suite has promptfoo's shape: what promptfoo ignores is a warning
	skipUnsupported bool // unsupported features are warnings
	trust           *Trust
	added           *value.Object // environment variables that the suite adds
	envLater        bool          // the cases of the file are searched for environment variables one by one

	places   *places
	cache    map[string]*document.Document // documents by clean file name
	raws     map[string]*document.Document // targets of $ref, before env templates
	referred map[string]bool               // pointers of the top-level keys that a $ref leads to
	bases    map[string]string             // folders of merged files, by the pointers of their members
	broken   []string                      // pointers of $refs without a target
	set      []*proviso.Assertion          // the assertion set of every case
	loading  []string                      // files on the way to a $ref, to detect cycles
	mistakes []proviso.Mistake
	dropped  int               // mistakes beyond maxMistakes, and warnings that mistakes replaced
	unseen   int               // case sources that were not read
	datasets []proviso.Dataset // datasets that the suite names
}

// newReading returns a reading without files.
func newReading(ctx context.Context, o Options) *reading {
	if o.Env == nil {
		o.Env = proviso.EnvMap{}
	}
	return &reading{
		ctx: ctx, options: o, env: o.Env, skipUnsupported: o.SkipUnsupported, places: newPlaces(),
		cache: map[string]*document.Document{}, raws: map[string]*document.Document{}, bases: map[string]string{},
		referred: map[string]bool{},
	}
}

// yaml reads and parses a YAML or JSON file of the suite, with references
// resolved and env templates rendered. Each file is read once. The caller
// records the error with [reading.failed], because it knows which value names
// the file.
func (r *reading) yaml(name string) (*document.Document, error) {
	clean := r.files.Clean(name)
	if d, ok := r.cache[clean]; ok {
		return d, nil
	}
	d, err := r.load(clean)
	if err != nil {
		return nil, err
	}
	r.cache[clean] = d
	d.Root = r.renderEnv(d, "", d.Root)
	return d, nil
}

// load reads and parses a file and resolves its references.
func (r *reading) load(clean string) (*document.Document, error) {
	data, err := r.files.ReadFile(clean)
	if err != nil {
		return nil, err
	}
	d, err := document.ParseContext(r.ctx, r.files.Show(clean), data)
	if err != nil {
		return nil, err
	}
	r.places.add(d)
	return d, r.resolve(d, clean)
}

// at returns the pointer of a value for other packages. Suite.Place resolves it. Its
// form is described at places.
func (r *reading) at(d *document.Document, pointer string) string {
	return r.places.pointer(d, pointer)
}

// mistake records a mistake in the value at pointer. The nearest valid name is
// searched for with the pointer's last segment, then with the value itself if that is
// text.
func (r *reading) mistake(d *document.Document, pointer, code string, valid []string, format string, args ...any) {
	r.record(d, pointer, proviso.Mistake{Code: code, Message: fmt.Sprintf(format, args...)}, valid)
}

// warn records a mistake that does not keep the suite from running.
func (r *reading) warn(d *document.Document, pointer, format string, args ...any) {
	m := proviso.Mistake{Code: proviso.Invalid, Message: fmt.Sprintf(format, args...), Warning: true}
	r.record(d, pointer, m, nil)
}

// unsupported records that proviso does not support the value at pointer. With
// skipUnsupported it is a warning.
func (r *reading) unsupported(d *document.Document, pointer, format string, args ...any) {
	m := proviso.Mistake{Code: proviso.Unsupported, Message: fmt.Sprintf(format, args...), Warning: r.skipUnsupported, Skips: !r.skipUnsupported}
	r.record(d, pointer, m, nil)
}

// failed records an error from reading the file named at pointer. A syntax error has
// its own place.
func (r *reading) failed(d *document.Document, pointer string, err error) {
	m := mistakeOf(err)
	if m.Place.File != "" {
		r.append(m)
		return
	}
	r.record(d, pointer, m, nil)
}

func (r *reading) record(d *document.Document, pointer string, m proviso.Mistake, valid []string) {
	if r.full(m) || r.isBroken(d, pointer) {
		return
	}
	m.Place = r.places.Place(r.at(d, pointer))
	if m.Nearest == "" && len(valid) > 0 {
		m.Nearest = document.Nearest(document.Last(pointer), valid)
		if v, ok := document.Lookup(d.Root, pointer); ok && m.Nearest == "" {
			text, _ := v.(string)
			m.Nearest = document.Nearest(text, valid)
		}
	}
	r.append(m)
}

// full reports whether the limit of mistakes is reached. It is checked before the
// place is computed, because the place takes longer to compute in a larger file.
func (r *reading) full(m proviso.Mistake) bool {
	if len(r.mistakes) < maxMistakes || !m.Warning && slices.ContainsFunc(r.mistakes, func(m proviso.Mistake) bool { return m.Warning }) {
		return false
	}
	r.dropped++
	return true
}

// isBroken reports whether a value is, or is within, a $ref without a target, so that
// further mistakes about it are useless.
func (r *reading) isBroken(d *document.Document, pointer string) bool {
	if len(r.broken) == 0 {
		return false
	}
	at := r.places.written(r.at(d, pointer))
	return slices.ContainsFunc(r.broken, func(b string) bool {
		rest, ok := strings.CutPrefix(at, b)
		return ok && (rest == "" || rest[0] == '/')
	})
}

// append keeps a mistake once, up to maxMistakes. Mistakes replace warnings.
func (r *reading) append(m proviso.Mistake) {
	if slices.Contains(r.mistakes, m) {
		return
	}
	if len(r.mistakes) < maxMistakes {
		r.mistakes = append(r.mistakes, m)
		return
	}
	r.dropped++
	if m.Warning {
		return
	}
	for i := len(r.mistakes) - 1; i >= 0; i-- {
		if r.mistakes[i].Warning {
			r.mistakes[i] = m
			return
		}
	}
}

// all returns the mistakes, sorted by line within each file; files stay in the
// order they were read. The last one counts the mistakes that are not reported. It
// is a warning if those are all warnings. They are as long as a warning is
// reported, because mistakes replace warnings.
func (r *reading) all() proviso.Mistakes {
	slices.SortStableFunc(r.mistakes, comparePlaces)
	all := proviso.Mistakes(r.mistakes)
	if r.dropped > 0 {
		all = append(all, proviso.MoreMistakes(r.dropped, slices.ContainsFunc(all, func(m proviso.Mistake) bool { return m.Warning })))
	}
	return all
}

// comparePlaces compares mistakes in the same file.
func comparePlaces(a, b proviso.Mistake) int {
	if a.Place.File != b.Place.File || a.Place.Line == 0 || b.Place.Line == 0 {
		return 0
	}
	return cmp.Or(a.Place.Line-b.Place.Line, a.Place.Column-b.Place.Column)
}
