package suite

import (
	"errors"
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

// IsGlob reports whether a name holds characters that make it a pattern.
func IsGlob(name string) bool { return strings.ContainsAny(name, "*?[{") }

// Glob returns the files that match a pattern, sorted, each once: * and ? stay
// within a folder, ** crosses folders, [a-z] is a class and {a,b} are
// alternatives. A name that exists is its own match, whatever characters it
// holds. Names that begin with a dot match only a pattern that does.
func (f *Files) Glob(pattern string) ([]string, error) {
	clean := f.Clean(pattern)
	if f.Exists(clean) {
		return []string{clean}, nil
	}
	g := globber{files: f}
	for _, alternative := range braces(clean) {
		if f.options.Confine {
			if _, err := f.local(path.Clean(alternative)); err != nil {
				return nil, err
			}
		}
		base, rest := ".", alternative
		if strings.HasPrefix(alternative, "/") {
			base, rest = "/", strings.TrimPrefix(alternative, "/")
		}
		if err := g.walk(base, strings.Split(rest, "/"), 0); err != nil {
			return nil, err
		}
	}
	slices.Sort(g.found)
	return slices.Compact(g.found), nil
}

// globber collects the matches of a pattern.
type globber struct {
	files   *Files
	found   []string
	visited int
}

// walk matches the segments against what is in a folder.
func (g *globber) walk(dir string, segments []string, depth int) error {
	segment, rest := segments[0], segments[1:]
	if segment == ".." || segment == "." || !IsGlob(segment) && len(rest) > 0 {
		return g.walk(path.Join(dir, segment), rest, depth)
	}
	if segment == "**" {
		return g.anyDepth(dir, rest, depth)
	}
	return g.entries(dir, func(name string, isDir bool) error {
		if ok, err := path.Match(segment, name); err != nil {
			return proviso.Errorf(proviso.Invalid, "the pattern %q is malformed", segment)
		} else if !ok || hidden(name, segment) {
			return nil
		}
		if len(rest) > 0 {
			if isDir {
				return g.walk(path.Join(dir, name), rest, depth)
			}
			return nil
		}
		if !isDir {
			g.found = append(g.found, path.Join(dir, name))
		}
		return nil
	})
}

// anyDepth matches ** : the rest in this folder and in every folder below.
func (g *globber) anyDepth(dir string, rest []string, depth int) error {
	if len(rest) == 0 {
		rest = []string{"*"}
	}
	if err := g.walk(dir, rest, depth); err != nil || depth == maxFolders {
		return err
	}
	return g.entries(dir, func(name string, isDir bool) error {
		if !isDir || hidden(name, "*") || name == "node_modules" {
			return nil
		}
		return g.anyDepth(path.Join(dir, name), rest, depth+1)
	})
}

func hidden(name, segment string) bool {
	return strings.HasPrefix(name, ".") && !strings.HasPrefix(segment, ".")
}

// entries calls visit for what is in a folder; a folder that cannot be read
// holds nothing. Links count as files, so that ** meets no cycle.
func (g *globber) entries(dir string, visit func(name string, isDir bool) error) error {
	list, err := g.files.readDir(dir)
	if err != nil {
		var known *proviso.Error
		if errors.As(err, &known) && known.Code == proviso.Refused {
			return err
		}
		return nil
	}
	for _, e := range list {
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

// alternatives finds the first braces that hold a comma and splits what is in
// them; nested braces stay whole.
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
