package trial

import (
	"errors"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/judge/align"
	"github.com/proviso-eval/proviso/value"
)

// Labels counts labels.
type Labels struct{ Good, Bad, Left int }

// CountLabels counts the labels of entries, and the entries without a label.
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

// OneSided describes what [selection.Select] cannot measure with these labels, and which
// method remains; "" if nothing is missing.
func (n Labels) OneSided() string {
	switch {
	case n.Good+n.Bad == 0:
		return "no output is labelled, so it cannot be seen what a candidate catches or fails wrongly; --method none remains: one candidate of each group that no other implies"
	case n.Bad == 0:
		return "no bad output is labelled, so it cannot be seen what a candidate catches; --method base remains: every candidate within tau, with the interval of its false failures"
	case n.Good == 0:
		return "no good output is labelled, so it cannot be seen what a candidate fails wrongly, and one that fails everything would look best; --method none remains"
	}
	return ""
}

// labelWords are label words, for suggestions.
var labelWords = []string{"good", "bad", "pass", "fail", "true", "false", "yes", "no"}

// NearestLabel returns the label word that is nearest to an invalid one; "" if none is near.
func NearestLabel(text string) string {
	return document.Nearest(strings.TrimSpace(text), labelWords)
}

// ParseLabel converts a label to 1 or 0.
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

// thumbWords are words for a thumb, in addition to the label words.
var thumbWords = []string{"up", "down"}

// parseThumb converts a user's thumb to a label.
func parseThumb(text string) (string, error) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "up", "👍":
		return "1", nil
	case "down", "-1", "👎":
		return "0", nil
	}
	label, err := ParseLabel(text)
	if err != nil {
		return "", errors.New("the thumb is " + value.Stringify(text) + "; up or down is expected")
	}
	return label, nil
}

// Contradiction is an output for one input that is labelled good under some ids and bad under
// others.
type Contradiction struct{ Good, Bad []string }

// Contradictions finds the outputs that are labelled both good and bad, in the order of the
// entries.
func Contradictions(entries []Entry) []Contradiction {
	type same struct{ output, input string }
	at := map[same]int{}
	var list []Contradiction
	for _, e := range entries {
		if e.Label == "" || e.OutputID == "" {
			continue
		}
		key := same{e.OutputID, e.InputID}
		i, ok := at[key]
		if !ok {
			i = len(list)
			at[key], list = i, append(list, Contradiction{})
		}
		if e.Label == "1" {
			list[i].Good = append(list[i].Good, e.ID)
		} else {
			list[i].Bad = append(list[i].Bad, e.ID)
		}
	}
	return slices.DeleteFunc(list, func(c Contradiction) bool { return len(c.Good) == 0 || len(c.Bad) == 0 })
}
