// Package doctor finds out what a machine offers for evaluations: the sandbox, which it
// tests, the interpreters, the network settings and keys by name, the judge that would be
// asked, models that their vendors retire, and the folders that are used. It asks no model.
package doctor

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/sandbox"
)

// Diagnosis is what a machine offers for evaluations, and what a suite lacks on it. It
// contains only the names of keys and variables, never their values.
type Diagnosis struct {
	Version      string        `json:"version"`
	Go           string        `json:"go"`
	System       string        `json:"system"`
	CPUs         int           `json:"cpus"`
	Sandbox      Sandbox       `json:"sandbox"`
	Interpreters []Interpreter `json:"interpreters"`
	Network      Network       `json:"network"`
	Judge        Judge         `json:"judge"`
	Models       []Retirement  `json:"models"` // models in use that their vendors retire
	Folders      []Folder      `json:"folders"`
	Terminal     Terminal      `json:"terminal"`
	Suite        *Suite        `json:"suite,omitempty"`
}

// Sandbox describes the sandbox for code, and whether it is effective.
type Sandbox struct {
	Kernel     string `json:"kernel"`
	Landlock   int    `json:"landlock"` // version of the kernel's Landlock interface, 0 if there is none
	Seccomp    bool   `json:"seccomp"`
	Namespaces bool   `json:"namespaces"`
	SelfTest   string `json:"self_test"` // passed, failed, or not run
	Missing    string `json:"missing"`   // why there is no sandbox, "" if there is one
}

// The results of the self-test.
const (
	SelfTestPassed = "passed"
	SelfTestFailed = "failed"
	SelfTestNotRun = "not run"
)

// Interpreter is an interpreter that the sandbox can start.
type Interpreter struct {
	Language   string `json:"language"`
	Program    string `json:"program"`
	Path       string `json:"path"`
	Version    string `json:"version"`
	Sandbox    bool   `json:"sandbox"`
	Namespaces bool   `json:"namespaces"`
	Problem    string `json:"problem"`
}

// Network lists the variables that determine how models are reached.
type Network struct {
	Proxies   []string `json:"proxies"`   // variables that name a proxy, or hosts that bypass it
	Addresses []string `json:"addresses"` // variables that replace a vendor's host
	Keys      []string `json:"keys"`      // variables that hold vendor keys
}

// Judge is the judge that an evaluation would use.
type Judge struct {
	Provider string `json:"provider"`
	By       string `json:"by"` // where the judge is named
	Problem  string `json:"problem"`
}

// Folder is a folder that proviso writes to.
type Folder struct {
	Holds    string `json:"holds"`
	Path     string `json:"path"`
	Exists   bool   `json:"exists"`
	Writable bool   `json:"writable"`
	Bytes    int64  `json:"bytes"`
	AtLeast  bool   `json:"at_least"` // there is more than the count shows
}

// Terminal describes where output goes.
type Terminal struct {
	Terminal bool `json:"terminal"`
	Color    bool `json:"color"`
	Width    int  `json:"width"`
}

// Suite reports whether a suite could run on this machine.
type Suite struct {
	Files    []string `json:"files"`
	Ready    bool     `json:"ready"`
	Problems []string `json:"problems"`
}

// SandboxOf runs the self-test of the sandbox with every available interpreter.
func SandboxOf(ctx context.Context, env proviso.Env) (Sandbox, []Interpreter) {
	r := sandbox.Probe(ctx, sandbox.Options{Env: env})
	s := Sandbox{
		Kernel: r.Kernel.Release, Landlock: r.Kernel.Landlock, Seccomp: r.Kernel.Seccomp, Namespaces: r.Kernel.Namespaces,
		Missing: r.Missing, SelfTest: SelfTestNotRun,
	}
	list := []Interpreter{}
	for _, i := range r.Interpreters {
		switch {
		case i.Leaks:
			s.SelfTest = SelfTestFailed
		case i.Sandbox && s.SelfTest == SelfTestNotRun:
			s.SelfTest = SelfTestPassed
		}
		list = append(list, Interpreter{i.Language, i.Program, i.Path, i.Version, i.Sandbox, i.Namespaces, i.Problem})
	}
	return s, list
}

// NetworkOf lists the environment variables that determine how models are reached.
func NetworkOf(env proviso.Env) Network {
	return Network{Proxies: proxies(env), Addresses: provider.EnvAddresses(env), Keys: provider.EnvKeys(env)}
}

// proxies returns the names of the variables that are set and name a proxy, or the hosts
// that bypass it.
func proxies(env proviso.Env) []string {
	names := []string{}
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"} {
		if v, _ := env.Lookup(name); v != "" {
			names = append(names, name)
		}
	}
	return names
}

// JudgeOf finds the judge for a suite, which may be nil, and reports whether it could be
// called. byFlag names what chose o.Judge.Name. No code from the suite runs.
func JudgeOf(ctx context.Context, s *proviso.Suite, o engine.Options, byFlag string) (Judge, error) {
	o.Engines.Open = func(spec proviso.ProviderSpec, po provider.Options) (proviso.Provider, error) {
		po.Code = nil // no code runs
		return provider.Open(spec, po)
	}
	if s != nil {
		judged := *s
		judged.Filters = nil // filters are code
		s = &judged
	}
	e, err := engine.Open(ctx, s, o)
	if err != nil {
		return Judge{}, err
	}
	defer e.Close()
	who, err := e.Judges()
	rows := engine.DefaultJudges(judge.Text)
	if err != nil {
		var keys []string
		for _, row := range rows {
			keys = append(keys, row.Key)
		}
		return Judge{Problem: fmt.Sprintf("name one with %s, judge: in the suite or %s, or set %s", byFlag, engine.JudgeVariable, strings.Join(keys, " or "))}, nil
	}
	d := Judge{By: engine.JudgeVariable}
	switch named, _ := e.Env().Lookup(engine.JudgeVariable); {
	case o.Judge.Name != "":
		d.By = byFlag
	case s != nil && (len(s.Judge.Panel) > 0 || s.Options.Grader != ""):
		d.By = "the suite"
	case named == "":
		for _, row := range rows {
			if row.Provider == who[0].ID {
				d.By = row.Key
			}
		}
	}
	var ids []string
	for _, spec := range who {
		ids = append(ids, spec.ID)
		if _, err := e.Provider(spec); err != nil {
			d.Problem = cmp.Or(d.Problem, err.Error())
		}
	}
	d.Provider = strings.Join(ids, ", ")
	return d, nil
}
