package matrix

import (
	"bytes"
	"errors"
	"math"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/rowscan"
)

// row is what the matrix needs from a record. Its texts are slices of the record, still
// encoded.
type row struct {
	index, test uint32
	column      int
	status      byte
	caseID      []byte
	title       []byte // nil if there is none
	prompt      []byte // label of the prompt
	provider    []byte // label or id of the provider
	repeat, of  int
	parts       []part
}

// part is one component of a row's verdict.
type part struct {
	assertion []byte // nil if it has none
	status    byte
	members   int // number of following parts that belong to it
}

// Limits of the numbers in a row.
const (
	maxColumns = 10_000
	maxRepeats = 10_000
)

var errDamaged = errors.New("the row is damaged")

// read reads a record into r, whose memory it reuses.
func (r *row) read(record []byte) error {
	*r = row{column: -1, status: Error, parts: r.parts[:0], of: 1}
	s := rowscan.New(record)
	index, tested := -1.0, false
	s.Members(func(key []byte) {
		switch string(key) {
		case "index":
			index = s.Number()
		case "testIdx":
			r.test, tested = uint32(s.Int()), true
		case "caseId":
			r.caseID = s.Skip()
		case "promptIdx":
			r.column = s.Int()
		case "prompt":
			r.prompt = member(&s, "label")
		case "provider":
			r.readProvider(&s)
		case "testCase":
			r.title = member(&s, "description")
		case "verdict":
			r.status = codeOf(rowscan.StatusOf(s.Skip()))
		case "gradingResult":
			s.Members(func(key []byte) {
				if string(key) == "componentResults" {
					r.readParts(&s)
				}
			})
		case "repeat":
			s.Members(func(key []byte) {
				switch string(key) {
				case "index":
					r.repeat = s.Int()
				case "of":
					r.of = s.Int()
				}
			})
		}
	})
	ok := index >= 0 && index < noRow && index == math.Trunc(index)
	if !s.Whole() || !ok || r.column < 0 || r.column >= maxColumns || r.of > maxRepeats || r.of > 1 && r.repeat >= r.of {
		return errDamaged
	}
	if r.index = uint32(index); !tested {
		r.test = r.index
	}
	if r.of <= 1 {
		r.of, r.repeat = 1, 0
	}
	return nil
}

// member reads one member of the next object.
func member(s *rowscan.Scanner, name string) (raw []byte) {
	s.Members(func(key []byte) {
		if string(key) == name {
			raw = s.Skip()
		}
	})
	return raw
}

func (r *row) readProvider(s *rowscan.Scanner) {
	var id []byte
	s.Members(func(key []byte) {
		switch string(key) {
		case "label":
			r.provider = s.Skip()
		case "id":
			id = s.Skip()
		}
	})
	if len(r.provider) <= len(`""`) {
		r.provider = id
	}
}

func (r *row) readParts(s *rowscan.Scanner) {
	r.parts = r.parts[:0] // a second list replaces the first
	s.Elements(func() {
		p := part{status: Error}
		s.Members(func(key []byte) {
			switch string(key) {
			case "status":
				p.status = codeOf(rowscan.StatusOf(s.Skip()))
			case "assertion":
				if raw := s.Skip(); len(raw) > 0 && raw[0] == '{' {
					p.assertion = raw
				}
			case "members":
				p.members = s.Int()
			}
		})
		r.parts = append(r.parts, p)
	})
}

func codeOf(s proviso.Status) byte {
	switch s {
	case proviso.Pass:
		return Pass
	case proviso.Fail:
		return Fail
	case proviso.Skip:
		return Skip
	}
	return Error
}

// worse returns the status that needs more attention: fail, error, pass, skip.
func worse(a, b byte) byte {
	if bytes.IndexByte(urgency, a) < bytes.IndexByte(urgency, b) {
		return a
	}
	return b
}

var urgency = []byte{Fail, Error, Pass, Skip, Running}
