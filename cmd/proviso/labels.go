package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/client"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/judge/align"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/files"
	"github.com/proviso-eval/proviso/store/sqldb"
)

// labelsFlags are the flags of the commands below labels.
type labelsFlags struct {
	dir, server, project string // location of the labels
	data                 storePlace

	run, by, queue string
	history        bool

	person string // of import: the person who filled in a sheet
}

func newLabels(a *app) *cobra.Command {
	return group("labels", "List, export and import the labels of people",
		"labels reads and writes what people said of outputs: beside the kept runs, where `proviso view` writes\n"+
			"it, in the database of a server (--store), or through a server (--server). `proviso align` and\n"+
			"`proviso spade label` read what export writes.",
		newLabelsExport(a), newLabelsImport(a), newLabelsList(a))
}

// place adds the flags for the location of labels.
func (f *labelsFlags) place(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dir, "run-dir", "", "`FOLDER` of the kept runs (default $XDG_STATE_HOME/proviso/runs)")
	f.data.register(cmd.Flags(), "the labels of a server")
	cmd.Flags().StringVar(&f.server, "server", "", "the labels on the server at `URL`; "+keyVariable+" holds the key")
	cmd.Flags().StringVar(&f.project, "project", "", "the labels of this `PROJECT` (default that of the key, or "+string(store.DefaultProject)+")")
}

// filter adds the flags that select labels.
func (f *labelsFlags) filter(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.run, "run", "", "only labels on the `RUN` with this id")
	cmd.Flags().StringVar(&f.by, "by", "", "only labels of this `PERSON`: the id of a key, or a name")
	cmd.Flags().StringVar(&f.queue, "queue", "", "only labels on items of this `QUEUE`")
	cmd.Flags().BoolVar(&f.history, "history", false, "labels that a later one of the same person replaced, too")
}

// inStore reports whether the labels are in the database of a server.
func (f *labelsFlags) inStore(a *app) bool {
	variable, _ := a.env.Lookup(storeVariable)
	return f.data.given() || variable != "" && f.dir == "" && f.server == ""
}

func (f *labelsFlags) check(a *app) error {
	switch {
	case given(f.dir, f.data.db+f.data.store, f.server) > 1:
		return usageError{fmt.Errorf("--run-dir, --store, --db and --server exclude each other"), "labels are in one place"}
	case f.project != "" && !f.inStore(a) && f.server == "":
		return usageError{fmt.Errorf("--project is for --store, --db and --server"), "labels beside kept runs have no project"}
	case f.project != "":
		if err := store.Project(f.project).Check(); err != nil {
			return err
		}
	}
	return f.data.check()
}

// labelsCommand returns a command that shows labels, oldest first.
func labelsCommand(a *app, use, short string, show func([]label.Label) error) *cobra.Command {
	f := &labelsFlags{}
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := a.readLabels(cmd.Context(), f)
			if err != nil {
				return err
			}
			return show(list)
		},
	}
	f.place(cmd)
	f.filter(cmd)
	return cmd
}

func newLabelsExport(a *app) *cobra.Command {
	return labelsCommand(a, "export", "Print labels as JSON Lines, the oldest first", func(list []label.Label) error {
		var text []byte
		for i := range list {
			text = label.AppendLine(text, &list[i])
		}
		_, err := a.out.Write(escaped(text))
		return proviso.WithCode(proviso.Unavailable, err)
	})
}

func newLabelsList(a *app) *cobra.Command {
	return labelsCommand(a, "list", "Show labels as a table, the newest first", a.showLabels)
}

// readLabels returns the labels that the flags select, oldest first.
func (a *app) readLabels(ctx context.Context, f *labelsFlags) ([]label.Label, error) {
	if err := f.check(a); err != nil {
		return nil, err
	}
	if f.server != "" {
		return a.fetchLabels(ctx, f)
	}
	var list []label.Label
	err := a.withLabels(ctx, f, sqldb.Reading, sqldb.ListLabels, func(kept store.ProjectStore) error {
		filter := store.LabelFilter{Run: f.run, By: f.by, Queue: f.queue, History: f.history}
		return store.Each(ctx, store.By(kept.ListLabels, filter), func(l *store.Label) error {
			list = append(list, l.Label)
			return nil
		})
	})
	slices.Reverse(list)
	return list, err
}

// showLabels prints a table, newest first.
func (a *app) showLabels(list []label.Label) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CREATED\tBY\tLABEL\tOF\tASSERTION\tJUDGE\tNOTE") // Flush returns the error
	for i := range slices.Backward(list) {
		l := &list[i]
		of := l.Evaluation
		if l.Run != "" {
			of = fmt.Sprintf("%s row %d", l.Run, l.Index)
		}
		cells := []string{l.Created.UTC().Format(time.DateTime), cmp.Or(l.Name, l.By), string(l.Verdict), of, cmp.Or(l.Assertion, "(output)"), cmp.Or(l.Judged, "-"), report.OneLine(l.Note)}
		for i := range cells {
			cells[i] = report.Line(printable(cells[i]), 60)
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "\t"), " "))
	}
	return proviso.WithCode(proviso.Unavailable, w.Flush())
}

// labelsStep is the number of labels per request.
const labelsStep = 2000

func newLabelsImport(a *app) *cobra.Command {
	f := &labelsFlags{}
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Add labels that were made elsewhere",
		Long: "import adds the labels of a FILE (- for standard input): what `proviso labels export` wrote, or a sheet of\n" +
			"`proviso align --template` that a person filled in, with --run and --by. Each label keeps its person and its\n" +
			"time. Importing a file again changes nothing. A label that the person replaced later is left out.",
		Args: someArgs("the file of labels is missing", 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.importLabels(cmd.Context(), f, args[0]) },
	}
	f.place(cmd)
	cmd.Flags().StringVar(&f.run, "run", "", "the `RUN` that a sheet is of, by its id")
	cmd.Flags().StringVar(&f.person, "by", "", "the `PERSON` who filled in a sheet")
	return cmd
}

func (a *app) importLabels(ctx context.Context, f *labelsFlags, name string) error {
	if err := f.check(a); err != nil {
		return err
	}
	lines, err := a.labelLines(f, name)
	if err != nil {
		return err
	}
	var n store.LabelImport
	if f.server != "" {
		n, err = a.sendLabels(ctx, f, lines)
	} else {
		err = a.withLabels(ctx, f, sqldb.Writing, sqldb.ImportLabels, func(kept store.ProjectStore) (err error) {
			n, err = store.ImportLabels(ctx, kept, lines, "")
			return err
		})
	}
	if err != nil && n == (store.LabelImport{}) {
		return err
	}
	text := fmt.Sprintf("added %s", plural.Of(n.Added, "label"))
	for _, x := range [...]struct {
		n   int
		why string
	}{{n.Known, "existed already"}, {n.Older, "were replaced by the person later"}, {n.Stale, "are for outputs that the run does not have"}, {n.Removed, "were removed"}} {
		if x.n > 0 {
			text += fmt.Sprintf(", %d %s", x.n, x.why)
		}
	}
	fmt.Fprintln(a.err, "proviso: "+text)
	return err
}

func (a *app) labelLines(f *labelsFlags, name string) ([]label.Line, error) {
	data, err := a.readInput(name, holdsAlignment)
	if err != nil {
		return nil, err
	}
	if f.run != "" || f.person != "" {
		return a.sheetLines(f, name, data)
	}
	lines, mistakes, err := label.ReadLines(shownName(name), bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if len(mistakes) > 0 {
		if !bytes.Contains(data[:min(len(data), 4096)], []byte(label.IDKey)) {
			return nil, usageError{fmt.Errorf("%s was not written by `proviso labels export`", shownName(name)), "for a sheet of `proviso align --template`, add --run and --by"}
		}
		return nil, a.mistakes(mistakes)
	}
	return lines, nil
}

// sheetLines reads a sheet that a person filled in. Label ids are derived from the content, so that
// a sheet can be imported again.
func (a *app) sheetLines(f *labelsFlags, name string, data []byte) ([]label.Line, error) {
	if f.run == "" || f.person == "" {
		return nil, usageError{errors.New("a sheet needs --run and --by: it does not say which run it is of, and who filled it in"), "add both"}
	}
	sheet, err := align.ReadLabels(shownName(name), bytes.NewReader(data))
	if err != nil {
		return nil, a.mistaken(err, nothingRun)
	}
	var lines []label.Line
	for i := range sheet.Rows {
		x := &sheet.Rows[i]
		if !x.Labelled {
			continue
		}
		if x.Row < 0 {
			return nil, proviso.Errorf(proviso.Invalid, "%s: the label of case %q has no row; only sheets with the column row can be imported", shownName(name), x.Case)
		}
		l := label.Label{Subject: label.Subject{Run: f.run, Index: x.Row, Assertion: x.Assertion}, Verdict: label.Verdict(x.Human.String()), Note: x.Note, By: f.person,
			Case: x.Case, OutputID: x.OutputID, Created: time.Now().UTC().Truncate(time.Microsecond)}
		l.ID = store.ContentID(store.LabelID, sha256.Sum256([]byte(strings.Join([]string{l.Run, fmt.Sprint(l.Index), l.Assertion, l.By, string(l.Verdict), l.Note}, "\x00"))))
		if err := l.Check(); err != nil {
			return nil, err
		}
		lines = append(lines, label.Line{Number: i + 1, Label: l})
	}
	return lines, nil
}

// withLabels opens the labels beside the kept runs, or those of a database with the access that a
// command needs.
func (a *app) withLabels(ctx context.Context, f *labelsFlags, access sqldb.Access, uses []sqldb.Use, do func(store.ProjectStore) error) error {
	if !f.inStore(a) {
		s, err := files.Open(cmp.Or(f.dir, a.stateDir()), files.Options{})
		if err != nil {
			return err
		}
		return errors.Join(do(s.In(store.DefaultProject)), s.Close())
	}
	place, err := f.data.of(a)
	if err != nil {
		return err
	}
	return withStore(ctx, place, sqldb.Options{Access: access, Uses: uses}, func(db openedStore) error {
		return do(db.In(cmp.Or(store.Project(f.project), store.DefaultProject)))
	})
}

func labelsAddress(f *labelsFlags) (*url.URL, error) {
	u, err := client.Address(f.server, f.project)
	if err != nil {
		return nil, err
	}
	return u.JoinPath("labels", "file"), nil
}

// fetchLabels reads labels from a server.
func (a *app) fetchLabels(ctx context.Context, f *labelsFlags) ([]label.Label, error) {
	u, err := labelsAddress(f)
	if err != nil {
		return nil, err
	}
	u = client.With(u, "run", f.run, "by", f.by, "queue", f.queue)
	if f.history {
		u = client.With(u, "history", "yes")
	}
	resp, err := a.client().Do(ctx, http.MethodGet, u, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body := &io.LimitedReader{R: resp.Body, N: maxInput + 1}
	lines, mistakes, err := label.ReadLines(transport.URL(u), body)
	if err != nil {
		return nil, err
	}
	if body.N == 0 {
		return nil, proviso.Errorf(proviso.Limit, "%s: the answer has more than %d MiB; ask for the labels of one run or person", transport.URL(u), maxInput>>20)
	}
	if len(mistakes) > 0 {
		return nil, proviso.Errorf(proviso.Unavailable, "%s: the answer is not a file of labels: %s", transport.URL(u), mistakes[0].Message)
	}
	list := make([]label.Label, len(lines))
	for i := range lines {
		list[i] = lines[i].Label
	}
	return list, nil
}

// sendLabels sends labels to a server, labelsStep at a time.
func (a *app) sendLabels(ctx context.Context, f *labelsFlags, lines []label.Line) (all store.LabelImport, err error) {
	u, err := labelsAddress(f)
	if err != nil {
		return all, err
	}
	for part := range slices.Chunk(lines, labelsStep) {
		var text []byte
		for i := range part {
			if line := &part[i]; line.Removed {
				text = label.AppendRemoval(text, line.Label.ID)
			} else {
				text = label.AppendLine(text, &line.Label)
			}
		}
		data, err := a.client().Read(ctx, http.MethodPost, u, bytes.NewReader(text))
		if err != nil {
			return all, err
		}
		var n store.LabelImport
		if json.Unmarshal(data, &n) != nil {
			return all, client.NotOfServer(u)
		}
		all.Added, all.Known, all.Older, all.Stale, all.Removed = all.Added+n.Added, all.Known+n.Known, all.Older+n.Older, all.Stale+n.Stale, all.Removed+n.Removed
	}
	return all, nil
}
