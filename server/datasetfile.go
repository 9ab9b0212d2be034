package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/turns"
	"github.com/proviso-eval/proviso/server/dataset"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// putDatasetFile stores a file of cases, one JSON case per line, as it arrives.
func (s *Server) putDatasetFile(c *call) error {
	if err := checkName(c.r.PathValue("dataset")); err != nil {
		return err
	}
	if err := sentAs(mediaRun, c.r.Header); err != nil {
		return err
	}
	if err := s.transfer(c); err != nil {
		return err
	}
	defer func() { <-s.pushes }()
	ctx, task := s.withTurns(c.r.Context(), c.key.ID)
	defer task.End()
	b := newDatasetBuilder()
	body := c.slowBody(store.MaxContent)
	for line, err := range document.Lines(body) {
		if err = b.broken(err); err != nil {
			return s.unreadDataset(err)
		}
		if _, done, err := turns.Enter(ctx); err != nil {
			return err
		} else {
			b.addLine(line)
			done()
		}
	}
	if err := b.problem(nil); err != nil {
		return err
	}
	_ = body.control.SetReadDeadline(time.Time{})                   // not every connection supports this
	_ = body.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // not every writer supports this
	return s.keepDataset(c, b)
}

// transfer starts to receive or send a large file, unless too many are in progress. The caller
// receives from s.pushes at the end.
func (s *Server) transfer(c *call) error {
	select {
	case s.pushes <- struct{}{}:
		return nil
	default:
		c.w.Header().Set("Connection", "close") // net/http would read on before it replies
		return problem(codeBusy, fmt.Sprintf("%d files are being received or sent already", maxPushes)).after(time.Second)
	}
}

// slowBody returns the body of a request that may take long, but not forever.
func (c *call) slowBody(most int64) *slowBody {
	return &slowBody{Reader: http.MaxBytesReader(c.w, c.r.Body, most), control: http.NewResponseController(c.w), end: time.Now().Add(pushTimeout)}
}

type slowBody struct {
	io.Reader
	control *http.ResponseController
	end     time.Time
}

func (b *slowBody) Read(p []byte) (int, error) {
	next := time.Now().Add(readTimeout)
	if next.After(b.end) {
		next = b.end
	}
	_ = b.control.SetReadDeadline(next) // not every connection supports this
	return b.Reader.Read(p)
}

// broken records an unreadable line as a mistake; other errors end the reading.
func (b *datasetBuilder) broken(err error) error {
	if broken, ok := errors.AsType[*document.LineError](err); ok {
		b.decoder.add(Mistake{Code: broken.Code, Message: broken.Message, Line: broken.Line, Column: broken.Column, Excerpt: broken.Excerpt})
		return nil
	}
	return err
}

// addLine adds the case of a line.
func (b *datasetBuilder) addLine(line document.Line) {
	if line.Text == "" {
		return // already recorded as a mistake
	}
	one, ok := line.Value.(*value.Object)
	if !ok {
		b.decoder.add(Mistake{Code: proviso.Invalid, Line: line.Number, Column: 1, Message: "a case is an object, not " + kindOf(line.Value)})
		return
	}
	before := len(b.mistakes)
	b.add("", one)
	for i := range b.mistakes[before:] {
		m := &b.mistakes[before+i]
		pointer, key := strings.CutSuffix(m.Pointer, document.KeyMark)
		at := document.JSONPlace("", document.Line{Number: line.Number, Text: line.Text}, pointer, key)
		m.Line, m.Column = line.Number, at.Column
	}
}

// unreadDataset is the problem of a file that did not arrive completely.
func (s *Server) unreadDataset(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return problem(codeTooLarge, fmt.Sprintf("a dataset has at most %d bytes (64 MiB); divide it into several", store.MaxContent))
	}
	return s.unread(err)
}

func (s *Server) getDatasetFile(c *call) error {
	format := choice(&c.q, "format", "jsonl", "yaml", "csv")
	if c.q.err != nil {
		return c.q.err
	}
	if err := s.transfer(c); err != nil {
		return err
	}
	defer func() { <-s.pushes }()
	doc, err := s.openDataset(c, c.q.Get("version"))
	if err != nil {
		return err
	}
	ctx, task := s.withTurns(c.r.Context(), c.key.ID)
	defer task.End()
	media, ext, columns := mediaRun, ".jsonl", []string(nil)
	switch format {
	case "yaml":
		media, ext = "application/yaml", ".yaml"
	case "csv":
		media, ext = "text/csv; charset=utf-8", ".csv"
		if columns, err = dataset.Columns(ctx, doc.Content); err != nil {
			return err
		}
	}
	h := c.w.Header()
	h.Set("Content-Type", media)
	h.Set("ETag", strconv.Quote(doc.Hash))
	h.Set("Content-Disposition", `attachment; filename="`+doc.Name+"-"+strconv.Itoa(doc.Number)+ext+`"`)
	c.w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(c.w)
	send := func(part []byte) error {
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout)) // not every writer supports this
		_, err := c.w.Write(part)
		return err
	}
	if format == "" || format == "jsonl" {
		return send(doc.Content)
	}
	return dataset.Convert(ctx, doc.Content, columns, send)
}

// DatasetDiff lists the changes between two versions of a dataset.
type DatasetDiff struct {
	From DatasetVersion `json:"from"`
	To   DatasetVersion `json:"to"`
	dataset.Diff
}

func (s *Server) diffDataset(c *call) error {
	to, err := s.openDataset(c, c.q.Get("to"))
	if err != nil {
		return err
	}
	before := c.q.Get("from")
	if before == "" {
		before = strconv.Itoa(max(1, to.Number-1))
	}
	from, err := s.openDataset(c, before)
	if err != nil {
		return err
	}
	diff, err := dataset.Compare(from.Content, to.Content)
	return c.send(DatasetDiff{datasetOf(&from), datasetOf(&to), diff}, err)
}
