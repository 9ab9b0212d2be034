package suite

import (
	"path"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
)

// Limits of a pattern.
const (
	maxMatches      = 100_000 // files and folders visited
	maxAlternatives = 1000    // combinations of {a,b}
	maxFolders      = 64      // how deep ** descends
)

// isGlob reports whether a name contains characters that make it a pattern.
func isGlob(name string) bool { return strings.ContainsAny(name, "*?[{") }

// Glob returns the files that match a pattern, each once: * and ? stay within a
// folder, ** crosses folders, [a-z] is a class and {a,b} are alternatives. The name
// of an existing file matches itself, whatever characters it contains. Names that
// begin with a dot match only a pattern that begins with a dot.
//
// The order is promptfoo's: within a folder, names in reverse order and files before
// subfolders; alternatives as written.
func (f *Files) Glob(pattern string) ([]string, error) {
	clean := f.Clean(pattern)
	if f.Exists(clean) {
		return []string{clean}, nil
	}
	g := globber{files: f, seen: map[string]bool{}}
	var relative, absolute [][]string
	for _, alternative := range braces(clean) {
		if f.options.Confine {
			if _, err := f.local(path.Clean(alternative)); err != nil {
				return nil, err
			}
		}
		if rest, ok := strings.CutPrefix(alternative, "/"); ok {
			absolute = append(absolute, strings.Split(rest, "/"))
		} else {
			relative = append(relative, strings.Split(alternative, "/"))
		}
	}
	if err := g.walk(".", relative, 0); err != nil {
		return nil, err
	}
	if err := g.walk("/", absolute, 0); err != nil {
		return nil, err
	}
	return g.found, nil
}

// globber collects the matches of patterns, which are lists of segments.
type globber struct {
	files   *Files
	found   []string
	seen    map[string]bool
	visited int
}

// folders are folders in order of discovery, with the patterns that continue in each.
type folders struct {
	order    []string
	patterns map[string][][]string
}

func (f *folders) add(dir string, pattern []string) {
	if f.patterns == nil {
		f.patterns = map[string][][]string{}
	}
	if f.patterns[dir] == nil {
		f.order = append(f.order, dir)
	}
	f.patterns[dir] = append(f.patterns[dir], pattern)
}

// walk follows patterns from a folder. A plain segment leads to a file or to the
// folder to search.
func (g *globber) walk(dir string, patterns [][]string, depth int) error {
	var next folders
	for _, p := range patterns {
		at := dir
		for len(p) > 1 && isPlain(p[0]) {
			at, p = path.Join(at, p[0]), p[1:]
		}
		if !isPlain(p[0]) {
			next.add(at, p)
			continue
		}
		err := g.entries(at, func(name string, isDir bool) error {
			if name == p[0] && !isDir {
				g.keep(path.Join(at, name))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, at := range next.order {
		if err := g.folder(at, next.patterns[at], depth); err != nil {
			return err
		}
	}
	return nil
}

// isPlain reports whether a segment of a pattern is a name.
func isPlain(segment string) bool { return segment == ".." || segment == "." || !isGlob(segment) }

// folder matches patterns against the entries of a folder, and continues below it.
func (g *globber) folder(dir string, patterns [][]string, depth int) error {
	var next folders
	err := g.entries(dir, func(name string, isDir bool) error {
		for _, p := range patterns {
			if p[0] == "**" {
				if isDir && !hidden(name, "*") && name != "node_modules" && depth < maxFolders {
					next.add(path.Join(dir, name), p)
				}
				for p[0] == "**" && len(p) > 1 {
					p = p[1:]
				}
			}
			matched, err := matchesSegment(p[0], name)
			switch {
			case err != nil:
				return err
			case !matched:
			case len(p) > 1 && isDir:
				next.add(path.Join(dir, name), p[1:])
			case len(p) == 1 && !isDir:
				g.keep(path.Join(dir, name))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, at := range next.order {
		if err := g.walk(at, next.patterns[at], depth+1); err != nil {
			return err
		}
	}
	return nil
}

// matchesSegment matches one segment of a pattern; ** at its end is *.
func matchesSegment(segment, name string) (bool, error) {
	if !isGlob(segment) {
		return segment == name, nil
	}
	ok, err := path.Match(strings.ReplaceAll(segment, "**", "*"), name)
	if err != nil {
		return false, proviso.Errorf(proviso.Invalid, "the pattern %q is malformed", segment)
	}
	return ok && !hidden(name, segment), nil
}

// keep adds a match once.
func (g *globber) keep(name string) {
	if !g.seen[name] {
		g.seen[name] = true
		g.found = append(g.found, name)
	}
}

func hidden(name, segment string) bool {
	return strings.HasPrefix(name, ".") && !strings.HasPrefix(segment, ".")
}

// entries calls visit for the entries of a folder, in reverse order. A folder that
// cannot be read is treated as empty. Links count as files, so that ** has no cycles.
func (g *globber) entries(dir string, visit func(name string, isDir bool) error) error {
	list, err := g.files.readDir(dir)
	if err != nil {
		if proviso.CodeOf(err) == proviso.Refused {
			return err
		}
		return nil
	}
	for _, e := range slices.Backward(list) {
		g.visited++
		if g.visited > maxMatches {
			return proviso.Errorf(proviso.Limit, "the pattern looks at more than %d files", maxMatches)
		}
		if err := visit(e.Name(), e.IsDir()); err != nil {
			return err
		}
	}
	return nil
}

// braces expands the first {a,b} of a pattern and then the rest, up to
// maxAlternatives results.
func braces(pattern string) []string {
	done, todo := []string{}, []string{pattern}
	for len(todo) > 0 && len(done)+len(todo) < maxAlternatives {
		p := todo[0]
		todo = todo[1:]
		open, end, parts := alternatives(p)
		if parts == nil {
			done = append(done, p)
			continue
		}
		for _, part := range parts {
			todo = append(todo, p[:open]+part+p[end+1:])
		}
	}
	return append(done, todo...)
}

// alternatives finds the first braces with a comma and splits their content. Nested
// braces are not split.
func alternatives(p string) (open, end int, parts []string) {
	for open = range len(p) {
		if p[open] != '{' {
			continue
		}
		depth, start := 0, open+1
		parts = nil
		for i := open; i < len(p); i++ {
			switch {
			case p[i] == '{':
				depth++
			case p[i] == ',' && depth == 1:
				parts = append(parts, p[start:i])
				start = i + 1
			case p[i] == '}':
				depth--
				if depth == 0 && parts != nil {
					return open, i, append(parts, p[start:i])
				}
			}
			if depth == 0 {
				break
			}
		}
	}
	return 0, 0, nil
}
