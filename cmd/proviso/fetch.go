package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/dataset"
)

// fetch returns what gets the cases of a suite that stand elsewhere. A command that
// touches no network finds copies alone. A run that is gone on with has the cases
// that it began with; one that is recorded or replayed has those of the recording.
func (a *app) fetch(ctx context.Context, f *suiteFlags, around proviso.Env) func(string, proviso.Env) (string, error) {
	o := dataset.Options{Dir: a.caseDir()}
	if e := f.online; e != nil {
		o.Client, o.Fresh = e.client(around, e.models.cassette(a.secrets)), e.models.noCache || e.models.record != "" || e.models.replay != ""
		o.Any = e.resume != "" || e.retryErrors
	}
	o.Asking = func(ref string) {
		fmt.Fprintf(a.err, "proviso: getting the cases of %s\n", printable(dataset.Show(ref)))
	}
	g := dataset.New(o)
	return func(ref string, env proviso.Env) (string, error) { return g.Get(ctx, ref, env) }
}

// caseDir is the folder of cases that stand elsewhere, beside that of answers.
func (a *app) caseDir() string { return filepath.Join(filepath.Dir(a.cacheDir()), "cases") }
