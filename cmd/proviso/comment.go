package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/forge"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/report"
)

// Limits of the inputs of a comment, in bytes.
const (
	maxArtifact = 8 << 20
	maxEvent    = 32 << 20 // the event of a job, which GitHub writes
)

// commentTime limits the time for a comment, including the waits that a forge asks for.
const commentTime = 10 * time.Minute

const holdsReport = "a report in Markdown"

// commentFlags name the change request if the environment does not.
type commentFlags struct {
	suite, forge, repository, api string
	number                        int
	print                         bool
}

func newComment(a *app) *cobra.Command {
	var f commentFlags
	cmd := &cobra.Command{
		Use:   "comment FILE",
		Short: "Post a report as a comment on a pull request or merge request",
		Long: "comment posts a report in Markdown on the pull request or merge request of a CI\n" +
			"job, and updates the same comment the next time. The file may come from a job that is\n" +
			"not trusted: it is bounded and escaped, and the number of the pull request comes\n" +
			"from the environment of this job.",
		Args: someArgs("expected a file with "+holdsReport, 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := a.readReport(args[0])
			if err != nil {
				return err
			}
			if f.print {
				_, err := io.WriteString(a.out, forge.Cut(text, forge.SummaryLimit, func(s string) int { return len(s) }))
				return err
			}
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), commentTime, proviso.Errorf(proviso.Timeout, "the comment took longer than %v", commentTime))
			defer cancel()
			return a.comment(ctx, &f, text)
		},
	}
	cmd.Flags().StringVar(&f.suite, "suite", "", "`NAME` of the suite; each suite has its own comment")
	cmd.Flags().BoolVar(&f.print, "print", false, "print the comment and send nothing, for a job summary")
	cmd.Flags().StringVar(&f.forge, "forge", "", "outside CI: `NAME` of the forge, github or gitlab")
	cmd.Flags().StringVar(&f.repository, "repository", "", "`OWNER/NAME` of the repository")
	cmd.Flags().IntVar(&f.number, "number", 0, "`N` of the pull or merge request; never from an untrusted file")
	cmd.Flags().StringVar(&f.api, "api", "", "`URL` of the API of the forge")
	return cmd
}

// readReport reads a report that a stranger may have written.
func (a *app) readReport(name string) (string, error) {
	data, err := a.readBounded(name, holdsReport, maxArtifact)
	switch {
	case err != nil:
		return "", err
	case len(bytes.TrimSpace(data)) == 0:
		return "", proviso.Errorf(proviso.Invalid, "%s is empty; expected %s", name, holdsReport)
	case json.Valid(data):
		return "", proviso.Errorf(proviso.Invalid, "%s is JSON; expected %s, as --markdown of proviso gate writes it", name, holdsReport)
	case bytes.IndexByte(data, 0) >= 0:
		return "", proviso.Errorf(proviso.Invalid, "%s is not text; expected %s", name, holdsReport)
	}
	return report.UntrustedMarkdown(string(data)), nil
}

// place finds the change request. Flags take precedence over the environment.
func (a *app) place(f *commentFlags) (forge.Place, error) {
	var event []byte
	if path, ok := a.env.Lookup("GITHUB_EVENT_PATH"); ok && path != "" {
		file, err := os.Open(path)
		if err != nil {
			return forge.Place{}, proviso.Errorf(proviso.NotFound, "GITHUB_EVENT_PATH: %w", err)
		}
		defer file.Close()
		if event, err = io.ReadAll(io.LimitReader(file, maxEvent+1)); err != nil {
			return forge.Place{}, proviso.Errorf(proviso.Unavailable, "GITHUB_EVENT_PATH: %w", err)
		}
		if len(event) > maxEvent {
			return forge.Place{}, proviso.Errorf(proviso.Limit, "GITHUB_EVENT_PATH: the file has more than %d bytes", maxEvent)
		}
	}
	p, err := forge.Detect(a.env, event)
	if err != nil {
		return p, err
	}
	if f.forge != "" && f.forge != p.Forge {
		p = forge.Place{Forge: f.forge}
	}
	if p.Forge == "" {
		return p, usageError{err: errors.New("this is not a job of GitHub Actions or GitLab CI"), hint: "name the pull request with --forge, --repository and --number"}
	}
	p.Repository, p.API = cmp.Or(f.repository, p.Repository), cmp.Or(f.api, p.API)
	p.Number = cmp.Or(f.number, p.Number)
	return p, nil
}

// comment posts a report, with everything untrusted escaped, to the change request of this job, and
// prints the result.
func (a *app) comment(ctx context.Context, f *commentFlags, text string) error {
	a.secrets.AddEnv(a.env)
	place, err := a.place(f)
	if err != nil {
		return err
	}
	token, err := forge.Token(a.env, place.Forge)
	if err != nil {
		return err
	}
	t, err := forge.Open(place, forge.Options{Network: transport.New(transport.Options{Env: a.env, HeaderTimeout: time.Minute}), Token: token})
	if err != nil {
		return err
	}
	posted, err := t.Upsert(ctx, forge.Comment{Key: f.suite, Body: text, Footer: place.Footer()})
	if errors.Is(err, forge.ErrMoved) {
		fmt.Fprintf(a.err, "proviso: no comment: %s\n", err)
		return nil
	}
	if err != nil {
		return proviso.WithCode(proviso.Unavailable, err)
	}
	if posted.Edited {
		a.warn("somebody edited the comment; the edit is overwritten")
	}
	if posted.Removed > 0 {
		verb := map[bool]string{true: "was", false: "were"}[posted.Removed == 1]
		a.warn(fmt.Sprintf("%s of this suite %s removed; two jobs may have written them at the same time", plural.Of(posted.Removed, "further comment"), verb))
	}
	if posted.Cut {
		a.warn("the comment is cut, because " + place.Forge + " accepts no longer ones; the report of the job is complete")
	}
	text = fmt.Sprintf("proviso: the comment on request %d is %s", posted.Number, became(posted.Action))
	if posted.URL != "" {
		text += ": " + posted.URL
	}
	fmt.Fprintln(a.err, printable(text))
	return nil
}

func became(action forge.Action) string {
	switch action {
	case forge.Unchanged:
		return "unchanged"
	case forge.Superseded:
		return "from a later run, and is not changed"
	}
	return string(action)
}
