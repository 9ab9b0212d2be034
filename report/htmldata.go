package report

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"html/template"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/matrix"
)

// Limits of the data in a page, so that the page opens quickly and is small enough to send.
const (
	pageBytes   = 8_800_000 // all data, as stored in the page
	matrixBytes = 4_000_000 // the matrix
	pageText    = 16 << 10  // an output, a prompt or a variable
	chunkRows   = 256
	chunkBytes  = 1 << 20 // before compression
)

// pageTexts are the limits for texts of rows, in bytes, tried in turn until all rows fit.
var pageTexts = [...]int{pageText, 4 << 10, 1 << 10, 500, 250, 120, 60, 30}

// pageHead describes the data blocks of a page. The rows are in two groups, those that did
// not pass and the others, each in index order.
type pageHead struct {
	Run   pageRun  `json:"run"`
	Rows  int      `json:"rows"`           // rows of the run
	Held  int      `json:"held"`           // rows in the page
	First [2][]int `json:"first"`          // index of the first row of each chunk
	Show  string   `json:"show,omitempty"` // command that shows the run
}

// pageRun is the run in the server's form.
type pageRun struct {
	ID       string       `json:"id"`
	Suite    string       `json:"suite"`
	Version  string       `json:"version"`
	Status   string       `json:"status"`
	Started  string       `json:"started_at,omitempty"`
	Progress pageProgress `json:"progress"`
	Revision Revision     `json:"revision"`
	*Batch
}

type pageProgress struct {
	Rows     int `json:"rows"`
	Finished int `json:"finished"`
	Passed   int `json:"passed"`
	Failed   int `json:"failed"`
	Errors   int `json:"errors"`
	Skipped  int `json:"skipped"`
}

// pageData is the compressed data of a page.
type pageData struct {
	head, Matrix string
	chunks       []string
	size         int // size of matrix and chunks
	Held, Total  int // numbers of rows
	limit        int // smallest limit of texts, in bytes
}

// packRun packs the rows of a run into the data of a page. It keeps them compressed, so its
// memory is bounded by the limits of a page.
func packRun(ctx context.Context, in *Input, marks []mark) (*pageData, error) {
	d := &pageData{Total: len(marks), limit: pageText}
	head := pageHead{Rows: len(marks), Run: runOf(in, len(marks))}
	if in.Meta.RunFile != "" {
		head.Show = "proviso show " + in.Meta.RunID
	}
	var err error
	if d.Matrix, err = packMatrix(in, head.Run.Status, len(marks)); err != nil {
		return nil, err
	}
	d.size = len(d.Matrix)
	if d.Matrix != "" {
		p := packer{in: in, data: d}
		if err := p.rows(ctx, marks, &head); err != nil {
			return nil, err
		}
	}
	head.Held = d.Held
	text, err := json.Marshal(head)
	d.head = packed(text)
	return d, err
}

// packMatrix returns the verdicts of all rows; "" if a page cannot hold them.
func packMatrix(in *Input, status string, rows int) (string, error) {
	var columns []matrix.Column
	names := in.Meta.promptNames(pagePrompt)
	for i := range in.Meta.Columns {
		columns = append(columns, matrix.Column{Prompt: names[i], Provider: in.Meta.Columns[i].provider()})
	}
	b := matrix.NewBuilder(columns)
	if err := b.AddAll(in.Rows.Rows()); err != nil {
		return "", err
	}
	if err := in.Rows.Err(); err != nil {
		return "", err
	}
	m, err := b.Matrix()
	if err != nil {
		return "", nil // more cells than a page can show
	}
	m.Rows, m.Status = max(rows, in.Meta.Planned), status
	var text bytes.Buffer
	to := base64.NewEncoder(base64.StdEncoding, &text)
	z := gzip.NewWriter(to)
	if err := m.WriteJSON(z); err != nil {
		return "", err
	}
	_, _ = z.Close(), to.Close() // writes to memory cannot fail
	if text.Len() > matrixBytes {
		return "", nil
	}
	return text.String(), nil
}

func runOf(in *Input, rows int) pageRun {
	m, t := in.Meta, in.Summary.Totals()
	r := pageRun{ID: m.RunID, Suite: m.Suite, Version: m.Version, Status: "done", Revision: m.Revision, Batch: NewBatch(m, in.Summary),
		Progress: pageProgress{Rows: max(rows, m.Planned), Finished: rows, Passed: t.Passed, Failed: t.Failed, Errors: t.Errors, Skipped: t.Skipped}}
	if m.Planned > rows {
		r.Status = "cancelled"
	}
	if !m.Started.IsZero() {
		r.Started = m.Started.UTC().Format("2006-01-02T15:04:05Z")
	}
	return r
}

// packer packs rows into chunks.
type packer struct {
	in   *Input
	data *pageData
}

// rows packs the rows that did not pass, then the others. It shortens texts rather than
// leave out rows, and shortens the texts of passing rows first.
func (p *packer) rows(ctx context.Context, marks []mark, head *pageHead) error {
	var groups [2][]mark
	for _, m := range marks {
		g := 1
		if m.status == proviso.Fail || m.status == proviso.Errored {
			g = 0
		}
		groups[g] = append(groups[g], m)
	}
	head.First = [2][]int{{}, {}}
	levels, sizes, err := p.levels(groups)
	if err != nil {
		return err
	}
	for g, list := range groups {
		for len(list) > 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			for levels[g] < len(pageTexts)-1 && p.data.size+int(sizes[g][levels[g]]*float64(len(list))) > pageBytes {
				levels[g]++
			}
			limit := pageTexts[levels[g]]
			chunk, n, err := p.chunk(list, limit)
			if err != nil {
				return err
			}
			if p.data.size+len(chunk) > pageBytes {
				return nil
			}
			head.First[g] = append(head.First[g], list[0].index)
			p.data.chunks = append(p.data.chunks, chunk)
			p.data.size += len(chunk)
			p.data.Held += n
			p.data.limit = min(p.data.limit, limit)
			list = list[n:]
		}
	}
	return nil
}

// levels returns how much the texts of each group must be shortened for all rows to fit,
// and the estimated bytes of a row at each level, from a sample.
func (p *packer) levels(groups [2][]mark) (levels [2]int, sizes [2][len(pageTexts)]float64, err error) {
	for g, list := range groups {
		var sample []mark
		for i := 0; i < len(list); i += 1 + len(list)/(chunkRows/2) {
			sample = append(sample, list[i])
		}
		for level, limit := range pageTexts {
			if len(sample) == 0 {
				break
			}
			chunk, n, err := p.chunk(sample, limit)
			if err != nil {
				return levels, sizes, err
			}
			sizes[g][level] = float64(len(chunk)) / float64(n)
		}
	}
	room := float64(pageBytes - p.data.size)
	last := len(pageTexts) - 1
	need := func() float64 {
		return sizes[0][levels[0]]*float64(len(groups[0])) + sizes[1][levels[1]]*float64(len(groups[1]))
	}
	for levels[1] < last && need() > room {
		levels[1]++
	}
	for levels[0] < last && need() > room {
		levels[0]++
	}
	return levels, sizes, nil
}

// packed compresses data and encodes it in characters that cannot end a script element.
func packed(text []byte) string {
	var b bytes.Buffer
	to := base64.NewEncoder(base64.StdEncoding, &b)
	z, _ := gzip.NewWriterLevel(to, gzip.BestCompression) // the level is valid
	_, _ = z.Write(text)                                  // writes to memory cannot fail
	_, _ = z.Close(), to.Close()
	return b.String()
}

// Shortened reports whether texts were shortened below the usual limit.
func (d *pageData) Shortened() bool { return d.limit < pageText }

// Blocks yields the elements that contain the data.
func (d *pageData) Blocks(yield func(template.HTML) bool) {
	block := func(id, text string) bool {
		return yield(template.HTML(`<script type="application/json" ` + id + `>"` + text + "\"</script>\n"))
	}
	if !block(`id="head"`, d.head) || !block(`id="matrix"`, d.Matrix) {
		return
	}
	for _, chunk := range d.chunks {
		if !block(`class="rows"`, chunk) {
			return
		}
	}
}
