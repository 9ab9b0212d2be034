package align

import (
	"encoding/json"

	"github.com/proviso-eval/proviso/stats"
)

// agreementJSON is an [Agreement] as proviso align --format json prints it.
// Undefined values are null.
type agreementJSON struct {
	Assertion     string       `json:"assertion"`
	Judge         string       `json:"judge"`
	N             int          `json:"n"`
	Errors        int          `json:"errors"`
	TP            int          `json:"tp"`
	FP            int          `json:"fp"`
	TN            int          `json:"tn"`
	FN            int          `json:"fn"`
	Agreement     *float64     `json:"agreement"`
	Kappa         estimateJSON `json:"kappa"`
	TPR           estimateJSON `json:"tpr"`
	TNR           estimateJSON `json:"tnr"`
	BaseRate      *float64     `json:"base_rate"`
	JudgePassRate *float64     `json:"judge_pass_rate"`
	Corrected     estimateJSON `json:"corrected"`
}

// measuredJSON adds whether there are enough labels, and how many are missing.
type measuredJSON struct {
	agreementJSON
	Measured bool `json:"measured"`
	Missing  struct {
		Good int `json:"good"`
		Bad  int `json:"bad"`
	} `json:"missing"`
}

type estimateJSON struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

func estimateOf(e *stats.Estimate) estimateJSON {
	if e == nil {
		return estimateJSON{}
	}
	return estimateJSON{&e.Value, &e.Low, &e.High}
}

func (e estimateJSON) estimate() *stats.Estimate {
	if e.Value == nil || e.Low == nil || e.High == nil {
		return nil
	}
	return &stats.Estimate{Value: *e.Value, Interval: stats.Interval{Low: *e.Low, High: *e.High}}
}

func (a *Agreement) encoded() agreementJSON {
	return agreementJSON{Assertion: a.Assertion, Judge: a.Judge, N: a.N, Errors: a.Errors,
		TP: a.TP, FP: a.FP, TN: a.TN, FN: a.FN, Agreement: a.Agreement, Kappa: estimateOf(a.Kappa),
		TPR: estimateOf(a.TPR), TNR: estimateOf(a.TNR), BaseRate: a.BaseRate,
		JudgePassRate: a.JudgePassRate, Corrected: estimateOf(a.Corrected)}
}

// JSON returns the agreements as one indented document: {"assertions": [...]}.
// Undefined numbers are null.
func (a *Agreements) JSON() ([]byte, error) {
	document := struct {
		Assertions []measuredJSON `json:"assertions"`
	}{Assertions: []measuredJSON{}}
	for i := range a.Assertions {
		x := &a.Assertions[i]
		one := measuredJSON{agreementJSON: x.encoded(), Measured: x.measured()}
		one.Missing.Good, one.Missing.Bad = x.missing()
		document.Assertions = append(document.Assertions, one)
	}
	data, err := json.MarshalIndent(document, "", "  ")
	return append(data, '\n'), err
}
