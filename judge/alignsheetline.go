package judge

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
	"github.com/proviso-eval/proviso/value"
)

// Texts of a sheet are cut after this many characters; a spreadsheet cell holds at
// most 32,767.
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
	var row keptRow
	for i, l := range lines {
		if i == 0 || l.row != row.index {
			encoded, err := run.Row(l.row)
			if err == nil {
				row, err = decodeRow(l.row, encoded)
			}
			if err != nil {
				return err
			}
		}
		for _, v := range row.verdicts() {
			if v.name == l.assertion {
				record := sheetRecord(row, v, l, o)
				for i := range record {
					record[i] = guarded(record[i])
				}
				_ = out.Write(record)
			}
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return proviso.Errorf(proviso.Unavailable, "write the sheet: %w", err)
	}
	return nil
}

// sampleUnit is the precision of a weight in a sample.
const sampleUnit = 1000

// sealWeight encodes how many verdicts a line stands for. The weight would reveal the
// judge's verdict to the person who labels, so it is combined with a hash of the line.
// Two check bytes detect a line that was pieced together from others.
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

// openWeight returns the weight of a line.
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

func sheetRecord(row keptRow, v keptVerdict, l sheetLine, o SheetOptions) []string {
	output := row.output()
	id := OutputID(output)
	record := []string{row.caseID, strconv.Itoa(row.index), v.name, "", "", question(v), sheetText(input(row), maxSheetInput),
		sheetText(output, maxSheetOutput), id, sealWeight(l.weight, row.caseID, v.name, id)}
	if o.Verdicts {
		record = append(record, v.status.String(), v.judge, sheetText(v.reason(), maxSheetInput))
	}
	return record
}

// question returns what the person decides: instruction and criteria, or the value of
// the assertion.
func question(v keptVerdict) string {
	var lines []string
	if text := textAt(v.assertion, "instruction"); text != "" {
		lines = append(lines, text)
	}
	switch criteria := v.assertion.At("criteria").(type) {
	case string:
		lines = append(lines, "• "+criteria)
	case []any:
		for _, c := range criteria {
			text := value.ToString(c)
			if o, ok := c.(*value.Object); ok {
				if text = textAt(o, "text"); text == "" {
					text = value.Stringify(o)
				}
			}
			lines = append(lines, "• "+text)
		}
	}
	if check := objectAt(v.assertion, "check"); check != nil {
		lines = append(lines, "• counted: "+value.Stringify(check))
	}
	if len(lines) == 0 {
		val := v.assertion.At("value")
		if rendered, ok := objectAt(v.component, "metadata").At("renderedAssertionValue").(string); ok {
			val = rendered
		}
		if text, ok := val.(string); ok {
			lines = append(lines, text)
		} else if val != nil {
			lines = append(lines, value.Stringify(val))
		}
	}
	return sheetText(strings.Join(lines, "\n"), maxSheetInput)
}

// input returns the variables of the case, or the prompt if it has none.
func input(row keptRow) string {
	var lines []string
	vars := objectAt(row.o, "resolvedVars")
	if vars == nil {
		vars = objectAt(row.o, "vars")
	}
	for name, v := range vars.All() {
		if strings.HasPrefix(name, "_") {
			continue
		}
		text, ok := v.(string)
		if !ok {
			text = value.Stringify(v)
		}
		lines = append(lines, name+": "+text)
	}
	if len(lines) == 0 {
		return textAt(objectAt(row.o, "prompt"), "raw")
	}
	return strings.Join(lines, "\n")
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

// guarded prefixes a cell with a quote, which spreadsheets do not show, so that it is
// not read as a formula. Source: OWASP, "CSV Injection".
func guarded(s string) string {
	if r, _ := utf8.DecodeRuneInString(s); s != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", r) {
		return "'" + s
	}
	return s
}
