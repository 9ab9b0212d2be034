package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"iter"
	"os"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

// Outcome is the result of a finished run and where it is stored.
type Outcome struct {
	proviso.Run
	Summary     *report.Summary
	Meta        *report.Meta
	Rows        *runfile.Reader
	Warning     string   // where the run is stored instead, "" if it is in the right place
	Problems    []string // errors outside the rows: hooks after the run, metrics that are functions
	Interrupted bool

	temporary string // folder of a run that is not kept
}

// Close closes the rows, and removes a run that is not kept.
func (o *Outcome) Close() error {
	var err error
	if o.Rows != nil {
		err = o.Rows.Close()
	}
	if o.temporary != "" {
		err = errors.Join(err, os.RemoveAll(o.temporary))
	}
	return err
}

// Run runs the rows concurrently, and stores each as soon as it is finished. When ctx ends,
// rows in flight are dropped and finished rows stay. The error is why the run could not be
// stored; the rows finished until then are on disk.
func (p *Plan) Run(ctx context.Context) (*Outcome, error) { return p.perform(ctx, nil) }

// perform runs the rows, or fetches them from another process.
func (p *Plan) perform(ctx context.Context, remote *Remote) (*Outcome, error) {
	begun := time.Now()
	e, err := p.start(p.started(), remote)
	if err != nil {
		return nil, err
	}
	e.kept, p.kept = p.kept.cases, kept{}
	if p.o.Timeout > 0 {
		e.deadline = begun.Add(p.o.Timeout)
	}
	do := e.rows
	if remote != nil {
		do = e.collect
	}
	runErr := do(ctx)
	e.metrics.finish(context.WithoutCancel(ctx), e.summary)
	out := &Outcome{
		Run: proviso.Run{
			ID: e.meta.RunID, Suite: e.meta.Suite, Started: e.meta.Started, Elapsed: e.elapsed(begun),
			Totals: e.summary.Totals(), Completed: runErr == nil && !e.over(ctx),
		},
		Summary: e.summary, Meta: e.meta, Warning: e.warning, temporary: e.temporary,
		Interrupted: errors.Is(context.Cause(ctx), context.Canceled),
	}
	e.meta.Elapsed = out.Elapsed
	if err := e.file.Close(report.Trailer(e.meta, e.summary)); err != nil && runErr == nil {
		runErr = err
	}
	if runErr == nil {
		out.Rows, runErr = e.file.Reader()
	}
	out.Problems = e.end(context.WithoutCancel(ctx), out)
	return out, runErr
}

// execution is the state of one run.
type execution struct {
	p         *Plan
	file      *runfile.Writer
	warning   string
	temporary string
	meta      *report.Meta
	summary   *report.Summary
	metrics   *metrics
	memory    *memory
	kept      []*prepared  // cases that the plan kept; nil if they are read from the suite
	deadline  time.Time    // deadline of the run; zero if it has none
	done      map[int]bool // rows of an earlier run that do not run again
	shares    shares
	remote    *Remote // run in another process; nil if the rows run here

	mu     sync.Mutex // guards the fields below, summary and metrics
	groups map[int]*group
	err    error // why the run cannot be stored
}

// shownConfig is the suite's configuration without known secrets.
func (p *Plan) shownConfig() *value.Object {
	o, _ := p.o.Secrets.RedactValue(p.Suite.Config).(*value.Object)
	return o
}

func (p *Plan) start(started time.Time, remote *Remote) (*execution, error) {
	e := &execution{p: p, remote: remote, groups: map[int]*group{}, summary: report.NewSummary(len(p.columns)), metrics: newMetrics(p), shares: shares{take: p.o.Take}}
	e.meta = &report.Meta{Version: p.o.Version, Suite: p.Name(), Started: started, Config: p.shownConfig(), Planned: p.Rows, Types: check.Facts(), Folder: p.o.Folder, Revision: p.o.Revision, Hashes: p.hashes(p.judge(remote))}
	for i := range p.columns {
		e.meta.Columns = append(e.meta.Columns, report.NewColumn(p.columns[i].prompt, p.columns[i].spec))
	}
	hash := p.Hash()
	if remote != nil {
		hash, e.meta.On = remote.Hash, remote.On
	}
	header := e.meta.Header()
	header.Hash = hash
	if p.o.Replay != nil {
		header.ID = p.o.Replay.id(p)
	}
	if p.o.Resume != "" {
		if err := e.resume(p.o.Resume); err != nil {
			return nil, err
		}
		e.begin()
		e.taken()
		return e, nil
	}
	dir := p.o.Dir
	if dir == "" {
		temp, err := os.MkdirTemp("", "proviso-run-")
		if err != nil {
			return nil, err
		}
		dir, e.temporary = temp, temp
	}
	w, warning, err := runfile.CreateOrTemp(dir, header)
	if err != nil {
		return nil, err
	}
	e.file, e.warning = w, warning
	e.begin()
	if err := e.takeEarlier(); err != nil {
		return nil, errors.Join(err, e.abandon())
	}
	e.taken()
	return e, nil
}

// begin sets the id, start and path from the run file.
func (e *execution) begin() {
	header := e.file.Header()
	e.meta.RunID, e.meta.Started = header.ID, header.Started // a resumed run keeps its own start
	if e.temporary == "" {                                   // a temporary run is gone when a person looks for the path
		e.meta.RunFile = e.file.Path()
	}
	if e.p.o.RunID != "" {
		e.meta.RunID = e.p.o.RunID
	}
	e.memory = newMemory(e.meta.RunID)
}

// Name returns the suite's name in reports.
func (p *Plan) Name() string {
	if p.Suite.Description != "" {
		return p.Suite.Description
	}
	return p.Suite.File
}

// contentOf starts the hash of a run with the suite as read and its prompts. The cases are
// added as they are checked.
func contentOf(s *proviso.Suite) hash.Hash {
	h := sha256.New()
	h.Write(value.AppendJSON(nil, s.Config))
	addPrompts(h, s)
	for _, d := range s.Datasets { // the ids of cases do not depend on their content
		fmt.Fprintf(h, "dataset %s", d.Version)
	}
	return h
}

func addPrompts(h hash.Hash, s *proviso.Suite) {
	for _, prompt := range s.Prompts {
		fmt.Fprintf(h, "%d:%s", len(prompt.Raw), prompt.Raw)
	}
}

// judge returns the identity of a run's judge; "" if there is none, or it is unknown.
func (p *Plan) judge(remote *Remote) string {
	switch {
	case remote != nil:
		return remote.Judge
	case p.o.Judge != nil:
		return p.o.Judge()
	}
	return ""
}

// hashes returns hashes of the parts of the input, to show which of them differ between two
// runs.
func (p *Plan) hashes(judge string) report.Hashes {
	prompts := sha256.New()
	addPrompts(prompts, p.Suite)
	suite := sha256.Sum256(value.AppendJSON(nil, p.Suite.Config))
	h := report.Hashes{Prompts: hex.EncodeToString(prompts.Sum(nil)), Suite: hex.EncodeToString(suite[:]), Cases: hex.EncodeToString(p.cases.Sum(nil))}
	if judge != "" {
		sum := sha256.Sum256([]byte(judge))
		h.Judge = hex.EncodeToString(sum[:])
	}
	return h
}

// Hash returns the hash of a run's content and its grader. Runs with equal hashes can be
// compared row by row.
func (p *Plan) Hash() string {
	sum := p.content.Sum(nil)
	if judge := p.judge(nil); judge != "" {
		all := sha256.Sum256(append(sum, judge...))
		sum = all[:]
	}
	return hex.EncodeToString(sum)
}

// failure returns why the run cannot be stored, or nil.
func (e *execution) failure() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

func (e *execution) fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		e.err = err
	}
}

// row runs one row within the remaining time of the run. If none remains, the
// row is undecided.
func (e *execution) row(ctx context.Context, j job) *proviso.Result {
	if begin := e.p.o.Begin; begin != nil {
		defer begin(j.c.c, j.col.spec)()
	}
	if e.deadline.IsZero() {
		return e.rowWithHooks(ctx, j.c.pc, j.col)
	}
	limited, cancel := context.WithDeadline(ctx, e.deadline)
	defer cancel()
	res := &proviso.Result{Case: j.c.c, Prompt: j.col.prompt, PromptIdx: j.col.index, Provider: j.col.spec, Vars: j.c.c.Vars, Rendered: j.col.prompt.Raw}
	if !e.late() {
		res = e.rowWithHooks(limited, j.c.pc, j.col)
	}
	if e.late() {
		limit := "the run took longer than " + e.p.o.Timeout.String()
		cutOff(res, limit)
		if res.Aggregate.Status == proviso.Errored {
			res.Error, res.Aggregate.Reason = limit, limit
		}
	}
	return res
}

// late reports whether the run has exceeded its time limit.
func (e *execution) late() bool { return !e.deadline.IsZero() && !time.Now().Before(e.deadline) }

// finish stores a row, or holds it until its group is complete.
func (e *execution) finish(ctx context.Context, j job, res *proviso.Result, buf []byte) ([]byte, error) {
	paid := e.p.paid(j, res)
	if len(j.c.pc.comparing) > 0 {
		return buf, e.hold(ctx, j.c.pc, res, paid)
	}
	buf, clean, err := e.write(ctx, res, buf)
	if err == nil && paid {
		err = e.commit()
	}
	if err != nil {
		e.fail(err)
		return buf, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.count(res, clean)
	return buf, nil
}

// keep stores the rows of a group and counts them.
func (e *execution) keep(ctx context.Context, g *group) error {
	clean := make([][]byte, len(g.rows))
	var err error
	for i := 0; i < len(g.rows) && err == nil; i++ {
		_, clean[i], err = e.write(ctx, g.rows[i], nil)
	}
	if err == nil && g.paid {
		err = e.commit()
	}
	if err != nil {
		e.fail(err)
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, res := range g.rows {
		e.count(res, clean[i])
	}
	return nil
}

// commit waits until the written rows are on disk. Rows that cost money count only then, so
// that no counted row is paid for twice.
func (e *execution) commit() error {
	if e.temporary != "" {
		return nil // a temporary run is not resumed
	}
	return e.file.Commit()
}

// write stores a row. It encodes the row in buf, which it returns for reuse,
// and returns the row without secrets if it contained any.
func (e *execution) write(ctx context.Context, res *proviso.Result, buf []byte) (grown, clean []byte, err error) {
	grown = report.AppendRow(buf[:0], e.index(res), res, e.meta)
	row := grown
	if e.p.o.Secrets.In(row) {
		clean = e.p.o.Secrets.RedactJSON(row)
		row = clean
	}
	err = e.file.Append(e.index(res), row)
	if err == nil && e.p.o.Keep != nil {
		err = e.p.o.Keep(ctx, e.index(res), row, res)
	}
	return grown, clean, err
}

// index returns the index of a row: by case, then by column.
func (e *execution) index(res *proviso.Result) int {
	return res.Case.Index*len(e.p.columns) + res.PromptIdx
}

// count adds a row to the totals; e.mu must be held. clean is the row without secrets if it
// contained any, because totals quote errors.
func (e *execution) count(res *proviso.Result, clean []byte) {
	if clean == nil || e.summary.AddRow(clean) != nil {
		e.summary.Add(e.index(res), res)
	}
	e.metrics.add(e.index(res), res)
	if e.p.o.Tick != nil {
		e.p.o.Tick(e.summary.Totals())
	}
}

// Results yields the rows of the run in order. It reads one at a time, so memory does not grow
// with the run. The sequence ends with an error if a row cannot be read.
func (o *Outcome) Results() iter.Seq2[*report.Row, error] {
	return func(yield func(*report.Row, error) bool) {
		for _, record := range o.Rows.Rows() {
			row, err := report.ReadRow(record)
			if !yield(row, err) || err != nil {
				return
			}
		}
		if err := o.Rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}
