package provider

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/proviso-eval/proviso"
)

// program finds a program in the PATH of the environment.
func (s settings) program(name string) (string, error) {
	return (&command{spec: s.spec, env: s.o.Env}).find(name)
}

// runProgram runs a program of the user's own, one that logs in, and returns what
// it prints. It gets the environment and nothing of the suite.
func (s settings) runProgram(ctx context.Context, name string, args ...string) ([]byte, error) {
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
	return stdout.kept.Bytes(), nil
}

// programTimeout is for one run of a program that writes a prompt.
const programTimeout = time.Minute

// Program is a command of a suite that prints what it is asked for. It is safe for
// concurrent use.
type Program struct {
	c *command
}

// NewProgram returns the program that a command, or the name of a file alone,
// means. It runs in o.Dir, with the environment o.Env. config.timeout is
// milliseconds for one run; without it a run has a minute.
func NewProgram(text string, isFile bool, o Options, config *proviso.Object) (*Program, error) {
	args := []string{text}
	if !isFile {
		args = splitCommand(text)
	}
	if len(args) == 0 || args[0] == "" {
		return nil, proviso.Errorf(proviso.Invalid, "expected a command, such as exec: ./prompt.sh")
	}
	c := &command{id: text, args: args, dir: o.Dir, env: o.Env, timeout: programTimeout}
	if ms, ok := config.At("timeout").(float64); ok && ms > 0 && ms < 1e12 {
		c.timeout = time.Duration(ms * float64(time.Millisecond))
	}
	return &Program{c}, nil
}

// Run returns what the program prints when it is given one more argument, without
// white space around it.
func (p *Program) Run(ctx context.Context, argument string) (string, error) {
	return p.c.printed(ctx, argument)
}
