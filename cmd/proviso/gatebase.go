package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/internal/githistory"
	"github.com/proviso-eval/proviso/internal/plural"
)

// commitSuite is the suite of a commit, written to a temporary folder.
type commitSuite struct {
	dir   string
	flags evalFlags // flags to run it
}

func (c *commitSuite) close() {
	if c != nil {
		_ = os.RemoveAll(c.dir)
	}
}

// seenFiles collects the files that a suite looks up.
type seenFiles struct {
	mu   sync.Mutex
	list map[string]bool
}

func (s *seenFiles) add(file string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list == nil {
		s.list = map[string]bool{}
	}
	s.list[file] = true
}

func (s *seenFiles) sorted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.list))
}

// look reads and plans a suite, without running or printing anything, and returns the files that
// were looked up.
func (a *app) look(ctx context.Context, f evalFlags) (*seenFiles, error) {
	seen := &seenFiles{}
	f.seen, f.dry, f.noKeys, f.warn = seen.add, true, true, false
	quiet := *a
	quiet.err = io.Discard
	s, _, err := quiet.prepare(ctx, &f, nil)
	if s != nil {
		s.close()
	}
	return seen, err
}

// runBase runs the suite of a commit. s is the suite of the working folder.
func (g *gating) runBase(ctx context.Context, s *loaded) error {
	notes, err := g.checkOut(ctx, s)
	if errors.Is(err, errNewSuite) {
		fmt.Fprintf(g.err, "proviso: --base-ref: %s has no %s: the suite is new, and only absolute rules decide\n", printable(g.f.baseRef), printable(s.File))
		g.notes = append(g.notes, fmt.Sprintf("The suite is new: %q does not have it. Only absolute rules decide.", g.f.baseRef))
		g.commit.close()
		g.commit = nil
		return nil
	}
	if err != nil {
		return fmt.Errorf("--base-ref: %w", err)
	}
	for _, note := range notes {
		g.warn("--base-ref: " + note)
	}
	flags := g.commit.flags
	base, out, err := g.runWhole(ctx, &flags, nil, nil)
	if base != nil {
		defer base.close()
	}
	if err != nil {
		var exit exitError
		if errors.As(err, &exit) && exit.code == exitUsage {
			fmt.Fprintf(g.err, "proviso: these are mistakes in the suite of %s, not of the working folder\n", printable(g.f.baseRef))
		}
		return err
	}
	if g.base, err = sideOfOutcome(out, g.f.baseRef); err != nil {
		return err
	}
	if !g.f.trust.untrusted && !reflect.DeepEqual(base.Gate, s.Gate) {
		g.notes = append(g.notes, otherRules)
	}
	return nil
}

const otherRules = "The change also edits the rules of the gate; the new rules decide."

// errNewSuite means that a commit does not have the suite.
var errNewSuite = errors.New("the suite is new")

// maxRounds limits how often a suite is read to find the files that it refers to.
const maxRounds = 10

// checkOut writes the suite of a commit, and the files in the repository that it refers to, to a
// temporary folder.
func (g *gating) checkOut(ctx context.Context, s *loaded) ([]string, error) {
	snap, err := commitAt(ctx, s.Dir, g.f.baseRef)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "proviso-base-")
	if err != nil {
		return nil, proviso.WithCode(proviso.Unavailable, err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, proviso.WithCode(proviso.Unavailable, err)
	}
	flags := g.f.evalFlags
	flags.outputs, flags.configs, flags.seen, flags.file, flags.commit = nil, nil, nil, s.File, snap.Commit
	g.commit = &commitSuite{dir: dir, flags: flags}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, proviso.WithCode(proviso.Unavailable, err)
	}
	defer root.Close()
	configs := g.f.configs
	if len(configs) == 0 {
		configs = []string{s.File}
	}
	for _, name := range configs {
		inner, ok := snap.Name(name)
		if !ok {
			return nil, proviso.Errorf(proviso.Invalid, "%s is not in the repository %s", name, snap.Root)
		}
		if there, err := snap.Write(root, inner); err != nil {
			return nil, proviso.WithCode(proviso.Unavailable, err)
		} else if !there && !strings.ContainsAny(inner, "*?[{") {
			return nil, errNewSuite
		}
		g.commit.flags.configs = append(g.commit.flags.configs, filepath.Join(dir, filepath.FromSlash(inner)))
	}
	folder, ok := snap.Name(s.Dir)
	if !ok {
		return nil, proviso.Errorf(proviso.Invalid, "%s is not in the repository %s", s.Dir, snap.Root)
	}
	if _, err := snap.Write(root, folder); err != nil {
		return nil, proviso.WithCode(proviso.Unavailable, err)
	}
	return snap.Notes, g.complete(ctx, snap, root)
}

// complete writes the files outside of the suite's folder that the suite looks up, until it looks
// up no others.
func (g *gating) complete(ctx context.Context, snap *githistory.Snapshot, root *os.Root) error {
	asked := map[string]bool{}
	for range maxRounds {
		seen, _ := g.look(ctx, g.commit.flags) // its mistakes are printed when the suite is run
		if ctx.Err() != nil {
			return g.stopped()
		}
		more := false
		for _, file := range seen.sorted() {
			rel, err := filepath.Rel(g.commit.dir, file)
			if err != nil || !filepath.IsLocal(rel) || asked[rel] || rel == "." {
				continue
			}
			asked[rel] = true
			if _, err := os.Stat(file); err == nil {
				continue
			}
			written, err := snap.Write(root, filepath.ToSlash(rel))
			if err != nil {
				return proviso.WithCode(proviso.Unavailable, err)
			}
			more = more || written
		}
		if !more {
			break
		}
	}
	return nil
}

// flakyCases is the number of cases of a run that only measures flips.
const flakyCases = 50

// runAgain measures how often verdicts flip although nothing changed: it runs the suite of
// --base-ref, or else the suite itself, a second time, with new answers of the models.
func (g *gating) runAgain(ctx context.Context) error {
	first, flags := g.head, g.f.evalFlags
	if g.commit != nil {
		first, flags = g.base, g.commit.flags
	}
	flags.models.noCache, flags.noWrite, flags.written = true, true, nil
	if flags.Filter.First == 0 || flags.Filter.First > flakyCases {
		flags.Filter.First = flakyCases
	}
	fmt.Fprintf(g.err, "proviso: --flakiness: the first %d cases of %s run again\n", flags.Filter.First, first.run.Name)
	s, out, err := g.runWhole(ctx, &flags, nil, nil)
	if s != nil {
		defer s.close()
	}
	if err != nil {
		return err
	}
	defer out.Close()
	second, err := sideOf(out.Rows, "the second run")
	if err != nil {
		return err
	}
	c, err := gate.Compare(first.run, second.run, gate.Options{})
	if err != nil {
		return err
	}
	g.flakes = gate.Flakiness(c)
	lines := flaky(g.flakes, c.Pairs)
	g.notes = append(g.notes, lines...)
	if g.base == nil { // there is no comparison that would show them
		for _, line := range lines {
			g.warn(line)
		}
	}
	return nil
}

// flaky lists the assertions that flip without any change, and what to do about them.
func flaky(list []gate.Flake, cases int) []string {
	var lines []string
	most := 0.0
	for _, f := range list {
		rate := fmt.Sprintf("%.1f %% of %s (up to %.0f %%)", 100*f.Rate.Value, plural.Of(f.Pairs, "case"), 100*f.Rate.High)
		most = max(most, f.Rate.Value)
		switch {
		case f.Unfit:
			lines = append(lines, fmt.Sprintf("Assertion %q is too flaky for a gate: without any change it flips in %s. Make it more precise, or replace it by one that needs no model.", f.Assertion, rate))
		case f.Repeats > 0:
			lines = append(lines, fmt.Sprintf("Assertion %q flips without any change in %s: run each case %d times (--repeat %d, or evaluateOptions.repeat).", f.Assertion, rate, f.Repeats, f.Repeats))
		}
	}
	if len(lines) == 0 {
		lines = append(lines, fmt.Sprintf("Without any change, at most %.1f %% of the verdicts on an assertion flip, in %s.", 100*most, plural.Of(cases, "case")))
	}
	return lines
}
