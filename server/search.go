package server

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/rowscan"
)

// Found is the rows whose texts contain the search text.
type Found struct {
	Rows     []byte `json:"rows" doc:"Their indices, as little-endian uint32"`
	Searched int    `json:"searched" doc:"How many rows were looked at"`
	More     bool   `json:"more" doc:"Whether there are rows that were not looked at"`
}

// Limits of a search.
const (
	maxSearch  = 200 // characters
	searchTime = 5 * time.Second
)

// searchRun finds the rows whose texts contain a text, ignoring case. It stops after half of
// the CPU budget or after searchTime, and reports how many rows it searched.
func (s *Server) searchRun(c *call) error {
	r, err := s.seenRun(c)
	if err != nil {
		return err
	}
	text := c.q.Get("q")
	if n := utf8.RuneCountInString(text); n == 0 || n > maxSearch {
		return proviso.Errorf(proviso.Invalid, "q has %d characters: it has to have 1 to %d", n, maxSearch)
	}
	ctx, task := s.withTurns(c.r.Context(), c.key.ID)
	defer task.End()
	run := &storedRun{ctx: ctx, kept: c.kept, run: r}
	out := Found{Rows: []byte{}}
	f := newFinder(text)
	end := time.Now().Add(searchTime)
	for index, record := range run.Rows() {
		if out.Searched%256 == 255 && (task.Used() > s.o.CPUBudget/2 || time.Now().After(end)) {
			out.More = true
			break
		}
		out.Searched++
		if f.in(record) {
			out.Rows = binary.LittleEndian.AppendUint32(out.Rows, uint32(index))
		}
	}
	if err := run.Err(); err != nil {
		return err
	}
	return c.json(http.StatusOK, out)
}

// finder finds a text in the texts of rows.
type finder struct {
	text  []byte // in lower case
	lower []byte // buffer for the searched text
}

func newFinder(text string) *finder { return &finder{text: []byte(strings.ToLower(text))} }

// in reports whether the texts of a row contain the search text.
func (f *finder) in(record []byte) (found bool) {
	s := rowscan.New(record)
	look := func() { found = found || f.within(s.Skip()) }
	s.Members(func(key []byte) {
		if found {
			return
		}
		switch string(key) {
		case "caseId", "vars", "error":
			look()
		case "testCase":
			s.Members(func(key []byte) {
				if string(key) == "description" {
					look()
				}
			})
		case "response":
			s.Members(func(key []byte) {
				if string(key) == "output" || string(key) == "error" {
					look()
				}
			})
		case "gradingResult":
			s.Members(func(key []byte) {
				if string(key) != "componentResults" {
					return
				}
				s.Elements(func() {
					s.Members(func(key []byte) {
						if string(key) == "reason" {
							look()
						}
					})
				})
			})
		}
	})
	return found
}

// within searches a value and the values in it, but no keys.
func (f *finder) within(raw []byte) bool {
	for len(raw) > 0 {
		quote := bytes.IndexByte(raw, '"')
		if quote < 0 {
			return f.numbers(raw)
		}
		if f.numbers(raw[:quote]) {
			return true
		}
		s := rowscan.New(raw[quote:])
		text := s.Skip()
		if len(text) < 2 {
			return false
		}
		raw = raw[quote+len(text):]
		if rest := bytes.TrimLeft(raw, " \t\r\n"); len(rest) > 0 && rest[0] == ':' {
			continue // a key
		}
		if bytes.IndexByte(text, '\\') >= 0 {
			s := rowscan.New(text)
			if f.contains([]byte(s.Text())) {
				return true
			}
		} else if f.contains(text[1 : len(text)-1]) {
			return true
		}
	}
	return false
}

// numbers searches the JSON between strings.
func (f *finder) numbers(raw []byte) bool {
	for word := range bytes.FieldsFuncSeq(raw, func(c rune) bool { return strings.ContainsRune(`,:[]{}`, c) }) {
		if f.contains(bytes.TrimSpace(word)) {
			return true
		}
	}
	return false
}

// contains reports whether text contains the search text, ignoring case.
func (f *finder) contains(text []byte) bool {
	if len(text) < len(f.text) && utf8.RuneCount(text) < utf8.RuneCount(f.text) {
		return false
	}
	f.lower = append(f.lower[:0], text...)
	for i, c := range f.lower {
		if c >= utf8.RuneSelf {
			return bytes.Contains(bytes.ToLower(text), f.text)
		}
		if c >= 'A' && c <= 'Z' {
			f.lower[i] = c + 'a' - 'A'
		}
	}
	return bytes.Contains(f.lower, f.text)
}
