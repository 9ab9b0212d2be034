package judge

import "fmt"

// MinLabels is the number of labels of good outputs, and of bad outputs, that a judge
// needs to count as measured. With fewer, the interval of a rate is too wide to be
// useful: even 10 of 10 is compatible with a true rate of 72 %.
const MinLabels = 10

// Missing returns how many more labels of good and of bad outputs the judge needs to
// count as measured on the assertion.
func (a *Agreement) Missing() (good, bad int) {
	return max(0, MinLabels-(a.TP+a.FN)), max(0, MinLabels-(a.TN+a.FP))
}

// Measured reports whether there are enough labels of both kinds.
func (a *Agreement) Measured() bool {
	good, bad := a.Missing()
	return good+bad == 0
}

// NotMeasured returns a text with the number of labels that are missing, such as "40
// labels, 2 of bad outputs: not measured yet, it takes 8 more of bad outputs". It
// returns "" if the judge is measured.
func (a *Agreement) NotMeasured() string {
	good, bad := a.Missing()
	switch {
	case good+bad == 0:
		return ""
	case good == 0:
		return fmt.Sprintf("%s, %d of bad outputs: not measured yet, it takes %d more of bad outputs", labels(a.N), a.TN+a.FP, bad)
	case bad == 0:
		return fmt.Sprintf("%s, %d of good outputs: not measured yet, it takes %d more of good outputs", labels(a.N), a.TP+a.FN, good)
	}
	return fmt.Sprintf("%s, %d of bad outputs: not measured yet, it takes %d more of bad and %d more of good outputs", labels(a.N), a.TN+a.FP, bad, good)
}
