package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/client"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/report"
)

// lastRun names the last kept run; last~1 is the one before it.
const lastRun = "last"

// runNames is the help text on how to name a run.
const runNames = "A run is named by its id or the beginning of it, last, last~1 for the one before, its\n" +
	"file or folder, or its address on a server."

// maxCompleted is the maximum number of runs that shell completion offers.
const maxCompleted = 50

// namedRun is a run that the command line names. Close also removes the copy if the run was fetched
// from a server.
type namedRun struct {
	*runfile.Reader
	address string // URL on a server; "" if the run is a file
	fetched string // temporary folder
}

// openRun opens a run by its name: one in the folder dir, a file, or one on a server.
func (a *app) openRun(ctx context.Context, dir, name string) (*namedRun, error) {
	if client.IsAddress(name) {
		return a.fetchRun(ctx, name)
	}
	path, err := findRun(cmp.Or(dir, a.stateDir()), name)
	if err != nil {
		return nil, err
	}
	r, err := runfile.Open(path)
	if info, statErr := os.Stat(path); errors.Is(err, fs.ErrNotExist) && statErr == nil && info.IsDir() {
		return nil, proviso.Errorf(proviso.NotFound, "the folder %s holds no run: it has no %s; `proviso runs` lists the kept runs", path, runfile.FileName)
	}
	if err != nil {
		return nil, proviso.Errorf(proviso.NotFound, "%w", err)
	}
	return &namedRun{Reader: r}, nil
}

// Close closes the file and removes a fetched copy.
func (r *namedRun) Close() error {
	err := r.Reader.Close()
	if r.fetched != "" {
		err = errors.Join(err, os.RemoveAll(r.fetched))
	}
	return err
}

// report returns the data for showing the run.
func (r *namedRun) report(a *app) (*report.Meta, *report.Summary, error) {
	meta, sum, err := report.FromRun(r.Reader)
	if err != nil {
		return nil, nil, proviso.Errorf(proviso.Invalid, "%s: %w", r.Path(), err)
	}
	if r.address != "" {
		meta.RunFile = r.address
	}
	meta.Types, meta.Trust = check.Facts(), a.trustOf(alignmentFolder(meta.Folder))
	return meta, sum, nil
}

// findRun finds a run in the folder dir, or a file: by last or last~N, by its file or folder, by
// its id, or by the beginning of the id. "" means the last run.
func findRun(dir, name string) (string, error) {
	if client.IsAddress(name) {
		return "", proviso.Errorf(proviso.Invalid, "%s is on a server; this command needs a run of the folder %s", name, dir)
	}
	back, counted := nthLast(name)
	if !counted {
		if _, err := os.Stat(name); err == nil {
			return name, nil
		}
	}
	runs, err := runfile.List(dir)
	switch {
	case err != nil:
		return "", proviso.Errorf(proviso.NotFound, "%w", err)
	case len(runs) == 0:
		return "", proviso.Errorf(proviso.NotFound, "no run is kept in %s yet: `proviso eval` keeps them there", dir)
	case counted && back >= len(runs):
		return "", proviso.Errorf(proviso.NotFound, "there is no run %s in %s: %s kept", name, dir, plural.Of(len(runs), "run"))
	case counted:
		return runs[back].Path, nil
	}
	found := slices.DeleteFunc(slices.Clone(runs), func(r runfile.Info) bool { return !strings.HasPrefix(r.ID, name) })
	switch len(found) {
	case 0:
		if hint := document.DidYouMean(name, everyID(runs)); hint != "" {
			return "", proviso.Errorf(proviso.NotFound, "no run %s in %s%s", name, dir, hint)
		}
		if ids := idsOf(runs); len(ids) < len(runs) {
			return "", proviso.Errorf(proviso.NotFound, "no run %s in %s: the newest are %s; `proviso runs` lists them", name, dir, listed(ids, len(runs)))
		}
		return "", &proviso.Error{Code: proviso.NotFound, Message: "no run " + name + " in " + dir, Valid: idsOf(runs)}
	case 1:
		return found[0].Path, nil
	}
	return "", proviso.Errorf(proviso.Invalid, "%s is the beginning of %s: %s; write more of the id", name, plural.Of(len(found), "id"), listed(idsOf(found), len(found)))
}

// nthLast parses last and last~N.
func nthLast(name string) (back int, ok bool) {
	if name == "" || name == lastRun {
		return 0, true
	}
	digits, ok := strings.CutPrefix(name, lastRun+"~")
	n, err := strconv.ParseUint(digits, 10, 31)
	return int(n), ok && err == nil
}

// idsOf returns the first ids, for a message.
func idsOf(runs []runfile.Info) []string { return everyID(runs[:min(len(runs), 5)]) }

func everyID(runs []runfile.Info) []string {
	var ids []string
	for _, r := range runs {
		ids = append(ids, r.ID)
	}
	return ids
}

// listed joins names, which are the first of a list of n.
func listed(names []string, n int) string {
	text := strings.Join(names, ", ")
	if more := n - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// completeRuns offers the ids of kept runs to the shell, newest first, each with its suite, for the
// first n arguments. If none fits, it offers files.
func (a *app) completeRuns(n int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= n {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		dir := a.stateDir()
		if f := cmd.Flags().Lookup("run-dir"); f != nil && f.Value.String() != "" {
			dir = f.Value.String()
		}
		runs, err := runfile.List(dir)
		if err != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		var list []cobra.Completion
		for _, r := range runs {
			if len(list) == maxCompleted || !strings.HasPrefix(r.ID, begun) {
				continue
			}
			header, _, err := runfile.Ends(r.Path)
			if err != nil {
				continue
			}
			list = append(list, cobra.CompletionWithDesc(r.ID, report.Line(header.Suite, 60)))
		}
		return list, cobra.ShellCompDirectiveKeepOrder
	}
}

// completeNames lets the shell complete run names wherever a command takes one: in arguments and
// flags whose help calls the value RUN.
func (a *app) completeNames(cmd *cobra.Command) {
	if n := strings.Count(cmd.Use, "RUN"); n > 0 && cmd.ValidArgsFunction == nil {
		if strings.Contains(cmd.Use, "RUN...") {
			n = math.MaxInt
		}
		cmd.ValidArgsFunction = a.completeRuns(n)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if value, _ := pflag.UnquoteUsage(f); value != "RUN" {
			return
		}
		// The only possible error is that the flag already has a function.
		_ = cmd.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return a.completeRuns(1)(cmd, nil, begun)
		})
	})
	for _, sub := range cmd.Commands() {
		a.completeNames(sub)
	}
}

// keyVariable holds the API key for proviso servers, and serverVariable the address of a server.
const (
	keyVariable    = client.KeyVariable
	serverVariable = "PROVISO_SERVER"
)

// fetchRun copies a run from a server into a temporary file and opens it.
func (a *app) fetchRun(ctx context.Context, name string) (*namedRun, error) {
	u, err := client.RunAddress(name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, client.Timeout)
	defer cancel()
	resp, err := a.client().Do(ctx, http.MethodGet, u.JoinPath("file"), nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	r := &namedRun{address: transport.URL(client.RunPage(u))}
	if r.fetched, err = os.MkdirTemp("", "proviso-fetched-"); err != nil {
		return nil, err
	}
	path := filepath.Join(r.fetched, "run.jsonl")
	if err = copyTo(path, resp.Body); err == nil {
		r.Reader, err = runfile.Open(path)
	}
	if err == nil {
		if _, cut := r.Damage(); cut || r.Trailer() == nil {
			err = errors.Join(proviso.Errorf(proviso.Unavailable, "the run arrived incomplete"), r.Reader.Close())
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", r.address, err), os.RemoveAll(r.fetched))
	}
	return r, nil
}

func copyTo(path string, from io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}
