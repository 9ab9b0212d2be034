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

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/client"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/internal/runfile"
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
			to, err := client.Address(args[1], project)
			if err != nil {
				return err
			}
			return a.push(cmd.Context(), dir, args[0], to.JoinPath("runs"))
		},
	}
	cmd.Flags().StringVar(&dir, "run-dir", "", "`FOLDER` of the kept runs (default $XDG_STATE_HOME/proviso/runs)")
	cmd.Flags().StringVar(&project, "project", "", "push to this `PROJECT`; needs a key with the scope admin (default that of the key)")
	return cmd
}

// push sends a run and prints its address.
func (a *app) push(ctx context.Context, dir, name string, to *url.URL) error {
	r, err := a.openRun(ctx, dir, name)
	if err != nil {
		return err
	}
	defer r.Close()
	if lines, cut := r.Damage(); lines > 0 || r.Trailer() == nil && cut {
		return proviso.Errorf(proviso.Invalid, "%s is damaged: %s unusable", r.Path(), plural.Of(lines+1, "line"))
	}
	if r.Trailer() == nil {
		id := r.Header().ID
		return proviso.Errorf(proviso.Invalid, "the run %s is unfinished; finish it with `proviso eval --resume=%s` and the flags of its first command, then push it", id, id)
	}
	body, in := io.Pipe()
	go func() { in.CloseWithError(writeRun(in, r.Reader)) }()
	data, err := a.client().Read(ctx, http.MethodPost, to, body)
	_ = body.Close() // ends the goroutine if the server did not read everything
	if err != nil {
		return err
	}
	var answer struct{ ID string }
	if err := json.Unmarshal(data, &answer); err != nil || answer.ID == "" || answer.ID != url.PathEscape(answer.ID) {
		return client.NotOfServer(to)
	}
	_, err = fmt.Fprintln(a.out, client.RunPage(to.JoinPath(answer.ID)))
	return err
}

// writeRun writes a run file with its rows in the order of their index.
func writeRun(to io.Writer, r *runfile.Reader) error {
	w := bufio.NewWriterSize(to, 64<<10)
	h := r.Header()
	h.Meta = h.Meta.Clone()
	h.Meta.Delete("folder") // the folder is on this machine
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
