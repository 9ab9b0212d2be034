package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/literal"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/spade/classify"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/hub"
	"github.com/proviso-eval/proviso/spade/show"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/suite"
)

// spadeSource selects the source of a prompt's versions.
type spadeSource struct {
	git, suite, hub string
}

func (s *spadeSource) register(fs *pflag.FlagSet) {
	fs.StringVar(&s.git, "git", "", "read the versions from the git history of `FILE`, or of FILE:NAME: of the text that a program or a YAML file gives a name")
	fs.StringVar(&s.hub, "hub", "", "read the commits of the prompt `OWNER/NAME` from the hub of LangSmith; the key is in "+hubKeys[0])
	fs.StringVar(&s.suite, "suite", "", "read the versions from the prompts of the suite `FILE`, oldest first")
}

// check requires exactly one source.
func (s *spadeSource) check(cmd *cobra.Command, args []string) error {
	switch n := len(args) + given(s.git, s.suite, s.hub); {
	case n == 0:
		return usageError{errors.New("no versions of a prompt"), "name a folder or a file of them, or give --git FILE, --suite FILE or --hub OWNER/NAME; " + seeHelp(cmd)}
	case n > 1:
		return usageError{errors.New("several sources of versions"), "give one: a folder or file, --git, --suite or --hub"}
	}
	return nil
}

// spadeDeltas holds the flags of spade deltas.
type spadeDeltas struct {
	spadeSource
	spadeAsking
	result   resultFlags
	all      bool
	classify bool
	rules    bool
	against  string
}

func newSpadeDeltas(a *app) *cobra.Command {
	f := &spadeDeltas{}
	cmd := &cobra.Command{
		Use:   "deltas [FOLDER|FILE]",
		Short: "Show what each version of a prompt added, removed and moved",
		Long: "deltas reads the versions of a prompt and shows which sentences each version added,\n" +
			"removed or moved. The versions come from one of these:\n\n" +
			"  FOLDER       a file for each version, in the order of their names (v2 before v10)\n" +
			"  FILE.jsonl   a line for each version: {\"version\": 1, \"template\": \"…\"}\n" +
			"  FILE.json    a list of such versions, chat messages, or what Langfuse, LangSmith, PromptLayer\n" +
			"               or OpenAI exports; FILE:NAME chooses one of several prompts\n" +
			"  FILE.py:NAME the text that Python, TypeScript, JavaScript or YAML gives a name\n" +
			"  --git FILE   the content of FILE, or of FILE:NAME, in each commit; renames are followed\n" +
			"  --suite FILE the prompts of a suite\n" +
			"  --hub NAME   the commits of a prompt in the hub of LangSmith\n\n" +
			"The output of --format json or jsonl is valid input, too.\n\n" +
			"With --classify, a model assigns each change to a category of the taxonomy, or rules do with\n" +
			"--rules. With --against, changes that people have labelled are classified, and the agreement\n" +
			"with them is printed.",
		Args:    atMost(1),
		PreRunE: func(cmd *cobra.Command, args []string) error { return f.check(cmd, args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.against != "" {
				return a.spadeAgainst(cmd.Context(), f)
			}
			return a.spadeDeltas(cmd.Context(), f, args)
		},
	}
	f.spadeSource.register(cmd.Flags())
	f.spadeAsking.register(cmd.Flags(), "classifies")
	cmd.Flags().BoolVar(&f.classify, "classify", false, "ask a model for the category of every change")
	cmd.Flags().BoolVar(&f.rules, "rules", false, "with --classify: by rules, without a model")
	cmd.Flags().StringVar(&f.against, "against", "", "with --classify: compare with the labelled changes of `FILE` (JSON Lines: diff, ground_truth); without --classify, compare the predictions in the file")
	f.result.register(cmd.Flags(), formatJSON, formatJSONL, formatMarkdown)
	cmd.Flags().BoolVar(&f.all, "all", false, "on the terminal, show every change in full, and unchanged sentences")
	return cmd
}

// check rejects flags that exclude each other.
func (f *spadeDeltas) check(cmd *cobra.Command, args []string) error {
	f.result.find()
	if err := f.spadeAsking.check(); err != nil {
		return err
	}
	switch {
	case f.rules && !f.classify:
		return usageError{errors.New("--rules is for --classify"), seeHelp(cmd)}
	case f.rules && f.model != "":
		return usageError{errors.New("--rules and --model exclude each other"), seeHelp(cmd)}
	case f.against == "":
		if f.model != "" && !f.classify {
			return usageError{errors.New("--model is for --classify"), seeHelp(cmd)}
		}
		return f.spadeSource.check(cmd, args)
	case len(args) > 0 || f.git != "" || f.spadeSource.suite != "" || f.hub != "":
		return usageError{errors.New("--against reads labelled changes, and no versions beside them"), seeHelp(cmd)}
	case f.result.format == formatJSONL || f.result.format == formatMarkdown:
		return usageError{errors.New("a comparison is not written as JSON Lines or Markdown"), "valid: terminal, json"}
	}
	return nil
}

func (a *app) spadeDeltas(ctx context.Context, f *spadeDeltas, args []string) error {
	h, err := a.history(ctx, &f.spadeSource, args)
	if err != nil {
		return err
	}
	var classes []classify.Classified
	failed := error(nil)
	if f.classify {
		if classes, failed = a.classes(ctx, f, h.Changes); classes == nil {
			return failed
		}
	}
	var data []byte
	switch f.result.format {
	case formatJSON:
		data, err = h.JSON(classify.ClassesOf(classes))
	case formatJSONL:
		data, err = h.JSONL(classify.ClassesOf(classes))
	case formatMarkdown:
		data = show.HistoryMarkdown(h, classify.ClassesOf(classes))
	default:
		data = show.History(h, classify.ClassesOf(classes), f.result.screen(a), f.all)
	}
	if err != nil {
		return err
	}
	if err := a.result(f.result.out, data); err != nil {
		return err
	}
	return failed
}

// history reads the versions, compares them, and prints notes for the user.
func (a *app) history(ctx context.Context, s *spadeSource, args []string) (*delta.History, error) {
	versions, err := a.versions(ctx, s, args)
	if err != nil {
		return nil, err
	}
	h, err := delta.HistoryOf(versions)
	if err != nil {
		return nil, err
	}
	for _, skip := range h.Skipped {
		fmt.Fprintf(a.err, "proviso: %s says the same as version %d; left out\n", printable(skip.Name), skip.Same)
	}
	return h, nil
}

func (a *app) versions(ctx context.Context, s *spadeSource, args []string) ([]delta.Version, error) {
	switch {
	case s.git != "":
		return a.gitVersions(ctx, s.git)
	case s.suite != "":
		return a.suiteVersions(ctx, s.suite)
	case s.hub != "":
		return a.hubVersions(ctx, s.hub)
	}
	name := args[0]
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		list, notes, err := delta.ReadFolder(name, func(name string) ([]byte, error) { return a.readInput(name, holdsVersions) })
		return a.noted(list, notes, err)
	}
	return a.fileVersions(name)
}

func (a *app) fileVersions(name string) ([]delta.Version, error) {
	name, part := delta.SplitPart(name, existing)
	data, err := a.readInput(name, holdsVersions)
	if err != nil {
		return nil, err
	}
	if err := wrongPlace(name, part, data); err != nil {
		return nil, err
	}
	versions, notes, mistakes := delta.ReadPart(shownName(name), part, data)
	return a.noted(versions, notes, mistakes.Err())
}

// wrongPlace rejects a file that is not a version of a prompt: a table of outputs, and a program
// without the name of the variable that holds the prompt.
func wrongPlace(name, part string, data []byte) error {
	if part != "" {
		return nil
	}
	if names := literal.Names(name, string(data)); len(names) > 0 {
		return usageError{fmt.Errorf("%s is a program; name the text in it that is the prompt", name), fmt.Sprintf("for instance %s:%s", name, promptName(names))}
	}
	if strings.EqualFold(filepath.Ext(name), ".csv") && trial.HoldsOutputs(data) {
		return usageError{fmt.Errorf("%s holds outputs, and no versions of a prompt", name), "give it with --examples, and the versions of the prompt in its place"}
	}
	return nil
}

// promptName returns the name that most probably belongs to a prompt.
func promptName(names []string) string {
	for _, n := range names {
		if strings.Contains(strings.ToLower(n), "prompt") {
			return n
		}
	}
	return names[0]
}

// existing reports whether a file exists.
func existing(name string) bool {
	_, err := os.Stat(name)
	return err == nil || name == "-"
}

// noted prints the notes on versions, and their mistakes.
func (a *app) noted(list []delta.Version, notes []string, err error) ([]delta.Version, error) {
	for _, note := range notes {
		fmt.Fprintf(a.err, "proviso: %s\n", printable(note))
	}
	return list, a.mistaken(err, nothingRun)
}

func (a *app) gitVersions(ctx context.Context, file string) ([]delta.Version, error) {
	file, part := delta.SplitPart(file, existing)
	if data, err := os.ReadFile(file); err == nil {
		if err := wrongPlace(file, part, data); err != nil {
			return nil, err
		}
	}
	list, notes, err := delta.ReadGit(ctx, file, part)
	var mistakes proviso.Mistakes
	switch {
	case err == nil || errors.As(err, &mistakes):
		return a.noted(list, notes, err)
	case ctx.Err() != nil:
		return nil, a.orStopped(ctx, err)
	}
	near := ""
	if _, gone := os.Stat(file); os.IsNotExist(gone) {
		near = nearFile(file)
	}
	return nil, proviso.Errorf(proviso.NotFound, "%w%s", err, near)
}

// suiteVersions returns the prompts of a suite as versions.
func (a *app) suiteVersions(ctx context.Context, file string) ([]delta.Version, error) {
	s, mistakes := suite.Read(ctx, []string{file}, suite.Options{Env: a.env, Facts: engine.Facts()})
	if err := a.mistakes(inOrder(mistakes)); err != nil {
		return nil, err
	}
	list, notes := delta.OfSuite(s)
	return a.noted(list, notes, nil)
}

// The environment variables of LangSmith, the newer name first.
var (
	hubKeys    = [...]string{"LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"}
	hubServers = [...]string{"LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT"}
)

// hubVersions reads the commits of a prompt from LangSmith's hub. It connects only to the hub.
func (a *app) hubVersions(ctx context.Context, prompt string) ([]delta.Version, error) {
	owner, name, err := hub.Name(prompt)
	if err != nil {
		return nil, err
	}
	first := func(names [2]string) (value, variable string) {
		for _, n := range names {
			if v, ok := a.env.Lookup(n); ok && v != "" {
				return v, n
			}
		}
		return "", names[0]
	}
	key, keyOf := first(hubKeys)
	server, serverOf := first(hubServers)
	server = cmp.Or(server, hub.Server)
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && !(u.Scheme == "http" && transport.ThisMachine(u.Hostname())) {
		return nil, proviso.Errorf(proviso.Invalid, "%s is %q; an https:// address is expected", serverOf, proviso.RedactedURL(server))
	}
	host := strings.ToLower(u.Hostname())
	network := transport.New(transport.Options{Env: a.env, Hosts: func(asked string) bool { return asked == host }})
	defer network.CloseIdleConnections()
	data, err := hub.Read(ctx, hub.Options{Client: network.Client(), Server: server, Key: key, KeyOf: keyOf}, owner, name)
	if err != nil {
		return nil, a.orStopped(ctx, err)
	}
	list, notes, mistakes := delta.ReadPart("hub "+owner+"/"+name+".json", "", data)
	return a.noted(list, notes, mistakes.Err())
}
