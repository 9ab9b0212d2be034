package main

import (
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/sandbox"
)

// boxOptions are what code in workers may use.
type boxOptions struct {
	policy      string
	dir         string // the suite's folder
	around      proviso.Env
	concurrency int // calls of providers at once; 0 is the default
	warn        func(string)
	proviso.Sandbox
}

// openBox opens what runs code in workers. It starts none.
func openBox(o boxOptions) (proviso.Code, error) {
	policy, err := sandbox.ParsePolicy(o.policy)
	if err != nil {
		return nil, err
	}
	dir := o.dir
	if dir == "" {
		dir = "."
	}
	return sandbox.New(sandbox.Options{
		Policy: policy, Dir: dir, Env: o.around, Workers: o.concurrency, Warn: o.warn,
		Timeout: time.Duration(o.TimeoutMS) * time.Millisecond,
		Grants:  sandbox.Grants{Network: o.Network, Env: o.Sandbox.Env, Read: o.Read, Packages: o.Packages},
	}), nil
}
