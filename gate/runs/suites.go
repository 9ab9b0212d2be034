package runs

import (
	"fmt"

	"github.com/proviso-eval/proviso/report"
)

// DifferentSuites warns of two runs that are not of the same suite; nil if they are, or
// if the suite of one is not known.
func DifferentSuites(base, head string) []string {
	if base == head || base == "" || head == "" {
		return nil
	}
	return []string{fmt.Sprintf("The runs are of different suites: %q and %q.", report.Line(base, 100), report.Line(head, 100))}
}
