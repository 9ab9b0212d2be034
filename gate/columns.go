package gate

import (
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
)

// CompareColumns compares the columns of one run by "provider" or "prompt": every label
// with the reference, which is the first label if reference is "". Columns that differ in
// the other label are separate pairs of columns in each comparison. The sides are named
// by their labels.
func CompareColumns(run *Run, by, reference string, o Options) ([]*Comparison, error) {
	label := func(c Column) string { return c.Provider }
	switch by {
	case "provider":
	case "prompt":
		label = func(c Column) string { return c.Prompt }
	default:
		return nil, mistake(by, []string{"provider", "prompt"}, "columns are compared by provider or prompt, not by %q", by)
	}
	var labels []string
	for _, c := range run.Columns {
		if l := label(c); !slices.Contains(labels, l) {
			labels = append(labels, l)
		}
	}
	if len(labels) < 2 {
		return nil, proviso.Errorf(proviso.Invalid, "%w: %s has %s; two or more are needed", ErrNothing, run.Name, count(len(labels), by))
	}
	if reference == "" {
		reference = labels[0]
	}
	if !slices.Contains(labels, reference) {
		return nil, mistake(reference, labels, "%s has no %s %q", run.Name, by, reference)
	}
	base := columnsOf(run, reference, label)
	var list []*Comparison
	for _, l := range labels {
		if l == reference {
			continue
		}
		c, err := Compare(base, columnsOf(run, l, label), o)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// columnsOf returns the run reduced to the columns with a label.
func columnsOf(run *Run, want string, label func(Column) string) *Run {
	out := &Run{Name: want, Identity: run.Identity}
	number := make(map[int]int, len(run.Columns))
	for i, c := range run.Columns {
		if label(c) == want {
			number[i] = len(out.Columns)
			out.Columns = append(out.Columns, c)
		}
	}
	for _, row := range run.Rows {
		if n, ok := number[row.Column]; ok {
			row.Column = n
			out.Rows = append(out.Rows, row)
		}
	}
	return out
}

// mistake returns the error for an invalid name.
func mistake(name string, valid []string, format string, args ...any) error {
	e := proviso.Errorf(proviso.Invalid, format, args...)
	return proviso.Mistakes{{Code: e.Code, Message: e.Message, Nearest: document.Nearest(name, valid)}}
}
