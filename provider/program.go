package provider

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// program finds a program in the PATH of the environment.
func (s settings) program(name string) (string, error) {
	return (&command{spec: s.spec, env: s.o.Env}).find(name)
}

// runProgram runs a login program of the user and returns the object that it prints. The program
// gets the user's environment and nothing from the suite.
func (s settings) runProgram(ctx context.Context, name string, args ...string) (*value.Object, error) {
	c := &command{spec: s.spec, env: s.o.Env}
	program, err := c.find(name)
	if err != nil {
		return nil, err
	}
	stdout, stderr := &bounded{most: maxLogin}, &bounded{most: maxComplain}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = c.environment(), stdout, stderr, grace
	err = runGroup(cmd)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%s: %w", name, ctx.Err())
	}
	if err != nil {
		if complaint := excerpt(stderr.kept.Bytes()); complaint != "" {
			err = errors.New(complaint)
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	v, err := value.ParseJSON(stdout.kept.String())
	return object(v), err
}

// programTimeout limits one run of a program that generates a prompt.
const programTimeout = time.Minute

// Program is a command of a suite whose output is used. It is safe for
// concurrent use.
type Program struct {
	c *command
}

// NewProgram returns the program for a command line, or for a file name if isFile is set. It runs
// in o.Dir, with the environment o.Env. config.timeout limits one run, in milliseconds; the default
// is a minute.
func NewProgram(text string, isFile bool, o Options, config *value.Object) (*Program, error) {
	args := []string{text}
	if !isFile {
		args = splitCommand(text)
	}
	if len(args) == 0 || args[0] == "" {
		return nil, proviso.Errorf(proviso.Invalid, "expected a command, such as exec: ./prompt.sh")
	}
	s := settings{spec: proviso.ProviderSpec{Config: config}}
	return &Program{&command{id: text, args: args, dir: o.Dir, env: o.Env, timeout: s.limit(programTimeout)}}, nil
}

// Run runs the program with one more argument and returns its trimmed output.
func (p *Program) Run(ctx context.Context, argument string) (string, error) {
	return p.c.printed(ctx, argument)
}
