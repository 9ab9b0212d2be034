package suite

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/value"
)

// csvColumn returns the column, from 1, of the cell that a pointer below a record
// leads to: the number of a cell, "vars/NAME" or "assert/N". It is 1 for the record
// as a whole, and for a cell that begins on a later line.
func csvColumn(files *Files, name, delimiter, record, pointer string) int {
	header, err := lineOf(files, name, 0)
	if err != nil {
		return 1
	}
	if delimiter == "" {
		delimiter = ","
	}
	names, _ := csvCells(header, delimiter)
	cells, starts := csvCells(record, delimiter)
	at := cellOf(pointer, names, cells)
	if at < 0 || at >= len(starts) {
		return 1
	}
	return 1 + utf8.RuneCountInString(record[:starts[at]])
}

// cellOf is the index of the cell that a pointer leads to, -1 if there is none.
func cellOf(pointer string, names, cells []string) int {
	kind, rest, _ := strings.Cut(pointer, "/")
	if n, err := strconv.Atoi(kind); err == nil {
		return n
	}
	rest, _, _ = strings.Cut(rest, "/")
	switch kind {
	case "vars":
		return slices.Index(names, strings.NewReplacer("~1", "/", "~0", "~").Replace(rest))
	case "assert":
		left, err := strconv.Atoi(rest)
		if err != nil {
			return -1
		}
		for i, name := range names {
			if !strings.HasPrefix(name, "__expected") || i >= len(cells) || value.TrimSpace(cells[i]) == "" {
				continue
			}
			if left == 0 {
				return i
			}
			left--
		}
	}
	return -1
}

// csvCells returns the cells of a line and where each begins in it, in bytes.
func csvCells(line, delimiter string) (cells []string, starts []int) {
	for at := 0; ; {
		starts = append(starts, at)
		end, quoted := at, strings.HasPrefix(line[at:], `"`)
		for i, inside := at, false; ; i++ {
			end = i
			if i >= len(line) || !inside && strings.HasPrefix(line[i:], delimiter) {
				break
			}
			if line[i] == '"' && quoted {
				inside = !inside
			}
		}
		cells = append(cells, strings.TrimSpace(strings.Trim(line[at:end], `"`)))
		if end >= len(line) {
			return cells, starts
		}
		at = end + len(delimiter)
	}
}
