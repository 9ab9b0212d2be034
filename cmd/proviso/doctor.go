package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/suite"
)

// doctorFlags are the flags of doctor.
type doctorFlags struct {
	evalFlags
	format string
}

func newDoctor(a *app) *cobra.Command {
	f := &doctorFlags{}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine can do, and what a suite lacks on it",
		Long: "doctor says what this machine offers: the sandbox, which it tests, the interpreters, the\n" +
			"network settings and keys by name, the judge that would be asked and the folders that are\n" +
			"used. With -c it also says what a suite needs that is not there. It asks no model and runs\n" +
			"no code of the suite.\n\n" +
			"Exit codes: 0, with -c if the suite could be run; 2 it could not; 3 the sandbox does not\n" +
			"pass its self-test.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), f) },
	}
	f.filterSeed = -1 // no drawing
	fs := cmd.Flags()
	fs.StringVar(&f.format, "format", formatText, "print in `FORMAT` text or json")
	fs.StringArrayVarP(&f.configs, "config", "c", nil, "suite `FILE` that is to be run here; several are merged")
	fs.StringArrayVar(&f.envFiles, "env-file", nil, "`FILE` with environment variables (default .env beside the suite)")
	f.judge.registerJudge(fs)
	f.code.register(fs)
	return cmd
}

// diagnosis holds the findings of doctor. For keys and variables it holds only names.
type diagnosis struct {
	Version      string               `json:"version"`
	Go           string               `json:"go"`
	System       string               `json:"system"`
	CPUs         int                  `json:"cpus"`
	Sandbox      sandboxDiagnosis     `json:"sandbox"`
	Interpreters []interpreterFinding `json:"interpreters"`
	Network      networkDiagnosis     `json:"network"`
	Judge        judgeDiagnosis       `json:"judge"`
	Folders      []folderDiagnosis    `json:"folders"`
	Terminal     terminalDiagnosis    `json:"terminal"`
	Suite        *suiteDiagnosis      `json:"suite,omitempty"`
}

type sandboxDiagnosis struct {
	Kernel     string `json:"kernel"`
	Landlock   int    `json:"landlock"` // version of its interface, 0 if there is none
	Seccomp    bool   `json:"seccomp"`
	Namespaces bool   `json:"namespaces"`
	SelfTest   string `json:"self_test"` // passed, failed, or not run
	Missing    string `json:"missing"`   // why there is none, "" if there is one
}

// The results of the self-test.
const (
	selfTestPassed = "passed"
	selfTestFailed = "failed"
	selfTestNotRun = "not run"
)

type interpreterFinding struct {
	Language   string `json:"language"`
	Program    string `json:"program"`
	Path       string `json:"path"`
	Version    string `json:"version"`
	Sandbox    bool   `json:"sandbox"`
	Namespaces bool   `json:"namespaces"`
	Problem    string `json:"problem"`
}

type networkDiagnosis struct {
	Proxies   []string `json:"proxies"`   // variables that name one
	Addresses []string `json:"addresses"` // variables that put a host in place of a vendor's
	Keys      []string `json:"keys"`      // variables with keys of vendors
}

type judgeDiagnosis struct {
	Provider string `json:"provider"`
	By       string `json:"by"` // what names it
	Problem  string `json:"problem"`
}

type folderDiagnosis struct {
	Holds    string `json:"holds"`
	Path     string `json:"path"`
	Exists   bool   `json:"exists"`
	Writable bool   `json:"writable"`
	Bytes    int64  `json:"bytes"`
	AtLeast  bool   `json:"at_least"` // there is more than was counted
}

type terminalDiagnosis struct {
	Terminal bool `json:"terminal"`
	Color    bool `json:"color"`
	Width    int  `json:"width"`
}

type suiteDiagnosis struct {
	Files    []string `json:"files"`
	Ready    bool     `json:"ready"`
	Problems []string `json:"problems"`
}

func (a *app) doctor(ctx context.Context, f *doctorFlags) error {
	if f.format != formatText && f.format != formatJSON {
		return usageError{fmt.Errorf("--format %q: expected text or json", f.format), "see `proviso doctor --help`"}
	}
	if err := f.code.check(); err != nil {
		return err
	}
	d, err := a.diagnose(ctx, f)
	if err != nil {
		return err
	}
	if f.format == formatJSON {
		err = writeJSON(a.out, d)
	} else {
		t := &doctorText{o: a.terminal(false)}
		_, err = a.out.Write(t.show(d))
	}
	if err != nil {
		return err
	}
	if code := d.exit(); code != exitOK {
		return exitError{code}
	}
	return nil
}

// exit returns the exit code. A sandbox that leaks has priority over problems of a
// suite.
func (d *diagnosis) exit() int {
	switch {
	case d.Sandbox.SelfTest == selfTestFailed:
		return exitUndecided
	case d.Suite != nil && !d.Suite.Ready:
		return exitUsage
	}
	return exitOK
}

// diagnose runs all checks, the slow ones concurrently.
func (a *app) diagnose(ctx context.Context, f *doctorFlags) (*diagnosis, error) {
	env, err := suite.WithEnvFiles(a.env, "", f.envFiles)
	if err != nil {
		return nil, err
	}
	d := &diagnosis{Version: versionName(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.GOMAXPROCS(0)}
	var all sync.WaitGroup
	all.Go(func() { d.Sandbox, d.Interpreters = sandboxOf(ctx, a.env) })
	all.Go(func() { d.Folders = a.folders() })
	var loaded *loaded
	if len(f.configs) > 0 {
		all.Go(func() { d.Suite, loaded = a.readiness(ctx, f) })
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, a.stopped()
	}
	if d.Judge, err = a.judgeOf(ctx, f, env, loaded); err != nil {
		return nil, err
	}
	if loaded != nil {
		env = loaded.env
	}
	d.Network = networkDiagnosis{Proxies: proxiesSet(env), Addresses: provider.EnvAddresses(env), Keys: provider.EnvKeys(env)}
	o := a.terminal(false)
	d.Terminal = terminalDiagnosis{Terminal: a.toTerminal(), Color: o.Color, Width: o.Width}
	return d, nil
}

// sandboxOf runs the self-test of the sandbox with every available interpreter.
func sandboxOf(ctx context.Context, env proviso.Env) (sandboxDiagnosis, []interpreterFinding) {
	r := sandbox.Probe(ctx, sandbox.Options{Env: env})
	s := sandboxDiagnosis{
		Kernel: r.Kernel.Release, Landlock: r.Kernel.Landlock, Seccomp: r.Kernel.Seccomp, Namespaces: r.Kernel.Namespaces,
		Missing: r.Missing, SelfTest: selfTestNotRun,
	}
	list := []interpreterFinding{}
	for _, i := range r.Interpreters {
		switch {
		case i.Leaks:
			s.SelfTest = selfTestFailed
		case i.Sandbox && s.SelfTest == selfTestNotRun:
			s.SelfTest = selfTestPassed
		}
		list = append(list, interpreterFinding{i.Language, i.Program, i.Path, i.Version, i.Sandbox, i.Namespaces, i.Problem})
	}
	return s, list
}

// readiness finds what would keep eval from running a suite here, and returns the suite
// if there is one.
func (a *app) readiness(ctx context.Context, f *doctorFlags) (*suiteDiagnosis, *loaded) {
	var said bytes.Buffer
	inner := &app{stdio: stdio{in: a.in, out: io.Discard, err: &said}, env: a.env, secrets: a.secrets}
	s, err := inner.read(ctx, &f.suiteFlags)
	if err == nil {
		defer s.close()
		f.dry = true
		_, err = inner.plan(ctx, s, &f.evalFlags)
	}
	var exit exitError
	if err != nil && !errors.As(err, &exit) {
		inner.explain(err)
	}
	d := &suiteDiagnosis{Files: f.configs, Ready: err == nil, Problems: []string{}}
	for line := range strings.Lines(said.String()) {
		if line = strings.TrimRight(line, "\n"); !strings.HasSuffix(line, "; nothing was run") {
			d.Problems = append(d.Problems, line)
		}
	}
	return d, s
}

// judgeOf finds the judge and whether it could be asked. loaded is nil without a suite.
func (a *app) judgeOf(ctx context.Context, f *doctorFlags, env proviso.Env, loaded *loaded) (judgeDiagnosis, error) {
	o := engine.Options{
		Policy: engine.Policy{Trusted: true}, Judge: engine.Judge{Name: f.judge.judge},
		Engines: engine.Engines{Env: env, Secrets: a.secrets, Open: func(spec proviso.ProviderSpec, po provider.Options) (proviso.Provider, error) {
			po.Code = nil // no code runs
			return provider.Open(spec, po)
		}},
	}
	var s *proviso.Suite
	if loaded != nil {
		judged := *loaded.Suite
		judged.Filters = nil // filters are code
		s, o.Engines.Env, o.Engines.Files = &judged, loaded.around, loaded.files
	}
	e, err := engine.Open(ctx, s, o)
	if err != nil {
		return judgeDiagnosis{}, err
	}
	defer closeEngine(e)
	who, err := e.Judges()
	rows := engine.DefaultJudges(judge.Text)
	if err != nil {
		var keys []string
		for _, row := range rows {
			keys = append(keys, row.Key)
		}
		return judgeDiagnosis{Problem: fmt.Sprintf("name one with --judge, judge: in the suite or %s, or set %s", engine.JudgeVariable, strings.Join(keys, " or "))}, nil
	}
	d := judgeDiagnosis{By: engine.JudgeVariable}
	switch named, _ := e.Env().Lookup(engine.JudgeVariable); {
	case f.judge.judge != "":
		d.By = "--judge"
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

// proxiesSet returns the names of the set variables that name a proxy, or the hosts
// that bypass it.
func proxiesSet(env proviso.Env) []string {
	names := []string{}
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"} {
		if v, _ := env.Lookup(name); v != "" {
			names = append(names, name)
		}
	}
	return names
}

// folders checks the folders that proviso writes to.
func (a *app) folders() []folderDiagnosis {
	list := []folderDiagnosis{
		{Holds: "runs", Path: a.stateDir()}, {Holds: "answers", Path: a.cacheDir()}, {Holds: "verdicts", Path: a.verdictDir()},
		{Holds: "matrices", Path: a.cellDir()}, {Holds: "temporary", Path: os.TempDir()},
	}
	var all sync.WaitGroup
	for i := range list {
		all.Go(func() { list[i].look() })
	}
	all.Wait()
	return list
}

// countTime bounds the time for counting the files of a folder.
const countTime = 300 * time.Millisecond

func (d *folderDiagnosis) look() {
	dir := d.Path
	info, err := os.Stat(dir)
	d.Exists = err == nil && info.IsDir()
	for err != nil && errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) { // it would be created in the nearest existing one
		dir = filepath.Dir(dir)
		info, err = os.Stat(dir)
	}
	if err == nil && info.IsDir() {
		d.Writable = writable(dir)
	}
	if !d.Exists || d.Path == os.TempDir() { // other programs' files do not count
		return
	}
	until := time.Now().Add(countTime)
	_ = filepath.WalkDir(d.Path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // unreadable files are not counted
		}
		if time.Now().After(until) {
			d.AtLeast = true
			return fs.SkipAll
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			d.Bytes += info.Size()
		}
		return nil
	})
}

// writable reports whether a file can be created in a folder.
func writable(dir string) bool {
	f, err := os.CreateTemp(dir, ".proviso-doctor-*")
	if err != nil {
		return false
	}
	_ = f.Close()
	return os.Remove(f.Name()) == nil
}
