package main

import (
	"context"
	"fmt"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/dataset"
)

// fetch returns the function that fetches the remote cases of a suite. A command that
// does not use the network reads only copies. A resumed run uses the cases that it
// started with. A recorded or replayed run uses the cases of the recording.
func (a *app) fetch(ctx context.Context, f *suiteFlags, around proviso.Env) func(string, proviso.Env) (string, error) {
	o := dataset.Options{Dir: a.cacheDir(keptCases)}
	if e := f.online; e != nil {
		o.Client, o.Fresh = e.client(around, e.models.cassette(a.secrets, nil)), e.models.noCache || e.models.record != "" || e.models.replay != ""
		o.Any = e.resume != "" || e.retryErrors
	}
	o.Asking = func(ref string) {
		fmt.Fprintf(a.err, "proviso: fetching cases from %s\n", printable(dataset.Show(ref)))
	}
	g := dataset.New(o)
	return func(ref string, env proviso.Env) (string, error) { return g.Get(ctx, ref, env) }
}
