package files

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/store"
)

// project is the store of one project.
type project struct {
	refusing
	s    *Store
	here bool // it is the project of the runs
}

// run returns the file of a run by its id.
func (p project) run(ctx context.Context, id string) (runfile.Info, error) {
	if err := p.s.usable(ctx); err != nil {
		return runfile.Info{}, err
	}
	if info, ok := p.s.find(id); ok && p.here {
		return info, nil
	}
	return runfile.Info{}, notFound(id)
}

func notFound(id string) error {
	return proviso.Errorf(proviso.NotFound, "there is no run %q", id[:min(len(id), 80)])
}

// Run implements [store.Runs].
func (p project) Run(ctx context.Context, id string) (store.Run, error) {
	info, err := p.run(ctx, id)
	if err != nil {
		return store.Run{}, err
	}
	st, err := p.s.stateOf(ctx, info, true)
	if err != nil {
		return store.Run{}, err
	}
	return st.run, nil
}

// ListRuns implements [store.Runs]. The latest started or resumed run comes first.
func (p project) ListRuns(ctx context.Context, f store.RunFilter, page store.Page) (out store.List[store.Run], err error) {
	after, ok, err := positionOf(page)
	if err == nil {
		err = p.s.usable(ctx)
	}
	if err != nil || !p.here {
		return out, err
	}
	runs, err := p.s.list()
	if err != nil {
		return out, err
	}
	p.s.forget(runs)
	last := ""
	for _, info := range runs {
		if ok && !after.before(info) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return store.List[store.Run]{}, err
		}
		st, err := p.s.stateOf(ctx, info, false)
		if err != nil {
			return store.List[store.Run]{}, err
		}
		if st.run.ID == "" || !matches(&f, st) { // it was removed meanwhile
			continue
		}
		if len(out.Items) == page.Size() {
			out.Next = last
			break
		}
		out.Items = append(out.Items, st.run)
		last = store.Cursor(runList, fmt.Sprintf("%d %d %s", info.Begun.UnixNano(), info.Started.Unix(), info.ID))
	}
	return out, nil
}

const runList = "runs"

// position is the end of a page of runs.
type position struct {
	begun, started int64
	id             string
}

// positionOf decodes a cursor of ListRuns; ok is false for the first page.
func positionOf(p store.Page) (at position, ok bool, err error) {
	text, ok, err := p.Position(runList)
	if err != nil || !ok {
		return at, false, err
	}
	parts := strings.SplitN(text, " ", 3)
	if len(parts) == 3 {
		var wrong, also error
		at.begun, wrong = strconv.ParseInt(parts[0], 10, 64)
		at.started, also = strconv.ParseInt(parts[1], 10, 64)
		if at.id = parts[2]; wrong == nil && also == nil {
			return at, true, nil
		}
	}
	_, _, err = store.Page{After: "?"}.Position(runList)
	return at, false, err
}

// before reports whether a run comes after the position in the order of [runfile.List].
func (at position) before(r runfile.Info) bool {
	switch begun, started := r.Begun.UnixNano(), r.Started.Unix(); {
	case begun != at.begun:
		return begun < at.begun
	case started != at.started:
		return started < at.started
	}
	return r.ID < at.id
}

func matches(f *store.RunFilter, st *state) bool {
	r := &st.run
	return (f.Suite == "" || r.Suite == f.Suite || st.known.Of(f.Suite)) &&
		(f.Version == "" || r.Version == f.Version) &&
		(len(f.Status) == 0 || slices.Contains(f.Status, r.Status)) &&
		f.CreatedBy == "" &&
		(f.Since.IsZero() || !r.Created.Before(f.Since)) &&
		(f.Until.IsZero() || r.Created.Before(f.Until))
}

// RunFile implements [store.Runs]. The trailer of an unfinished run is nil.
func (p project) RunFile(ctx context.Context, id string) (f store.RunFile, err error) {
	err = p.use(ctx, id, func(rec *record) error {
		h := rec.reader.Header()
		line := h.Line()
		f.Header = line[:len(line)-1]
		if totals := rec.reader.Trailer(); totals != nil {
			line := runfile.TrailerLine(totals)
			f.Trailer = line[:len(line)-1]
		}
		return nil
	})
	return f, err
}

// use calls do with the open file of a run.
func (p project) use(ctx context.Context, id string, do func(*record) error) error {
	info, err := p.run(ctx, id)
	if err != nil {
		return err
	}
	return p.s.use(ctx, info.Path, do)
}
