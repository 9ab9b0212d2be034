package server

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/internal/turns"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/store"
)

// mediaRun is the media type of a run file: JSON Lines.
const mediaRun = "application/x-ndjson"

// Limits of pushed runs, besides [Options.RunLimit].
const (
	maxPushedRows = 100_000
	maxPushedHead = 16 << 20 // bytes of the header, and of the trailer
	maxPushes     = 4        // at a time
	pushTimeout   = 15 * time.Minute
)

// PushedRun is the address of a pushed run.
type PushedRun struct {
	ID    string `json:"id"`
	Suite string `json:"suite"`
	Rows  int    `json:"rows"`
}

const pushTaken = "The body is the file of a finished run, as `proviso eval` keeps it: a line for the header, one for each row, one for the totals. " +
	"Nothing is kept of a file with a mistake. The same run again gets the same id, with the status 200. The key is charged nothing."

func (s *Server) pushRun(c *call) error {
	if err := sentAs(mediaRun, c.r.Header); err != nil {
		return err
	}
	if c.r.ContentLength > s.o.RunLimit {
		return s.runTooLarge()
	}
	if err := s.transfer(c); err != nil {
		return err
	}
	defer func() { <-s.pushes }()
	dir, err := os.MkdirTemp("", "proviso-pushed-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // otherwise the leftovers are in the temporary folder
	path := filepath.Join(dir, runfile.FileName)
	ends, err := s.receive(c, path)
	if err != nil {
		return err
	}
	r, err := runfile.Open(path)
	if err != nil {
		return problem(proviso.Invalid, "line 1: this is not the header of a run")
	}
	defer r.Close()
	ctx, task := s.withTurns(c.r.Context(), c.key.ID)
	defer task.End()
	got, created, err := s.importRun(ctx, c, r, ends)
	if err != nil {
		return err
	}
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(writeTimeout)) // not every writer supports this
	return s.kept(c, "/v1/runs/"+got.ID, created, PushedRun{ID: got.ID, Suite: got.Suite, Rows: got.Rows})
}

func (s *Server) runTooLarge() error {
	return problem(codeTooLarge, fmt.Sprintf("the run has more than %d bytes; --run-limit sets the limit", s.o.RunLimit))
}

// receive writes the body to a file and checks the form of each line.
func (s *Server) receive(c *call, path string) (*runLines, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := &runLines{longest: s.o.BodyLimit}
	body := c.slowBody(s.o.RunLimit)
	buf := make([]byte, 64<<10)
	c.clock.begin()
	defer c.clock.end()
	for {
		n, err := body.Read(buf)
		if failed := lines.add(buf[:n]); failed != nil {
			return nil, failed
		}
		if _, failed := f.Write(buf[:n]); failed != nil {
			return nil, diskProblem(failed)
		}
		switch {
		case errors.Is(err, io.EOF):
			_ = body.control.SetReadDeadline(time.Time{})
			return lines, lines.end()
		case err != nil:
			if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
				return nil, s.runTooLarge()
			}
			return nil, s.unread(err)
		}
	}
}

// diskProblem is the problem of a file that cannot be written.
func diskProblem(err error) error {
	if isFull(err) {
		return noRoomForFiles()
	}
	return err
}

// importRun stores a received run under an id that depends only on its content.
func (s *Server) importRun(ctx context.Context, c *call, r *runfile.Reader, ends *runLines) (store.Run, bool, error) {
	sum, err := contentOf(c.project, r, ends)
	if err != nil {
		return store.Run{}, false, err
	}
	h := r.Header()
	revision, hashes := report.OriginOf(h.Meta)
	revision.Commit, revision.Branch, revision.PullRequest = shortened(revision.Commit), oneName(revision.Branch), shortened(revision.PullRequest)
	meta := execution{AgentID: oneName(h.Meta.Object("config").Text("id")), TestSuite: oneName(h.Suite), Pushed: true, Revision: revision}
	options, err := json.Marshal(meta)
	if err != nil {
		return store.Run{}, false, err
	}
	n := store.ImportedRun{
		ID: store.ContentID(store.RunID, sum), Suite: cmp.Or(oneName(h.Suite), "unnamed"), Version: shortened(hashes.Suite), Hash: shortened(h.Hash), CreatedBy: c.key.ID,
		Options: options, Rows: max(r.Len(), report.ReadKept(h, nil).Planned), Started: h.Started, RunFile: store.RunFile{Header: ends.header, Trailer: ends.trailer},
	}
	return c.kept.ImportRun(ctx, n, pushedRows(ctx, r))
}

// contentOf returns the hash of a run in a project, over its header, its rows in the order of
// their index, and its trailer.
func contentOf(project store.Project, r *runfile.Reader, ends *runLines) ([sha256.Size]byte, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n", project, ends.header)
	for _, row := range r.Rows() {
		h.Write(row)
		h.Write([]byte{'\n'})
	}
	h.Write(ends.trailer)
	return [sha256.Size]byte(h.Sum(nil)), r.Err()
}

// oneName shortens a name in a pushed run, and removes terminal control characters.
func oneName(text string) string {
	return excerpt.Head(report.OneLine(report.Printable(text)), store.MaxName)
}

// pushedRows reads and checks the rows of a run.
func pushedRows(ctx context.Context, r *runfile.Reader) iter.Seq2[store.Result, error] {
	return func(yield func(store.Result, error) bool) {
		for index, record := range r.Rows() {
			row, err := pushedRow(ctx, index, bytes.Clone(record))
			if !yield(row, err) || err != nil {
				return
			}
		}
		if err := r.Err(); err != nil {
			yield(store.Result{}, err)
		}
	}
}

// pushedRow reads one row.
func pushedRow(ctx context.Context, index int, record []byte) (store.Result, error) {
	_, done, err := turns.Enter(ctx)
	if err != nil {
		return store.Result{}, err
	}
	defer done()
	sum := report.NewSummary(0)
	if err := sum.AddRow(record); err != nil {
		return store.Result{}, proviso.Errorf(proviso.Invalid, "row %d: %w", index, err)
	}
	row, err := report.ReadRow(record)
	if err != nil {
		return store.Result{}, proviso.Errorf(proviso.Invalid, "row %d: %w", index, err)
	}
	if verdict := row.Record.Text("verdict"); row.Index != index || row.Status.String() != verdict {
		return store.Result{}, proviso.Errorf(proviso.Invalid, "row %d: %q is not a verdict: pass, fail, error or skip is expected", index, shortened(verdict))
	}
	t := sum.Totals()
	out, _, _ := store.ReadRow(index, record) // its verdicts, by the names that every page uses
	out.Status, out.Usage, out.Cost, out.JSON = row.Status, t.Usage, t.Cost, record
	return out, nil
}

// runFile sends the file of an ended run; a pushed run is sent as it was pushed.
func (s *Server) runFile(c *call) error {
	r, err := s.seenRun(c)
	if err != nil {
		return err
	}
	if !r.Status.Ended() {
		return proviso.Errorf(proviso.Conflict, "the run %s has not ended: it is %s", r.ID, r.Status)
	}
	ctx := c.r.Context()
	ends, err := endsOf(ctx, c.kept, r, s.o.Version)
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Type", mediaRun)
	c.w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(c.w)
	return writeRun(ctx, c.kept, r.ID, ends, func(line []byte) error { // after an error, the client misses the trailer
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout)) // not every writer supports this
		_, err := c.w.Write(append(line, '\n'))
		return err
	})
}

// WriteRunFile writes the file of an ended run, as GET /v1/runs/{run}/file sends it. version is
// the version of proviso, for runs that were not pushed. It holds one page of rows at a time in
// memory.
func WriteRunFile(ctx context.Context, w io.Writer, kept store.Runs, r store.Run, version string) error {
	ends, err := endsOf(ctx, kept, r, version)
	if err != nil {
		return err
	}
	return writeRun(ctx, kept, r.ID, ends, func(line []byte) error {
		_, err := w.Write(append(line, '\n'))
		return err
	})
}

func writeRun(ctx context.Context, kept store.Runs, id string, ends store.RunFile, write func(line []byte) error) error {
	err := write(ends.Header)
	if err == nil {
		err = eachRow(ctx, kept, id, func(_ int, row []byte) error { return write(row) })
	}
	if err == nil && ends.Trailer != nil { // an interrupted run has none
		err = write(ends.Trailer)
	}
	return err
}

// endsOf returns the header and trailer of a run: the pushed ones, or else generated ones.
func endsOf(ctx context.Context, kept store.Runs, r store.Run, version string) (store.RunFile, error) {
	ends, err := kept.RunFile(ctx, r.ID)
	if proviso.CodeOf(err) == proviso.NotFound {
		return madeEnds(ctx, kept, r, version)
	}
	return ends, err
}

// madeEnds generates the header and trailer of a run that this server executed.
func madeEnds(ctx context.Context, kept store.Runs, r store.Run, version string) (store.RunFile, error) {
	shown := runOf(r)
	meta := &report.Meta{Version: version, Suite: shown.TestSuite, Started: r.Started, Planned: r.Rows}
	if !r.Started.IsZero() {
		meta.Elapsed = r.Ended.Sub(r.Started)
	}
	sum := report.NewSummary(0)
	err := eachRow(ctx, kept, r.ID, func(_ int, record []byte) error {
		row, err := report.ReadRow(record)
		if err != nil {
			return err
		}
		meta.SetColumn(row.Record)
		return sum.AddRow(record)
	})
	header := meta.Header()
	header.ID, header.Hash = r.ID, r.Hash
	first, last := header.Line(), runfile.TrailerLine(report.Trailer(meta, sum))
	return store.RunFile{Header: first[:len(first)-1], Trailer: last[:len(last)-1]}, err
}

// runLines checks the form of a run file's lines as they arrive. It keeps the first line and
// the trailer.
type runLines struct {
	longest int64  // bytes of the longest allowed row
	n       int    // lines so far
	line    []byte // the current line
	header  []byte
	trailer []byte
	rows    int
}

// add processes the next bytes.
func (l *runLines) add(data []byte) error {
	for len(data) > 0 {
		part, rest, ended := bytes.Cut(data, []byte{'\n'})
		data = rest
		l.line = append(l.line, part...)
		if err := l.fits(); err != nil {
			return err
		}
		if !ended {
			return nil
		}
		l.n++
		if err := l.check(); err != nil {
			return err
		}
		l.line = l.line[:0]
	}
	return nil
}

// fits checks the length of the current line.
func (l *runLines) fits() error {
	most, what, flag := l.longest, "row", "; --body-limit sets the limit"
	if _, row := runfile.RowIndex(l.line); !row {
		most, what, flag = maxPushedHead, "header or trailer", ""
	}
	if int64(len(l.line)) > most {
		return proviso.Errorf(proviso.Limit, "line %d: the %s has more than %d bytes%s", l.n+1, what, most, flag)
	}
	return nil
}

// check checks the current line by its kind: header, row or trailer.
func (l *runLines) check() error {
	if !utf8.Valid(l.line) {
		return proviso.Errorf(proviso.Invalid, "line %d is not UTF-8: %s", l.n, firstInvalid(l.line))
	}
	if l.n == 1 {
		if _, err := runfile.ParseHeader(l.line); err != nil {
			return proviso.Errorf(proviso.Invalid, "line 1: %w", err)
		}
		l.header = bytes.Clone(l.line)
		return nil
	}
	if l.trailer != nil {
		return proviso.Errorf(proviso.Invalid, "line %d: nothing may follow the totals of the run", l.n)
	}
	if _, ok := runfile.ParseTrailer(l.line); ok {
		l.trailer = bytes.Clone(l.line)
		return nil
	}
	if _, ok := runfile.RowIndex(l.line); !ok || l.line[len(l.line)-1] != '}' {
		return proviso.Errorf(proviso.Invalid, "line %d is not a row of a run: %q", l.n, excerpt.Bytes(string(l.line), 60))
	}
	if l.rows++; l.rows > maxPushedRows {
		return proviso.Errorf(proviso.Limit, "line %d: the run has more than %d rows", l.n, maxPushedRows)
	}
	return nil
}

// end reports what is missing at the end.
func (l *runLines) end() error {
	switch {
	case len(l.line) > 0:
		return proviso.Errorf(proviso.Invalid, "line %d is cut off: it has no line break", l.n+1)
	case l.n == 0:
		return problem(codeMalformed, "the body is empty; the file of a run is expected")
	case l.trailer == nil:
		return proviso.Errorf(proviso.Invalid, "the run is unfinished, or was cut off: its last line (%d) is not its totals", l.n)
	}
	return nil
}
