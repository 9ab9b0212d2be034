package runs

import (
	"fmt"

	"github.com/proviso-eval/proviso/report"
)

// DifferentSuites warns about two runs of different suites; nil if the suites are the
// same, or if one of them is unknown.
func DifferentSuites(base, head string) []string {
	if base == head || base == "" || head == "" {
		return nil
	}
	return []string{fmt.Sprintf("The runs are of different suites: %q and %q.", report.Line(base, 100), report.Line(head, 100))}
}
