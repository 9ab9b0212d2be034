package main

import (
	"context"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/sandbox"
)

// boxOptions are what code in workers may use.
type boxOptions struct {
	policy      string
	dir         string      // the suite's folder
	around      proviso.Env // of the suite, in which granted names are looked up
	machine     proviso.Env // of this process
	concurrency int         // calls of providers at once; 0 is the default
	warn        func(string)
	ask         func(ctx context.Context, prompt, response, question string) (bool, error) // ask_llm
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
	machine := o.machine
	if policy != sandbox.Require {
		machine = o.around // as in promptfoo, a suite may name its interpreter
	}
	return sandbox.New(sandbox.Options{
		Policy: policy, Dir: dir, Env: o.around, Machine: machine, Workers: o.concurrency, Warn: o.warn, Ask: o.ask,
		Timeout: time.Duration(o.TimeoutMS) * time.Millisecond,
		Grants:  sandbox.Grants{Network: o.Network, Env: o.Sandbox.Env, Read: o.Read, Packages: o.Packages},
	}), nil
}
