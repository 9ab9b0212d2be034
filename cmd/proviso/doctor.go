package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/doctor"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
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
		Short: "Check what this machine can run, and what a suite needs that it lacks",
		Long: "doctor checks what this machine offers: the sandbox, which it tests, the interpreters, the\n" +
			"network settings and keys by name, the judge that would be asked, models that their vendor\n" +
			"retires, and the folders that are used. With -c it also shows what a suite needs that is\n" +
			"missing. It asks no model and runs no code of the suite.\n\n" +
			"Exit codes: 0, with -c if the suite could be run; 2 it could not; 3 the sandbox does not\n" +
			"pass its self-test.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), f) },
	}
	fs := cmd.Flags()
	choiceVar(fs, &f.format, "format", formatText, textFormats, "`FORMAT` of the output: text or json")
	fs.StringArrayVarP(&f.configs, "config", "c", nil, "suite `FILE` to check; may be repeated, and the files are merged")
	fs.StringArrayVar(&f.EnvFiles, "env-file", nil, "`FILE` with environment variables (default .env beside the suite)")
	f.judge.registerJudge(fs)
	f.code.register(fs)
	return cmd
}

func (a *app) doctor(ctx context.Context, f *doctorFlags) error {
	if err := f.code.check(); err != nil {
		return err
	}
	d, err := a.diagnose(ctx, f)
	if err != nil {
		return err
	}
	if f.format == formatJSON {
		err = value.WriteJSON(a.out, d, "  ")
	} else {
		_, err = a.out.Write(d.Text(a.terminal(false)))
	}
	if err != nil {
		return err
	}
	return exitWith(doctorCode(d))
}

// doctorCode returns the exit code. A leaking sandbox takes precedence over problems of a suite.
func doctorCode(d *doctor.Diagnosis) int {
	switch {
	case d.Sandbox.SelfTest == doctor.SelfTestFailed:
		return exitUndecided
	case d.Suite != nil && !d.Suite.Ready:
		return exitUsage
	}
	return exitOK
}

// diagnose runs all checks, the slow ones concurrently.
func (a *app) diagnose(ctx context.Context, f *doctorFlags) (*doctor.Diagnosis, error) {
	env, err := suite.WithEnvFiles(a.env, "", f.EnvFiles)
	if err != nil {
		return nil, err
	}
	d := &doctor.Diagnosis{Version: versionName(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.GOMAXPROCS(0)}
	var all sync.WaitGroup
	all.Go(func() { d.Sandbox, d.Interpreters = doctor.SandboxOf(ctx, a.env) })
	all.Go(func() { d.Folders = a.folders() })
	var loaded *loaded
	if len(f.configs) > 0 {
		all.Go(func() { d.Suite, loaded = a.readiness(ctx, f) })
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, a.stopped()
	}
	var s *proviso.Suite
	o := engine.Options{Policy: engine.Policy{Trusted: true}, Judge: engine.Judge{Name: f.judge.judge}, Engines: engine.Engines{Env: env, Secrets: a.secrets}}
	if loaded != nil {
		s, o.Engines.Env, o.Engines.Files = loaded.Suite, loaded.around, loaded.files
	}
	if d.Judge, err = doctor.JudgeOf(ctx, s, o, "--judge"); err != nil {
		return nil, err
	}
	d.Models = doctor.RetirementsOf(d.Judge, s, time.Now())
	if loaded != nil {
		env = loaded.env
	}
	d.Network = doctor.NetworkOf(env)
	screen := a.terminal(false)
	d.Terminal = doctor.Terminal{Terminal: isTerminal(a.out), Color: screen.Color, Width: screen.Width}
	return d, nil
}

// readiness finds what would prevent eval from running a suite here. It also returns the suite, if
// there is one.
func (a *app) readiness(ctx context.Context, f *doctorFlags) (*doctor.Suite, *loaded) {
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
	d := &doctor.Suite{Files: f.configs, Ready: err == nil, Problems: []string{}}
	for line := range strings.Lines(said.String()) {
		if line = strings.TrimRight(line, "\n"); !strings.HasSuffix(line, "; nothing was run") {
			d.Problems = append(d.Problems, line)
		}
	}
	return d, s
}

// folders checks the folders that proviso writes to.
func (a *app) folders() []doctor.Folder {
	list := []doctor.Folder{
		{Holds: "runs", Path: a.stateDir()}, {Holds: "answers", Path: a.cacheDir(keptAnswers)}, {Holds: "verdicts", Path: a.cacheDir(keptVerdicts)},
		{Holds: "matrices", Path: a.cacheDir(keptCells)}, {Holds: "temporary", Path: os.TempDir()},
	}
	var all sync.WaitGroup
	for i := range list {
		all.Go(func() { list[i].Look() })
	}
	all.Wait()
	return list
}
