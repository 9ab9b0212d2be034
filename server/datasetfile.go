package server

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/convert"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/turns"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// putDatasetFile keeps a file of cases, one a line as JSON, while it arrives.
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
		if err = b.line(line, err); err != nil {
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
	_ = body.control.SetReadDeadline(time.Time{})                   // not every connection can
	_ = body.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // not every writer can
	return s.keepDataset(c, b)
}

// transfer begins to receive or send a large file, unless too many are under way. The
// caller takes one from s.pushes at the end.
func (s *Server) transfer(c *call) error {
	select {
	case s.pushes <- struct{}{}:
		return nil
	default:
		c.w.Header().Set("Connection", "close") // net/http would read on before it replies
		return problem(codeBusy, fmt.Sprintf("%d files are being received or sent already", maxPushes)).after(time.Second)
	}
}

// slowBody is the body of a request, which may take long, but not for ever.
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
	_ = b.control.SetReadDeadline(next) // not every connection can
	return b.Reader.Read(p)
}

// line takes a line that cannot be read as a mistake; other errors end the reading.
func (b *datasetBuilder) line(line document.Line, err error) error {
	if broken, ok := errors.AsType[*document.LineError](err); ok {
		b.decoder.add(Mistake{Code: broken.Code, Message: broken.Message, Line: broken.Line, Column: broken.Column, Excerpt: broken.Excerpt})
		return nil
	}
	return err
}

// addLine adds the case of a line.
func (b *datasetBuilder) addLine(line document.Line) {
	if line.Text == "" {
		return // it was a mistake
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

// getDatasetFile sends a version as a file.
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
		if columns, err = csvColumns(ctx, doc.Content); err != nil {
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
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout)) // not every writer can
		_, err := c.w.Write(part)
		return err
	}
	if format == "" || format == "jsonl" {
		return send(doc.Content)
	}
	return sendConverted(ctx, doc.Content, columns, send)
}

// sendConverted sends a dataset piece by piece: as CSV if there are columns, otherwise as YAML.
func sendConverted(ctx context.Context, content []byte, columns []string, send func([]byte) error) error {
	if columns != nil {
		head := make([]string, len(columns))
		for i, column := range columns {
			head[i] = report.Neutral(column)
		}
		if err := send(csvRecord(head)); err != nil {
			return err
		}
	}
	for rest := content; len(rest) > 0; {
		var part []byte
		_, done, err := turns.Enter(ctx)
		if err == nil {
			part, rest, err = filePart(rest, columns)
			done()
		}
		if err == nil {
			err = send(part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// filePart converts the next lines of a dataset: to CSV if there are columns, otherwise
// to YAML.
func filePart(content []byte, columns []string) (part, rest []byte, err error) {
	rest = content
	for len(rest) > 0 && len(part) < 64<<10 {
		var line []byte
		line, rest = lineOf(rest)
		one, err := caseOf(line)
		if err != nil {
			return nil, nil, err
		}
		if columns != nil {
			cells, _ := cellsOfCase(one)
			row := make([]string, len(columns))
			for i, column := range columns {
				row[i] = report.Neutral(cells.Text(column))
			}
			part = append(part, csvRecord(row)...)
			continue
		}
		text, err := convert.YAML([]any{one})
		if err != nil {
			return nil, nil, err
		}
		part = append(part, text...)
	}
	return part, rest, nil
}

// csvRecord is a line of a CSV file.
func csvRecord(fields []string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(fields) // a buffer takes everything
	w.Flush()
	return b.Bytes()
}

// csvColumns returns the columns of a dataset in CSV: the variables in the order of their
// first case, then the settings. It takes turns with other requests.
func csvColumns(ctx context.Context, content []byte) ([]string, error) {
	columns := csvHead{known: map[string]bool{}}
	for rest := content; len(rest) > 0; {
		_, done, err := turns.Enter(ctx)
		if err != nil {
			return nil, err
		}
		rest, err = columns.add(rest)
		done()
		if err != nil {
			return nil, err
		}
	}
	return append(columns.variables, columns.settings...), nil
}

// csvHead collects the columns of a dataset.
type csvHead struct {
	variables, settings []string
	known               map[string]bool
}

// add adds the columns of the next lines.
func (h *csvHead) add(content []byte) (rest []byte, err error) {
	for rest = content; len(rest) > 0 && len(content)-len(rest) < 64<<10; {
		var line []byte
		line, rest = lineOf(rest)
		one, err := caseOf(line)
		if err != nil {
			return nil, err
		}
		cells, why := cellsOfCase(one)
		if why != "" {
			return nil, proviso.Errorf(proviso.Unsupported, "CSV cannot hold the case %q: %s; format=jsonl and format=yaml hold all cases", shortened(one.Text("id")), why)
		}
		for name := range cells.All() {
			if h.known[name] {
				continue
			}
			h.known[name] = true
			if strings.HasPrefix(name, "__") {
				h.settings = append(h.settings, name)
			} else {
				h.variables = append(h.variables, name)
			}
		}
		if len(h.known) > maxColumns {
			return nil, proviso.Errorf(proviso.Limit, "the dataset has more than %d variables and settings: too many columns for CSV", maxColumns)
		}
	}
	return rest, nil
}

const maxColumns = 1000

// cellsOfCase returns the cells of a case by column, or why a cell cannot hold a part of
// it. The id of a case has no column.
func cellsOfCase(one *value.Object) (cells *value.Object, why string) {
	cells = value.NewObject(4)
	for name, v := range one.Object("vars").All() {
		text, ok := v.(string)
		if !ok || len(name) > 1 && name[:2] == "__" {
			return nil, "the variable " + strconv.Quote(shortened(name)) + " is not a text, or its name begins with two underscores"
		}
		cells.Set(name, text)
	}
	if text := one.Text("description"); text != "" {
		cells.Set("__description", text)
	}
	list, _ := one.At("assert").([]any)
	for i, a := range list {
		cell, ok := expectedCell(a)
		if !ok {
			return nil, "its assertion " + strconv.Itoa(i+1) + " is more than a type and a value"
		}
		column := "__expected"
		if i > 0 {
			column += strconv.Itoa(i + 1)
		}
		cells.Set(column, cell)
	}
	if threshold, ok := one.At("threshold").(float64); ok {
		cells.Set("__threshold", value.FormatNumber(threshold))
	}
	for name, v := range one.Object("metadata").All() {
		text, ok := v.(string)
		if !ok || text == "" {
			return nil, "the metadata " + strconv.Quote(shortened(name)) + " is not a text"
		}
		cells.Set("__metadata:"+name, text)
	}
	return cells, ""
}

// expectedCell returns the cell that is read as an assertion.
func expectedCell(a any) (string, bool) {
	o, ok := a.(*value.Object)
	if !ok {
		return "", false
	}
	cells := suite.Cells(engine.Facts().Types)
	text := value.ToString(o.At("value"))
	if o.At("value") == nil {
		text = ""
	}
	kind := o.Text("type")
	candidates := []string{kind + ": " + text, kind, text, kind + ":" + text}
	if threshold, ok := o.At("threshold").(float64); ok {
		candidates = []string{kind + "(" + value.FormatNumber(threshold) + "): " + text}
	}
	for _, cell := range candidates {
		if cell != "" && same(sorted(cells.ParseExpected(cell)), sorted(o)) {
			return cell, true
		}
	}
	return "", false
}
