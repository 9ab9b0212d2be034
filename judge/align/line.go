package align

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge/record"
)

// Texts in a sheet are cut after this many characters; a spreadsheet cell holds at most
// 32,767.
const (
	maxSheetInput  = 4_000
	maxSheetOutput = 16_000
)

// writeLines writes the sheet in the order of lines.
func writeLines(w io.Writer, run SheetRun, lines []sheetLine, o SheetOptions) error {
	out := csv.NewWriter(w)
	header := []string{"case", "row", "assertion", "human", "note", "question", "input", "output", "output_id", "sample"}
	if o.Verdicts {
		header = append(header, "judge", "judge_id", "reason")
	}
	_ = out.Write(header) // out.Error returns any error
	var row record.Row
	for i, l := range lines {
		if i == 0 || l.row != row.Index {
			encoded, err := run.Row(l.row)
			if err == nil {
				row, err = record.Decode(l.row, encoded)
			}
			if err != nil {
				return err
			}
		}
		for _, v := range row.Verdicts() {
			if v.Name == l.assertion {
				cells := sheetCells(row, v, l, o)
				for i := range cells {
					cells[i] = guarded(cells[i])
				}
				_ = out.Write(cells)
			}
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return proviso.Errorf(proviso.Unavailable, "write the sheet: %w", err)
	}
	return nil
}

// sampleUnit is the precision of a weight: units per output.
const sampleUnit = 1000

// sealWeight encodes the number of verdicts that a line represents. In plain form, the
// weight would reveal the judge's verdict to the person who labels, so it is combined
// with a hash of the line. Two check bytes detect a line that was pieced together from
// others.
func sealWeight(weight float64, caseID, assertion, outputID string) string {
	if weight == 0 {
		return ""
	}
	sum := sealHash(caseID, assertion, outputID)
	var text [6]byte
	binary.BigEndian.PutUint32(text[:], uint32(min(math.MaxUint32, math.Round(weight*sampleUnit)))^binary.BigEndian.Uint32(sum[:]))
	copy(text[4:], sum[4:])
	return "s-" + hex.EncodeToString(text[:])
}

// openWeight decodes the weight of a line.
func openWeight(text, caseID, assertion, outputID string) (float64, bool) {
	sum := sealHash(caseID, assertion, outputID)
	data, err := hex.DecodeString(strings.TrimPrefix(text, "s-"))
	if err != nil || len(data) != 6 || data[4] != sum[4] || data[5] != sum[5] {
		return 0, false
	}
	weight := float64(binary.BigEndian.Uint32(data)^binary.BigEndian.Uint32(sum[:])) / sampleUnit
	return weight, weight > 0
}

func sealHash(parts ...string) []byte {
	sum := sha256.Sum256([]byte("sample\n" + strings.Join(parts, "\n")))
	return sum[:6]
}

func sheetCells(row record.Row, v record.Verdict, l sheetLine, o SheetOptions) []string {
	output := row.Output()
	id := record.OutputID(output)
	cells := []string{row.Case, strconv.Itoa(row.Index), v.Name, "", "", sheetText(v.Question(), maxSheetInput), sheetText(row.Input(), maxSheetInput),
		sheetText(output, maxSheetOutput), id, sealWeight(l.weight, row.Case, v.Name, id)}
	if o.Verdicts {
		cells = append(cells, v.Status.String(), v.Judge, sheetText(v.Reason(), maxSheetInput))
	}
	return cells
}

// sheetText shortens a text, with a note, and replaces characters that a cell cannot
// hold.
func sheetText(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\uFFFD"))
	n := utf8.RuneCountInString(s)
	if n <= most {
		return s
	}
	return fmt.Sprintf("%s… (%d characters more)", string([]rune(s)[:most]), n-most)
}

// guarded prefixes a cell with a quote, which spreadsheets do not show, so that they do
// not evaluate the cell as a formula. Source: OWASP, "CSV Injection".
func guarded(s string) string {
	if r, _ := utf8.DecodeRuneInString(s); s != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", r) {
		return "'" + s
	}
	return s
}
