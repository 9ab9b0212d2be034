package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/secrets"
	"github.com/proviso-eval/proviso/report"
)

// commands lists every command, sorted by name.
var commands = []struct {
	name string
	make func(*app) *cobra.Command
}{
	{"align", newAlign},
	{"baseline", newBaseline},
	{"cache", newCache},
	{"comment", newComment},
	{"compare", newCompare},
	{"datasets", newDatasets},
	{"doctor", newDoctor},
	{"eval", newEval},
	{"export", newExport},
	{"gate", newGate},
	{"import", newImport},
	{"init", newInit},
	{"judge", newJudge},
	{"key", newKey},
	{"labels", newLabels},
	{"monitor", newMonitor},
	{"mutate", newMutate},
	{"proxy", newProxy},
	{"push", newPush},
	{"runs", newRuns},
	{"schema", newSchema},
	{"serve", newServe},
	{"show", newShow},
	{"spade", newSpade},
	{"store", newStore},
	{"validate", newValidate},
	{"version", newVersion},
	{"view", newView},
	{"worker", newWorker},
}

// stdio are the streams of a command.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// app is the state that all commands share.
type app struct {
	stdio
	env       proviso.Env
	secrets   *secrets.Set            // secrets of this process, which it must not show
	addresses *addresses              // removes passwords of URLs from what is printed
	end       context.CancelCauseFunc // ends the command like a signal, with a reason
	spare     *atomic.Uint64          // how much garbage a large heap may hold before a collection, in percent
}

// newApp returns an app for the environment of this process.
func newApp(io stdio) *app {
	known := &secrets.Set{}
	named := &addresses{}
	io.out, io.err = redacting{io.out, known, named}, redacting{io.err, known, named}
	a := &app{stdio: io, addresses: named, env: known.Env(processEnv{}), secrets: known, end: func(error) {}, spare: &atomic.Uint64{}}
	a.spare.Store(usualSpare)
	return a
}

// execute runs one command line and returns the exit code.
func execute(args []string, io stdio) int {
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal kills a command that ignores the first
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := newApp(io)
	a.secrets.Add(passwordsIn(args)...)
	a.addresses.add(args...)
	a.addresses.add(os.Getenv(storeVariable))
	boundHeap(ctx, a.spare)
	a.end = cancel
	root := newRootFor(a, args)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	var exit exitError
	if errors.As(err, &exit) {
		return exit.code
	}
	a.explain(err)
	return codeOf(err)
}

// endings are the signals that end a command gracefully: finished work is kept and reported. A
// closed terminal sends SIGHUP; under nohup the signal is ignored, and stays ignored.
func endings() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// newRootFor returns the root command for the given arguments. If the first argument names a
// command, all others are left out: declaring all flags takes as long as ten rows.
func newRootFor(a *app, args []string) *cobra.Command {
	root := &cobra.Command{
		Use:           "proviso",
		Short:         "Tells whether the output of a language model keeps the promises of its prompt",
		Long:          "proviso runs suites of prompts, models and cases, decides every assertion, and says\nwhich promise was broken, in which case, and why.\n\nStart with `proviso init`, then `proviso eval`.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{err: flagMistake(err), hint: flagHint(cmd, err)}
	})
	wanted := commands
	for i := range commands {
		if len(args) > 0 && args[0] == commands[i].name {
			wanted = commands[i : i+1]
		}
	}
	for _, c := range wanted {
		root.AddCommand(c.make(a))
	}
	a.completeNames(root)
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		completion.Args, completion.RunE = noCommand, root.RunE // an unknown shell is a mistake
	}
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Args = func(_ *cobra.Command, args []string) error {
			cmd, unknown, err := root.Find(args)
			if err != nil || len(unknown) == 0 {
				return err
			}
			return noCommand(cmd, unknown[:1])
		}
	}
	return root
}

// noCommand rejects an unknown command and names the nearest one.
func noCommand(parent *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range parent.Commands() {
		names = append(names, c.Name())
	}
	return usageError{err: fmt.Errorf("unknown command %q", args[0]), hint: nearestOr(args[0], names, seeHelp(parent))}
}

// group returns a command that only holds other commands.
func group(use, short, long string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Args: noCommand, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(commands...)
	return cmd
}

// argument returns the only argument; "" if there is none.
func argument(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// someArgs rejects fewer than least or more than most arguments.
func someArgs(missing string, least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least {
			return usageError{err: errors.New(missing), hint: seeHelp(cmd)}
		}
		return atMost(most)(cmd, args)
	}
}

// given counts the flags that have a value.
func given(values ...string) (n int) {
	for _, v := range values {
		if v != "" {
			n++
		}
	}
	return n
}

// atMost rejects more than n arguments.
func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= n {
			return nil
		}
		return usageError{err: fmt.Errorf("unexpected argument %q", args[n]), hint: seeHelp(cmd)}
	}
}

func seeHelp(cmd *cobra.Command) string { return "see `" + cmd.CommandPath() + " --help`" }

// flagHint suggests the nearest flag to an unknown one.
func flagHint(cmd *cobra.Command, err error) string {
	var wrong usageError
	if errors.As(err, &wrong) {
		return wrong.hint
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return seeHelp(cmd)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	name := unknown.GetSpecifiedName()
	if near := cmp.Or(document.Nearest(name, names), startsWith(name, names)); near != "" {
		return fmt.Sprintf("did you mean %q?", "--"+near)
	}
	return seeHelp(cmd)
}

// startsWith returns the only name that starts with the given text, ignoring hyphens; "" if there
// is none or more than one.
func startsWith(short string, names []string) string {
	plain := func(s string) string { return strings.ReplaceAll(s, "-", "") }
	found := ""
	for _, name := range names {
		if len(short) > 2 && strings.HasPrefix(plain(name), plain(short)) {
			if found != "" {
				return ""
			}
			found = name
		}
	}
	return found
}

// usageError is a mistake in the command line.
type usageError struct {
	err  error
	hint string
}

func (e usageError) Error() string { return e.err.Error() }

// explain prints an error for a person, each line on its own.
func (a *app) explain(err error) {
	var usage usageError
	if errors.As(err, &usage) {
		fmt.Fprintf(a.err, "proviso: %s; %s\n", printable(err.Error()), printable(usage.hint))
		return
	}
	var e *proviso.Error
	if errors.As(err, &e) && len(e.Valid) > 0 && len(e.Valid) <= 12 {
		if valid := strings.Join(e.Valid, ", "); !strings.Contains(err.Error(), valid) {
			fmt.Fprintf(a.err, "proviso: %s (valid: %s)\n", printable(err.Error()), printable(valid))
			return
		}
	}
	for line := range strings.SplitSeq(err.Error(), "\n") { // an error may be a join of several
		fmt.Fprintf(a.err, "proviso: %s\n", printable(line))
	}
}

func printable(s string) string { return report.Message(s) }
