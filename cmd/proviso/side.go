package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/client"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/gate/baseline"
	"github.com/proviso-eval/proviso/gate/runs"
	"github.com/proviso-eval/proviso/gate/show"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/judge/align"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/stats"
	"github.com/proviso-eval/proviso/value"
)

// side is one side of a comparison: the verdicts of a run, in memory, and its texts, in a file that
// stays open until close.
type side struct {
	run    *gate.Run
	id     string // name for command lines; "" if the run is not kept
	path   string // path of the file
	kept   string // id of the run; "" for a baseline file
	texts  show.Source
	config *value.Object // configuration of the suite; nil if it is not kept
	suite  string        // name of the suite; "" if it is not kept
	folder string        // folder of the suite; "" if it is not kept
	notes  []string      // problems of the file
	file   io.Closer     // nil if nothing stays open
}

func (s *side) close() {
	if s != nil && s.file != nil {
		_ = s.file.Close()
	}
}

// openSide opens anything that a user calls a run: an id, a run file, its URL on a server, a
// baseline file, or a folder with runs or baselines, such as an artifact of a CI system. If a
// folder has several runs, it opens the last one of the suite with the given name, if there is one.
func (a *app) openSide(ctx context.Context, dir, name, suite string) (*side, error) {
	_, counted := nthLast(name)
	info, err := os.Stat(name)
	file := err == nil && !counted && !client.IsAddress(name)
	if file && info.IsDir() {
		if name, err = inArtifact(name, suite); err != nil {
			return nil, err
		}
	}
	if line, ok := firstLine(name); file && ok && baseline.Is(line) {
		return openBaseline(ctx, name)
	}
	r, err := a.openRun(ctx, dir, name)
	if err != nil && file {
		return nil, fmt.Errorf("%w; nor is it a baseline file, which `proviso baseline save` writes", err)
	}
	if err != nil {
		return nil, err
	}
	if !file { // the id is more precise than last~1 or the beginning of an id
		name = r.address
	}
	s, err := sideOf(r.Reader, name)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	s.id, s.file = s.run.Name, r
	return s, nil
}

// sideOf reads a run. name is used in messages; "" means its id, or else its file.
func sideOf(r *runfile.Reader, name string) (*side, error) {
	h := r.Header()
	run, err := runs.Read(r, cmp.Or(name, h.ID, r.Path()))
	if err != nil {
		return nil, err
	}
	config, _ := h.Meta.At("config").(*value.Object)
	folder, _ := h.Meta.At("folder").(string)
	return &side{run: run, path: r.Path(), kept: h.ID, texts: runs.TextsOf(r), config: config, suite: h.Suite, folder: folder, notes: unsound(r, run.Name)}, nil
}

// unsound lists the problems of a run file.
func unsound(r *runfile.Reader, name string) []string {
	var list []string
	planned, _ := r.Header().Meta.At("rows").(float64)
	switch rows := r.Len(); {
	case r.Trailer() != nil:
	case int(planned) > rows:
		list = append(list, fmt.Sprintf("%s is not finished: it has %d of %d rows. Finish it with `proviso eval --resume=%s` and the flags of its first command.", name, rows, int(planned), name))
	default:
		list = append(list, name+" is not finished.")
	}
	if lines, _ := r.Damage(); lines > 0 {
		verb := map[bool]string{true: "is", false: "are"}[lines == 1]
		list = append(list, fmt.Sprintf("%s is damaged: %s %s not a row, and left out.", name, plural.Of(lines, "line"), verb))
	}
	return list
}

// sideOfOutcome returns the side of a run that has just ended. It keeps the run open.
func sideOfOutcome(out *run.Outcome, name string) (*side, error) {
	s, err := sideOf(out.Rows, name)
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	s.notes = nil // the reader was opened while the file was still being written
	if s.file = out; out.Meta.RunFile != "" {
		s.id = out.ID
	}
	return s, nil
}

func openBaseline(ctx context.Context, name string) (*side, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, proviso.Errorf(proviso.NotFound, "%w", err)
	}
	defer f.Close()
	g, err := baseline.Read(ctx, name, f)
	if err != nil {
		return nil, err
	}
	return &side{run: g, texts: runs.Verdicts{Run: g}, id: name, path: name, suite: g.Identity.Suite}, nil
}

// maxFirst is how many bytes of a file are read to detect its kind.
const maxFirst = 1 << 20

func firstLine(name string) (string, bool) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	f, err := os.Open(name)
	if err != nil {
		return "", false
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, maxFirst)).ReadString('\n')
	return line, err == nil || errors.Is(err, io.EOF)
}

// inArtifact returns the run or the baseline in a folder. That may be the folder of a kept run; a
// folder of runs, or a folder above it with proviso's usual names, where the last run of the suite
// is used, or else the last run; or a folder with a single baseline file.
func inArtifact(dir, suite string) (string, error) {
	if r, err := runfile.Open(dir); err == nil {
		return dir, r.Close()
	}
	for _, inner := range []string{".", "runs", filepath.Join("proviso", "runs")} {
		if list, err := runfile.List(filepath.Join(dir, inner)); err == nil && len(list) > 0 {
			return ofSuite(list, suite), nil
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return "", err
	}
	files = slices.DeleteFunc(files, func(name string) bool {
		line, ok := firstLine(name)
		return !ok || !baseline.Is(line)
	})
	switch len(files) {
	case 0:
		return "", proviso.Errorf(proviso.NotFound, "%s holds no kept run and no baseline: keep a run there with `proviso eval --run-dir %s`", dir, dir)
	case 1:
		return files[0], nil
	}
	return "", &proviso.Error{Code: proviso.Invalid, Message: dir + " holds several baselines; name one", Valid: files}
}

// maxSearched is the maximum number of runs that are opened to find one of a suite.
const maxSearched = 100

// ofSuite returns the file of a suite's last run, or else of the last run.
func ofSuite(list []runfile.Info, suite string) string {
	for _, info := range list[:min(len(list), maxSearched)] {
		r, err := runfile.Open(info.Path)
		if err != nil {
			continue
		}
		same := r.Header().Suite == suite
		_ = r.Close()
		if same {
			return info.Path
		}
	}
	return list[0].Path
}

// compareSides compares two runs. Judged assertions are corrected for the errors of their judge, if
// the alignment of the head's suite has them. flakes are the results of an A/A run.
func (a *app) compareSides(base, head *side, flakes []gate.Flake) (*gate.Comparison, gate.Options, error) {
	o := gate.Options{Flakes: flakes, Judges: a.judgeErrors(head.folder, base.run, head.run)}
	c, err := gate.Compare(base.run, head.run, o)
	if err != nil {
		return nil, o, err
	}
	c.Warnings = slices.Concat(runs.DifferentSuites(base.suite, head.suite), base.notes, head.notes, c.Warnings)
	if base.kept != "" && base.kept == head.kept {
		c.Warnings = append(c.Warnings, "Base and head are the same run, so there is no difference to find.")
	}
	return c, o, nil
}

// judgeErrors returns the measured errors of the judges in the given runs, by assertion.
// folder is the suite's folder, which holds the alignment.
func (a *app) judgeErrors(folder string, list ...*gate.Run) map[string]stats.Confusion {
	return a.judgeErrorsIn(filepath.Join(alignmentFolder(folder), align.File), list...)
}

// judgeErrorsIn is judgeErrors with the alignment in a file.
func (a *app) judgeErrorsIn(file string, list ...*gate.Run) map[string]stats.Confusion {
	kept, err := align.Load(file)
	if err != nil {
		a.warn(err.Error())
		return nil
	}
	return runs.JudgeErrors(kept, list...)
}
