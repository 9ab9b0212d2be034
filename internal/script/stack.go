package script

import (
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
)

// Names that QuickJS gives to source: text for the Function constructor, and
// scripts that this package evaluates itself.
const (
	inputFile = "<input>"
	ownFile   = "<eval>"
)

// locate rewrites the stack of an exception in terms of the user's text, drops the
// frames below that text, and takes line and column from the first frame.
func locate(e *proviso.ScriptError, p program, name string) {
	file, lines := inputFile, bodyLine
	if p.form == moduleForm {
		file, lines = "module-", 0
	}
	var stack strings.Builder
	for frame := range strings.Lines(e.Stack) {
		at := strings.LastIndexByte(frame, '(')
		if at < 0 || strings.HasPrefix(frame[at+1:], ownFile) {
			break
		}
		head, place := frame[:at+1], strings.TrimSuffix(strings.TrimSpace(frame[at+1:]), ")")
		if head == "    at apply (" {
			break
		}
		if line, column, ok := position(place, file); ok {
			line -= lines
			if p.form == expressionForm && line == 1 {
				column -= expressionColumn
			}
			if e.Line == 0 {
				e.Line, e.Column = line, column
			}
			place = name + ":" + strconv.Itoa(line) + ":" + strconv.Itoa(column)
		}
		stack.WriteString(head + place + ")\n")
	}
	e.Stack = stack.String()
}

// position reads file:line:column.
func position(place, file string) (line, column int, ok bool) {
	if !strings.HasPrefix(place, file) {
		return 0, 0, false
	}
	parts := strings.Split(place, ":")
	if len(parts) != 3 {
		return 0, 0, false
	}
	line, lineErr := strconv.Atoi(parts[1])
	column, columnErr := strconv.Atoi(parts[2])
	return line, column, lineErr == nil && columnErr == nil
}
