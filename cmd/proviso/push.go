package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/report"
)

func newPush(a *app) *cobra.Command {
	var dir, project string
	cmd := &cobra.Command{
		Use:   "push RUN URL",
		Short: "Upload a kept run to a server and print the address of its page",
		Long: "push uploads a finished run to a proviso server (URL, such as https://eval.example.com) and\n" +
			"prints the address of its page there, which every command that takes a run accepts. Pushing it again gives\n" +
			"the same address. The environment variable " + keyVariable + " holds an API key with the scope edit.\n\n" + runNames,
		Args: func(cmd *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				return usageError{err: errors.New("the run and the URL of the server are missing"), hint: seeHelp(cmd)}
			case 1:
				return usageError{err: errors.New("the URL of the server is missing"), hint: seeHelp(cmd)}
			}
			return atMost(2)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			to, err := pushAddress(args[1], project)
			if err != nil {
				return err
			}
			return a.push(cmd.Context(), dir, args[0], to)
		},
	}
	cmd.Flags().StringVar(&dir, "run-dir", "", "`FOLDER` of the kept runs (default $XDG_STATE_HOME/proviso/runs)")
	cmd.Flags().StringVar(&project, "project", "", "push to this `PROJECT`; needs a key with the scope admin (default that of the key)")
	return cmd
}

// pushAddress returns where runs are sent to, from the address of a server.
func pushAddress(text, project string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || !isAddress(text) || u.Host == "" {
		const hint = "write it with its scheme, such as https://eval.example.com"
		if scheme, _, is := strings.Cut(text, "://"); is && !isAddress(text) { // a password may stand anywhere behind it
			return nil, usageError{fmt.Errorf("a URL with the scheme %q is not that of a server", report.Line(scheme, 20)), hint}
		}
		return nil, usageError{fmt.Errorf("%q is not the URL of a server", proviso.RedactedURL(text)), hint}
	}
	if u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, usageError{errors.New("the URL of a server has no query and no password"), "the key is in " + keyVariable}
	}
	base := strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), pagesPath) // of the API, or of the pages
	u.Path = strings.TrimSuffix(base, apiPath) + runsPath
	if project != "" {
		u.RawQuery = url.Values{"project": {project}}.Encode()
	}
	return u, nil
}

// push sends a run and prints where it is.
func (a *app) push(ctx context.Context, dir, name string, to *url.URL) error {
	r, err := a.openRun(ctx, dir, name)
	if err != nil {
		return err
	}
	defer r.Close()
	if lines, cut := r.Damage(); lines > 0 || r.Trailer() == nil && cut {
		return proviso.Errorf(proviso.Invalid, "%s is damaged: %s unusable", r.Path(), plural(lines+1, "line"))
	}
	if r.Trailer() == nil {
		id := r.Header().ID
		return proviso.Errorf(proviso.Invalid, "the run %s is unfinished; finish it with `proviso eval --resume=%s` and the flags of its first command, then push it", id, id)
	}
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	body, in := io.Pipe()
	go func() { in.CloseWithError(writeRun(in, r.Reader)) }()
	resp, err := a.askServer(ctx, http.MethodPost, to, body)
	_ = body.Close() // ends the goroutine if the server did not read all
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusCreated && resp.StatusCode != http.StatusOK {
		return refusal(to, resp)
	}
	var answer struct{ ID string }
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	if err == nil {
		err = json.Unmarshal(data, &answer)
	}
	if err != nil || answer.ID == "" || answer.ID != url.PathEscape(answer.ID) {
		return proviso.Errorf(proviso.Unavailable, "%s: the answer has no id of a run", transport.URL(to))
	}
	_, err = fmt.Fprintln(a.out, runPage(to.JoinPath(answer.ID)))
	return err
}

// writeRun writes a run file with its rows in the order of their index.
func writeRun(to io.Writer, r *runfile.Reader) error {
	w := bufio.NewWriterSize(to, 64<<10)
	h := r.Header()
	h.Meta = h.Meta.Clone()
	h.Meta.Delete("folder") // of this machine
	w.Write(h.Line())       // the writer keeps its first error
	for _, row := range r.Rows() {
		w.Write(row)
		w.WriteByte('\n')
	}
	if err := r.Err(); err != nil {
		return err
	}
	w.Write(runfile.TrailerLine(r.Trailer()))
	return w.Flush()
}
