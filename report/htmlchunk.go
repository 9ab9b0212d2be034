package report

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/proviso-eval/proviso/value"
)

// packedRow is a [Detail] with its fields in an order that compresses better: first those
// that differ between rows, then those that the rows of a case share. The first line of a
// chunk lists the verdicts that several of its rows share; Assertions is then the position
// in that list.
type packedRow struct {
	Index        int             `json:"index"`
	Column       int             `json:"column"`
	Repeat       int             `json:"repeat"`
	Output       *string         `json:"output,omitempty"`
	LatencyMS    float64         `json:"latency_ms,omitempty"`
	Cost         float64         `json:"cost,omitempty"`
	IncurredCost *float64        `json:"incurred_cost,omitempty"`
	Tokens       int             `json:"tokens,omitempty"`
	Assertions   json.RawMessage `json:"assertions"`
	Cut          []string        `json:"cut,omitempty"`
	Score        string          `json:"score"`
	Status       string          `json:"status"`
	Why          string          `json:"why,omitempty"`
	Forgiven     bool            `json:"forgiven,omitempty"`
	Cached       bool            `json:"cached,omitempty"`
	Spans        []DetailSpan    `json:"spans,omitempty"`
	Case         string          `json:"case"`
	Title        string          `json:"title"`
	Vars         [][2]string     `json:"vars"`
	Prompt       string          `json:"prompt"`
}

// chunk packs the first rows of a list, one per line, and returns their number.
func (p *packer) chunk(list []mark, limit int) (text string, n int, err error) {
	var rows []packedRow
	uses, size := map[string]int{}, 0
	for _, m := range list[:min(len(list), chunkRows)] {
		record, err := p.in.Rows.Row(m.index)
		if err != nil {
			return "", 0, err
		}
		d, err := NewDetail(p.in.Meta, record, limit)
		if err != nil {
			return "", 0, err
		}
		verdicts, err := json.Marshal(d.Assertions)
		if err != nil {
			return "", 0, err
		}
		uses[string(verdicts)]++
		rows = append(rows, packedRow{Index: m.index, Column: d.Column, Repeat: d.Repeat, Output: d.Output, LatencyMS: d.LatencyMS, Cost: d.Cost, IncurredCost: d.IncurredCost, Tokens: d.Tokens,
			Assertions: verdicts, Cut: d.Cut, Score: d.Score, Status: d.Status, Why: d.Why, Forgiven: m.forgiven, Cached: d.Cached, Spans: d.Spans, Case: d.Case, Title: d.Title, Vars: d.Vars, Prompt: d.Prompt})
		if size += len(d.Prompt) + len(verdicts) + d.size(); size > chunkBytes {
			break
		}
	}
	lines, err := share(rows, uses)
	return packed(lines), len(rows), err
}

// size estimates the bytes of the output and the variables.
func (d *Detail) size() int {
	n := 0
	if d.Output != nil {
		n = len(*d.Output)
	}
	for _, v := range d.Vars {
		n += len(v[1])
	}
	return n
}

// share returns the lines of a chunk: first the verdicts that several rows share, then the
// rows.
func share(rows []packedRow, uses map[string]int) ([]byte, error) {
	shared, place := []json.RawMessage{}, map[string]int{}
	for i := range rows {
		key := string(rows[i].Assertions)
		if uses[key] < 2 {
			continue
		}
		at, known := place[key]
		if !known {
			at = len(shared)
			place[key] = at
			shared = append(shared, rows[i].Assertions)
		}
		rows[i].Assertions = strconv.AppendInt(nil, int64(at), 10)
	}
	var raw bytes.Buffer
	if err := value.WriteJSON(&raw, shared, ""); err != nil {
		return nil, err
	}
	for i := range rows {
		if err := value.WriteJSON(&raw, &rows[i], ""); err != nil {
			return nil, err
		}
	}
	return raw.Bytes(), nil
}
