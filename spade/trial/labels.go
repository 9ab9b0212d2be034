package trial

import (
	"errors"

	"github.com/proviso-eval/proviso/judge/align"
	"github.com/proviso-eval/proviso/value"
)

// Labels holds counts of labels.
type Labels struct{ Good, Bad, Left int }

// CountLabels counts the labels of entries, and the entries without one.
func CountLabels(entries []Entry) Labels {
	var n Labels
	for _, e := range entries {
		switch e.Label {
		case "1":
			n.Good++
		case "0":
			n.Bad++
		default:
			n.Left++
		}
	}
	return n
}

// OneSided describes what [selection.Select] cannot measure with these labels; "" if nothing is
// missing.
func (n Labels) OneSided() string {
	rest := "; `spade select` refuses such a matrix, except with --method all or none"
	switch {
	case n.Good+n.Bad == 0:
		return "no output is labelled, so it cannot be seen what a candidate catches or fails wrongly" + rest
	case n.Bad == 0:
		return "no bad output is labelled, so it cannot be seen what a candidate catches" + rest
	case n.Good == 0:
		return "no good output is labelled, so it cannot be seen what a candidate fails wrongly" + rest
	}
	return ""
}

// ParseLabel turns a label into 1 or 0.
func ParseLabel(text string) (string, error) {
	good, ok := align.ParseVerdict(text)
	switch {
	case !ok:
		return "", errors.New("the label is " + value.Stringify(text) + "; 1 or good, 0 or bad is expected")
	case good:
		return "1", nil
	}
	return "0", nil
}
