package run

import (
	"errors"
	"io"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/mathjs"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/suite"
)

// owned holds what a plan opened because its options did not provide it.
type owned []io.Closer

// Close frees the engines. None of them starts before it is needed.
func (o owned) Close() error {
	var errs []error
	for _, c := range o {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// complete puts what Options promise in the place of what is nil.
func (o *Options) complete(s *proviso.Suite) owned {
	var own owned
	if o.Concurrency <= 0 {
		o.Concurrency = 4
	}
	if o.Env == nil {
		o.Env = proviso.EnvMap{}
	}
	if o.Files == nil {
		o.Files = suite.NewFiles(s.Dir, suite.FilesOptions{Confine: o.Untrusted})
	}
	if o.Templates == nil {
		t := template.New(template.Options{})
		o.Templates, own = t, append(own, t)
	}
	if o.Metrics == nil {
		m := mathjs.New(mathjs.Options{})
		o.Metrics, own = m, append(own, m)
	}
	if o.Code == nil && !o.Untrusted {
		c := script.New(script.Options{})
		o.Code, own = c, append(own, c)
	}
	if o.Client == nil {
		o.Client = transport.New(transport.Options{Env: o.Env, RefusePrivate: o.Untrusted}).Client()
	}
	return own
}
