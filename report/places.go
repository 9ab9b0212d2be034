package report

import (
	"bytes"
	"iter"
	"path/filepath"

	"github.com/proviso-eval/proviso"
)

// Places finds where a suite's cases are written. Cases are not kept in memory, so it reads
// them again. It mostly reads forward, because annotations of equal severity come in index
// order.
type Places struct {
	Suite     *proviso.Suite
	Workspace string // folder of the repository, "" if unknown

	next func() (*proviso.Case, error, bool)
	stop func()
	at   *proviso.Case
}

// Close stops reading cases.
func (p *Places) Close() {
	if p.stop != nil {
		p.stop()
	}
	p.next, p.stop, p.at = nil, nil, nil
}

// Of returns where an assertion of a case is written, or else where the case is.
func (p *Places) Of(test int, assertion []byte) (file string, line int) {
	c := p.find(test)
	if c == nil || p.Suite.Places == nil {
		return "", 0
	}
	pointer := c.Pointer
	if found := p.pointer(c, assertion); found != "" {
		pointer = found
	}
	at := p.Suite.Place(pointer)
	if at.File == "" {
		return "", 0
	}
	return p.inWorkspace(at.File), at.Line
}

// find returns the case with an index; nil if the suite has changed since the run.
func (p *Places) find(test int) *proviso.Case {
	if p.at != nil && p.at.Index > test {
		p.Close()
	}
	if p.next == nil {
		p.next, p.stop = iter.Pull2(p.Suite.Cases())
	}
	for p.at == nil || p.at.Index < test {
		c, _, ok := p.next()
		if !ok {
			p.Close()
			return nil
		}
		if c != nil {
			p.at = c
		}
	}
	if p.at.Index != test {
		return nil
	}
	return p.at
}

// pointer finds an assertion among those that decide a case; "" if it is not among them.
func (p *Places) pointer(c *proviso.Case, assertion []byte) string {
	if assertion == nil {
		return ""
	}
	lists := [][]*proviso.Assertion{c.Assert, c.Set}
	for i := range p.Suite.Prompts {
		lists = append(lists, p.Suite.Prompts[i].Assert)
	}
	for _, list := range lists {
		if found := pointerIn(list, assertion); found != "" {
			return found
		}
	}
	return ""
}

func pointerIn(list []*proviso.Assertion, assertion []byte) string {
	for _, a := range list {
		if bytes.Equal(AssertionJSON(a), assertion) {
			return a.Pointer
		}
		if found := pointerIn(a.Assert, assertion); found != "" {
			return found
		}
	}
	return ""
}

// inWorkspace returns a file's path relative to the repository, if the file is inside it.
func (p *Places) inWorkspace(file string) string {
	if p.Workspace == "" {
		return filepath.ToSlash(file)
	}
	rel, err := relative(p.Workspace, file)
	if err != nil || !filepath.IsLocal(rel) {
		return filepath.ToSlash(file)
	}
	return filepath.ToSlash(rel)
}

// relative returns a file's path relative to a folder. Both may be relative to the working
// folder.
func relative(folder, file string) (string, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	if file, err = filepath.Abs(file); err != nil {
		return "", err
	}
	return filepath.Rel(folder, file)
}
