package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/client"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/judge/align"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store/files"
)

// viewCommand holds the flags of view.
type viewCommand struct {
	dir    string
	addr   string
	noOpen bool
}

func newView(a *app) *cobra.Command {
	f := &viewCommand{}
	cmd := &cobra.Command{
		Use:   "view [RUN|FOLDER]",
		Short: "Show kept runs in the browser",
		Long: "view shows the runs that eval kept in the browser: all of them, those of a FOLDER, or one RUN. New\n" +
			"results of a running run appear without a reload. view needs no key. It writes labels of people to\n" +
			"labels.jsonl beside the runs, and changes nothing else. Only this machine can connect: the link that\n" +
			"view prints works once, in one browser. Ctrl-C stops view.\n\n" + runNames + "\n\n" +
			"Exit codes: 0 stopped by a signal, 2 there is no such run, or a mistake in the command line, 3 the\n" +
			"address cannot be used.",
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.view(cmd.Context(), f, argument(args)) },
	}
	cmd.Flags().StringVar(&f.dir, "run-dir", "", "`FOLDER` of the kept runs (default $XDG_STATE_HOME/proviso/runs)")
	cmd.Flags().StringVar(&f.addr, "addr", "", "listen on `ADDRESS`:PORT of this machine (default 127.0.0.1 and a free port)")
	cmd.Flags().BoolVar(&f.noOpen, "no-open", false, "print the link, and open no browser")
	return cmd
}

// shown is the data that view shows.
type shown struct {
	store *files.Store
	name  string // name of the folder or the file, for people
	page  string // page that is opened
	end   func() error
}

func (a *app) view(ctx context.Context, f *viewCommand, name string) error {
	if f.addr != "" {
		if err := checkAddr("--addr", f.addr, "see `proviso view --help`"); err != nil {
			return err
		}
		if !isLoopback(f.addr) {
			return usageError{fmt.Errorf("--addr %s can be reached by other machines; view serves this machine only", f.addr), "`proviso serve` serves other machines, with keys"}
		}
	}
	what, err := a.shownBy(ctx, f.dir, name)
	if err != nil {
		return err
	}
	return errors.Join(a.serveView(ctx, f, what), what.store.Close(), what.end())
}

// serveView serves until ctx ends.
func (a *app) serveView(ctx context.Context, f *viewCommand, what *shown) error {
	l, err := listen(ctx, cmp.Or(f.addr, "127.0.0.1:0"), "without --addr, view takes a free port")
	if err != nil {
		return err
	}
	token := rand.Text()
	link := url.URL{Scheme: "http", Host: l.Addr().String(), Path: what.page, RawQuery: url.Values{"token": {token}}.Encode()}
	s, err := server.New(server.Options{
		Store: what.store, Judge: noJudge{}, Version: versionName(), Env: a.env,
		OpenToken: token, Hosts: []string{"localhost"}, Folder: what.name, Alignment: filepath.Join(alignmentFolder(""), align.File),
		JudgeErrors: a.judgeErrors,
		Log:         slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: slog.LevelError})),
		StopTimeout: viewStop,
		Ready: func() {
			fmt.Fprintf(a.err, "proviso: showing %s; Ctrl-C stops\n", printable(what.name))
			fmt.Fprintln(a.out, link.String())
			if !f.noOpen {
				a.openBrowser(ctx, link.String())
			}
		},
	})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	if err := s.Serve(ctx, l); err != nil && ctx.Err() == nil {
		return err
	}
	return nil // cutting off requests loses nothing
}

// shownBy finds the data that a name stands for; "" means all runs in the folder dir.
func (a *app) shownBy(ctx context.Context, dir, name string) (*shown, error) {
	if client.IsAddress(name) {
		return a.shownAddress(ctx, name)
	}
	dir = cmp.Or(dir, a.stateDir())
	if info, err := os.Stat(name); name != "" && err == nil && info.IsDir() {
		if _, err := os.Lstat(filepath.Join(name, runfile.FileName)); err != nil {
			return shownFolder(name, "/", proviso.Errorf(proviso.NotFound,
				"the folder %s holds no run: expected %s in it, or folders of runs as `proviso eval` keeps them", name, runfile.FileName))
		}
	}
	path, err := findRun(dir, name)
	if name == "" {
		return shownFolder(dir, "/", err)
	}
	if err != nil {
		return nil, err
	}
	folder := path
	if filepath.Base(path) == runfile.FileName {
		folder = filepath.Dir(path)
	}
	// A run in the usual place of kept runs is shown among the others.
	if folder, err := filepath.Abs(folder); err == nil && runfile.IsID(filepath.Base(folder)) {
		if _, ok := runfile.Find(filepath.Dir(folder), filepath.Base(folder)); ok {
			return shownFolder(filepath.Dir(folder), "/runs/"+filepath.Base(folder), nil)
		}
	}
	if folder == path {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path = filepath.Join(path, runfile.FileName)
		}
	}
	return shownFile(path, path, files.Options{File: path})
}

// shownFolder shows a folder of runs. none is the error for a folder without runs.
func shownFolder(dir, page string, none error) (*shown, error) {
	s, err := files.Open(dir, files.Options{})
	if err != nil {
		return nil, err
	}
	ids, err := s.IDs()
	if err == nil && len(ids) == 0 && none != nil {
		err = none
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &shown{store: s, name: dir, page: page, end: func() error { return nil }}, nil
}

// shownFile shows the run of one file.
func shownFile(path, name string, o files.Options) (*shown, error) {
	s, err := files.Open("", o)
	if err != nil {
		return nil, err
	}
	ids, err := s.IDs()
	if err == nil && len(ids) == 0 {
		err = proviso.Errorf(proviso.NotFound, "%s no longer exists", path)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &shown{store: s, name: name, page: "/runs/" + ids[0], end: func() error { return nil }}, nil
}

// shownAddress shows a copy of a run on a server, and removes the copy at the end.
func (a *app) shownAddress(ctx context.Context, name string) (*shown, error) {
	r, err := a.fetchRun(ctx, name)
	if err != nil {
		return nil, err
	}
	what, err := shownFile(r.Path(), r.address, files.Options{File: r.Path(), ReadOnly: true}) // the copy will be removed
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	what.end = r.Close
	return what, nil
}

// noJudge evaluates nothing.
type noJudge struct{}

// Evaluate implements [server.Evaluator].
func (noJudge) Evaluate(context.Context, *judge.Request) (*judge.Response, error) {
	return nil, proviso.Errorf(proviso.Refused, "proviso view only shows runs; `proviso serve` evaluates")
}

// Identity implements [server.Evaluator].
func (noJudge) Identity() string { return "" }

// viewStop limits the time for open requests when view ends.
const viewStop = 2 * time.Second

// browser returns the command that opens a URL in this system's browser; nil if the browser could
// not be seen here, as without a display or over SSH.
func (a *app) browser(link string) []string {
	has := func(names ...string) bool {
		for _, name := range names {
			if v, _ := a.env.Lookup(name); v != "" {
				return true
			}
		}
		return false
	}
	display := has("DISPLAY", "WAYLAND_DISPLAY")
	switch {
	case !display && has("SSH_CONNECTION", "SSH_TTY"):
		return nil
	case runtime.GOOS == "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", link}
	case runtime.GOOS == "darwin":
		return []string{"open", link}
	case display:
		return []string{"xdg-open", link}
	}
	return nil
}

// openBrowser opens a URL without waiting. The URL was already printed.
func (a *app) openBrowser(ctx context.Context, link string) {
	command := a.browser(link)
	if command == nil {
		return
	}
	go func() {
		cmd := exec.Command(command[0], command[1:]...) // the browser itself may outlive view
		if err := cmd.Run(); err != nil && ctx.Err() == nil {
			a.warn("no browser was opened (" + command[0] + ": " + err.Error() + "); open the link above")
		}
	}()
}
