package provider

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
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
	killGroup(cmd)
	err = cmd.Run()
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
