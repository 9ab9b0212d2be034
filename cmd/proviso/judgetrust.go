package main

import (
	"os"
	"path/filepath"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge/align"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/stats"
	"github.com/proviso-eval/proviso/value"
)

// alignmentFolder returns the folder with the alignment of a run's suite: the folder
// of the suite if the run records it and it exists, else the working folder.
func alignmentFolder(folder string) string {
	if info, err := os.Stat(folder); folder == "" || err != nil || !info.IsDir() {
		return "."
	}
	return folder
}

// trustOf returns how far judges agree with human labels, by the alignment kept in the
// folder of a suite; nil if there is none.
func (a *app) trustOf(dir string) func(judge, assertion string, raw *value.Object) report.Trust {
	kept, err := align.Load(filepath.Join(dir, align.File))
	if err != nil {
		a.warn(err.Error())
		return nil
	}
	return func(who, assertion string, raw *value.Object) report.Trust {
		t := kept.Trust(who, assertion, record.AssertionHash(&proviso.Assertion{Raw: raw}))
		out := report.Trust{Validated: t.Validated, Weak: t.Weak, TooFew: t.TooFew, Lapsed: t.Lapsed, Text: t.Text}
		if e := t.Entry; e != nil {
			out.Labels = e.N
			if t.TooFew {
				out.MissingGood, out.MissingBad = e.Missing()
				return out
			}
			for _, x := range [...]struct {
				to   **float64
				from *stats.Estimate
			}{{&out.Kappa, e.Kappa}, {&out.TPR, e.TPR}, {&out.TNR, e.TNR}} {
				if x.from != nil {
					*x.to = &x.from.Value
				}
			}
		}
		return out
	}
}
