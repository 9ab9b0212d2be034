package main

import (
	"bytes"
	"context"
	"iter"
	"path/filepath"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/suite"
)

// annotate marks failures in the sources, in a step of GitHub Actions.
func (a *app) annotate(ctx context.Context, s *loaded, out *run.Outcome) error {
	if !suite.Switch(a.env, "GITHUB_ACTIONS") {
		return nil
	}
	workspace, _ := a.env.Lookup("GITHUB_WORKSPACE")
	p := casePlaces{suite: s.Suite, workspace: workspace}
	defer p.close()
	return report.Annotations(ctx, a.out, report.AnnotationOptions{Place: p.place}, out.Summary, out.Rows)
}

// casePlaces finds where the cases of a suite are written. Cases are not kept in
// memory, so it reads them again, mostly forward: annotations come in index order
// within equal severity.
type casePlaces struct {
	suite     *proviso.Suite
	workspace string // folder of the repository, "" if unknown
	next      func() (*proviso.Case, error, bool)
	stop      func()
	at        *proviso.Case
}

func (p *casePlaces) close() {
	if p.stop != nil {
		p.stop()
	}
	p.next, p.stop, p.at = nil, nil, nil
}

// place returns where an assertion of a case is written, or else the case itself.
func (p *casePlaces) place(test int, assertion []byte) (file string, line int) {
	c := p.find(test)
	if c == nil || p.suite.Places == nil {
		return "", 0
	}
	pointer := c.Pointer
	if found := p.pointer(c, assertion); found != "" {
		pointer = found
	}
	at := p.suite.Place(pointer)
	if at.File == "" {
		return "", 0
	}
	return p.inWorkspace(at.File), at.Line
}

// find returns the case with an index; nil if the suite has changed since the run.
func (p *casePlaces) find(test int) *proviso.Case {
	if p.at != nil && p.at.Index > test {
		p.close()
	}
	if p.next == nil {
		p.next, p.stop = iter.Pull2(p.suite.Cases())
	}
	for p.at == nil || p.at.Index < test {
		c, _, ok := p.next()
		if !ok {
			p.close()
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

// pointer finds an assertion among those that decide a case; "" if it is not there.
func (p *casePlaces) pointer(c *proviso.Case, assertion []byte) string {
	if assertion == nil {
		return ""
	}
	lists := [][]*proviso.Assertion{c.Assert, c.Set}
	for i := range p.suite.Prompts {
		lists = append(lists, p.suite.Prompts[i].Assert)
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
		if bytes.Equal(report.AssertionJSON(a), assertion) {
			return a.Pointer
		}
		if found := pointerIn(a.Assert, assertion); found != "" {
			return found
		}
	}
	return ""
}

// inWorkspace returns the path of a file in the repository, if it is in there.
func (p *casePlaces) inWorkspace(file string) string {
	if p.workspace == "" {
		return filepath.ToSlash(file)
	}
	rel, err := filepath.Rel(absolute(p.workspace), absolute(file))
	if err != nil || !filepath.IsLocal(rel) {
		return filepath.ToSlash(file)
	}
	return filepath.ToSlash(rel)
}
