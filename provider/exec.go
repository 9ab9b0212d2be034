package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Limits of commands.
const (
	maxComplain = 64 << 10        // bytes kept of standard error
	grace       = 2 * time.Second // time for pipes that outlive the command
)

// command answers with the output of a program. The program gets the prompt,
// its options and the context as its last three arguments, as with promptfoo's
// exec:.
type command struct {
	id      string
	spec    proviso.ProviderSpec
	args    []string
	dir     string
	env     proviso.Env
	timeout time.Duration
	trace   *proviso.TraceContext // trace of the answer; nil if traces are not followed
}

func newExec(spec proviso.ProviderSpec, arg string, o Options) (proviso.Provider, error) {
	s := settings{spec, o}
	if o.Untrusted {
		return nil, s.refused("an untrusted suite runs no commands")
	}
	args := splitCommand(arg)
	if len(args) == 0 {
		return nil, s.invalid("expected a command, such as exec: python chain.py")
	}
	c := &command{id: spec.ID, spec: spec, args: args, dir: o.Dir, env: o.Env, timeout: s.limit(s.timeout())}
	return withCassette(c, spec, o.Cassette), nil
}

func (c *command) ID() string { return c.id }

// cacheKey covers the command's other inputs besides the prompt.
func (c *command) cacheKey(_ context.Context, ask proviso.Ask) (string, error) {
	return beside("exec", ask), nil
}

// errPrinted is the cause of a context that ended because of too much output.
var errPrinted = errors.New("too much output")

// Answer runs the command once.
func (c *command) Answer(ctx context.Context, ask proviso.Ask) (proviso.Output, error) {
	once := *c
	once.trace = ask.Trace
	start := time.Now()
	text, err := once.printed(ctx, c.arguments(ask)...)
	latency := time.Since(start)
	if err != nil {
		return proviso.Output{}, err
	}
	return proviso.Output{Value: text, Latency: &latency}, nil
}

// printed runs the command once, with further arguments, and returns its
// trimmed output.
func (c *command) printed(ctx context.Context, arguments ...string) (string, error) {
	call, stop := context.WithTimeoutCause(ctx, c.timeout, errDeadline)
	defer stop()
	call, cancel := context.WithCancelCause(call)
	defer cancel(nil)

	program, err := c.find(c.args[0])
	if err != nil {
		return "", proviso.Errorf(proviso.Unavailable, "%s: %w", c.id, err)
	}
	stdout := &bounded{most: maxAnswer, full: func() { cancel(errPrinted) }}
	stderr := &bounded{most: maxComplain}
	cmd := exec.CommandContext(call, program, append(slices.Clone(c.args[1:]), arguments...)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = c.dir, c.environment(), stdout, stderr, grace
	err = runGroup(cmd)
	switch cause := context.Cause(call); {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case cause == errDeadline:
		return "", proviso.Errorf(proviso.Timeout, "%s: no answer within %v", c.id, c.timeout)
	case cause == errPrinted:
		return "", proviso.Errorf(proviso.Limit, "%s: the command printed more than %d bytes", c.id, maxAnswer)
	}
	text := value.TrimSpace(stdout.kept.String())
	if complaint := excerpt(stderr.kept.Bytes()); err != nil || text == "" && complaint != "" {
		return "", c.failed(err, complaint)
	}
	return text, nil
}

// failed returns the error of a command that failed.
func (c *command) failed(err error, complaint string) error {
	text := c.id + ": "
	if err != nil {
		text += err.Error()
	} else {
		text += "it printed nothing"
	}
	if complaint != "" {
		text += ": " + complaint
	}
	return &proviso.Error{Code: proviso.Unavailable, Message: text}
}

// arguments are the arguments that are appended to the command's own.
func (c *command) arguments(ask proviso.Ask) []string {
	return []string{ask.Prompt, value.Stringify(optionsOf(c.spec, ask.Config)), value.Stringify(rowOfAsk(ask))}
}

// environment is the environment of the command, with the provider's own
// variables last. If the trace is followed, it includes the address for spans
// and the trace parent, under the names that OpenTelemetry's SDKs read.
func (c *command) environment() []string {
	list := []string{}
	if c.env != nil {
		for _, name := range c.env.Names() {
			if v, ok := c.env.Lookup(name); ok {
				list = append(list, name+"="+v)
			}
		}
	}
	if trace := c.trace; trace != nil {
		list = append(list, "TRACEPARENT="+trace.Parent)
		if trace.Endpoint != "" {
			list = append(list, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="+trace.Endpoint, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf")
		}
	}
	for name, v := range c.spec.Env.All() {
		list = append(list, name+"="+value.ToString(v))
	}
	return list
}

// find looks a program up in the PATH of the given environment, not of this process.
func (c *command) find(name string) (string, error) {
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		return name, nil // relative to the command's working folder
	}
	list, _ := settings{c.spec, Options{Env: c.env}}.env("PATH", "Path")
	for _, dir := range filepath.SplitList(list) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if program, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return program, nil
		}
	}
	return "", fmt.Errorf("the program %q is not in the PATH", name)
}

// bounded keeps the beginning of what is written to it. The buffer is not embedded, because its
// ReadFrom method would bypass the limit.
type bounded struct {
	kept bytes.Buffer
	most int
	full func() // called when more is written; may be nil
}

// Write accepts everything, so that the writer is never blocked.
func (b *bounded) Write(p []byte) (int, error) {
	if left := b.most - b.kept.Len(); len(p) > left {
		b.kept.Write(p[:left])
		if b.full != nil {
			b.full()
		}
		return len(p), nil
	}
	return b.kept.Write(p)
}

// splitCommand splits a command at white space outside quotes, as promptfoo
// does. A backslash is an ordinary character.
func splitCommand(text string) []string {
	var args []string
	var arg strings.Builder
	started, quote := false, rune(0)
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			arg.WriteRune(r)
		case r == '"' || r == '\'':
			quote, started = r, true
		case value.IsSpace(r):
			if started || arg.Len() > 0 {
				args = append(args, arg.String())
			}
			arg.Reset()
			started = false
		default:
			arg.WriteRune(r)
		}
	}
	if started || arg.Len() > 0 {
		args = append(args, arg.String())
	}
	return args
}
