package runs

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/internal/rowscan"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/value"
)

// Read reads the verdicts of a kept run. name is the run's name for messages. A row that
// proviso cannot have written is an error.
func Read(r runfile.Run, name string) (*gate.Run, error) {
	d := reader{run: &gate.Run{Name: name, Columns: columnsOf(r.Header().Meta)}, assertions: map[string]assertion{}, texts: map[string]string{}, cases: map[string]struct{}{}, titles: map[string]string{}}
	d.run.Rows = make([]gate.Row, 0, r.Len())
	for index, record := range r.Rows() {
		row, err := d.row(index, record)
		if err != nil {
			return nil, proviso.Errorf(proviso.Invalid, "%s: %w", r.Path(), err)
		}
		d.run.Rows = append(d.run.Rows, row)
	}
	if err := r.Err(); err != nil {
		return nil, proviso.Errorf(proviso.Unavailable, "%w", err)
	}
	d.identify(r.Header())
	return d.run, nil
}

// reader is the state of one pass over a run.
type reader struct {
	run        *gate.Run
	assertions map[string]assertion // by the assertion's text in a row
	texts      map[string]string    // one copy of each text that many rows share
	cases      map[string]struct{}
	judges     []string
	vars       []member          // variables of the row
	few        []member          // its first variables
	titles     map[string]string // titles of cases without an id, by the id that proviso generated

	verdictsOfRow []gate.Verdict
	block         []gate.Verdict // verdicts of many rows
}

// member is a variable: its key and value as written.
type member struct{ key, value []byte }

// maxKept bounds the number of assertions that are kept parsed.
const maxKept = 10_000

// row reads one row.
func (d *reader) row(index int, record []byte) (gate.Row, error) {
	s := rowscan.New(record)
	row := gate.Row{Index: index, Column: -1, Status: proviso.Errored, LatencyMS: math.NaN()}
	var caseID string
	given, score, unscored := false, math.NaN(), false
	var description []byte
	d.few = d.few[:0]
	s.Members(func(key []byte) {
		switch string(key) {
		case "caseId":
			caseID = s.Text()
		case "promptIdx":
			row.Column = s.Int()
		case "vars":
			row.Case.Vars = d.varsHash(&s)
		case "testCase":
			given, row.Case.Cluster, description = d.testCase(&s)
		case "response":
			d.response(&s, &row)
		case "verdict":
			row.Status = rowscan.StatusOf(s.Skip())
		case "score":
			score = s.Number()
			unscored = math.IsNaN(score)
		case "gradingResult":
			s.Members(func(key []byte) {
				if string(key) == "componentResults" {
					row.Verdicts = d.verdicts(&s)
				}
			})
		case "cost":
			row.Cost = max(0, orZero(s.Number()))
		case "repeat":
			s.Members(func(key []byte) {
				switch string(key) {
				case "index":
					row.Case.Repeat = s.Int()
				case "of":
					d.run.Identity.Repeats = max(d.run.Identity.Repeats, s.Int())
				}
			})
		}
	})
	if !s.Whole() || row.Column < 0 || row.Column > maxColumns {
		return row, fmt.Errorf("row %d is damaged", index)
	}
	for len(d.run.Columns) <= row.Column {
		d.run.Columns = append(d.run.Columns, gate.Column{Prompt: fmt.Sprintf("column %d", len(d.run.Columns)+1)})
	}
	row.Score = scoreOf(row.Status, score, unscored)
	row.Case.Name = caseID
	if given {
		row.Case.ID = caseID
	} else {
		row.Case.Title = d.title(caseID, description)
	}
	d.cases[cmp.Or(row.Case.ID, row.Case.Vars)] = struct{}{}
	return row, nil
}

// maxColumns bounds the column index in a damaged row.
const maxColumns = 100_000

// testCase returns whether the suite gives the case an id, its cluster and its
// description.
func (d *reader) testCase(s *rowscan.Scanner) (given bool, cluster string, description []byte) {
	var conversation string
	s.Members(func(key []byte) {
		switch string(key) {
		case "id":
			given = s.Text() != ""
		case "description":
			description = s.Skip()
		case "metadata":
			s.Members(func(key []byte) {
				switch string(key) {
				case "cluster":
					cluster = d.shared(s.Skip())
				case "conversationId":
					conversation = d.shared(s.Skip())
				}
			})
		}
	})
	return given, cmp.Or(cluster, conversation), description
}

// response reads tokens and latency.
func (d *reader) response(s *rowscan.Scanner, row *gate.Row) {
	s.Members(func(key []byte) {
		switch string(key) {
		case "latencyMs":
			if row.LatencyMS = s.Number(); row.LatencyMS < 0 {
				row.LatencyMS = math.NaN()
			}
		case "tokenUsage":
			s.Members(func(key []byte) {
				if string(key) == "total" {
					row.Tokens = s.Int()
				}
			})
		}
	})
}

// varsHash hashes the variables of a case, regardless of their order. Variables that
// begin with _ are proviso's own, such as _conversation, which holds earlier outputs.
func (d *reader) varsHash(s *rowscan.Scanner) string {
	d.vars = d.vars[:0]
	s.Members(func(key []byte) {
		if bytes.HasPrefix(key, []byte("_")) {
			return
		}
		d.vars = append(d.vars, member{key, s.Skip()})
	})
	d.few = append(d.few, d.vars[:min(len(d.vars), titleVars)]...)
	slices.SortFunc(d.vars, func(a, b member) int { return bytes.Compare(a.key, b.key) })
	h := sha256.New()
	for _, m := range d.vars {
		fmt.Fprintf(h, "%d %d ", len(m.key), len(m.value))
		h.Write(m.key)
		h.Write(m.value)
	}
	var sum [sha256.Size]byte
	return hex.EncodeToString(h.Sum(sum[:0])[:16])
}

// shared returns a JSON value as text, "" for null; equal texts share memory.
func (d *reader) shared(raw []byte) string {
	if text, ok := d.texts[string(raw)]; ok {
		return text
	}
	v, err := value.ParseJSON(string(raw))
	if err != nil || v == nil {
		return ""
	}
	text, ok := v.(string)
	if !ok {
		text = value.Stringify(v)
	}
	d.texts[string(raw)] = text
	return text
}

// identify sets the identity of the run.
func (d *reader) identify(h runfile.Header) {
	i := &d.run.Identity
	i.Suite, i.Repeats = h.Suite, max(1, i.Repeats)
	slices.Sort(d.judges)
	i.Judge = strings.Join(d.judges, ", ")
	var prompts []string
	for _, c := range headerColumns(h.Meta) {
		prompts = append(prompts, c.Text("promptRaw"))
	}
	i.Prompts = hashOf(prompts)
	cases := make([]string, 0, len(d.cases))
	for key := range d.cases {
		cases = append(cases, key)
	}
	i.Cases = hashOf(cases)
}

// hashOf hashes a set of texts; it returns "" for an empty set.
func hashOf(list []string) string {
	slices.Sort(list)
	list = slices.Compact(list)
	if len(list) == 0 {
		return ""
	}
	h := sha256.New()
	for _, text := range list {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)[:16])
}

// scoreOf returns a score from 0 to 1. Scores outside of this range, which a script may
// return, are clamped. An unknown score is 1 for pass and 0 otherwise.
func scoreOf(status proviso.Status, score float64, unknown bool) float64 {
	switch {
	case !unknown && !math.IsNaN(score):
		return min(max(score, 0), 1)
	case status == proviso.Pass:
		return 1
	}
	return 0
}

func orZero(f float64) float64 {
	if math.IsNaN(f) {
		return 0
	}
	return f
}
