package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/sqldb"
)

// storeExport writes the data of projects as files.
type storeExport struct {
	place    storePlace
	projects []string
	events   bool
	keyEnv   string
}

func newStoreExport(a *app) *cobra.Command {
	var f storeExport
	cmd := &cobra.Command{
		Use:   "export FOLDER",
		Short: "Write the data of projects as JSON Lines, and runs as run files",
		Long: "export writes a folder for each project: documents.jsonl (suites, assertion sets and datasets\n" +
			"with all versions), runs.jsonl and a run file for each run that has ended, evaluations.jsonl,\n" +
			"labels.jsonl, replaced-labels.jsonl, label-queues.jsonl, label-items.jsonl, watches.jsonl,\n" +
			"alarms.jsonl and keys.jsonl, which has no secrets; with --events also events.jsonl,\n" +
			"feedback.jsonl and verdicts.jsonl. Others may write meanwhile; each file is of the time when\n" +
			"it is written.",
		Args: someArgs("the folder is missing", 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.exportStore(cmd.Context(), &f, args[0]) },
	}
	f.place.register(cmd.Flags(), "the data of the server")
	cmd.Flags().StringArrayVar(&f.projects, "project", nil, "only this `PROJECT`; may be repeated (default all)")
	cmd.Flags().BoolVar(&f.events, "events", false, "write events of production, thumbs and verdicts, too")
	cmd.Flags().StringVar(&f.keyEnv, "content-key-env", "", "open the texts of events with the key in the variable `NAME`, as for `proviso serve`")
	return cmd
}

func (a *app) exportStore(ctx context.Context, f *storeExport, folder string) error {
	if list, err := os.ReadDir(folder); err == nil && len(list) > 0 {
		return proviso.Errorf(proviso.Invalid, "the folder %s is not empty", folder)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return proviso.Errorf(proviso.Invalid, "the folder: %w", err)
	}
	key, err := (&serveCommand{traffic: serveTraffic{keyEnv: f.keyEnv}}).contentKey(a.env)
	if err != nil {
		return err
	}
	place, err := f.place.of(a)
	if err != nil {
		return err
	}
	return withStore(ctx, place, sqldb.Options{ContentKey: key, Access: sqldb.Reading}, func(db openedStore) error {
		if f.events {
			if err := db.CheckContentKey(); err != nil {
				return fmt.Errorf("--content-key-env: %w", err)
			}
		}
		return a.exportProjects(ctx, f, db, folder)
	})
}

func (a *app) exportProjects(ctx context.Context, f *storeExport, db store.Store, folder string) error {
	projects, err := db.Projects(ctx)
	if err != nil {
		return err
	}
	if len(f.projects) > 0 {
		projects = nil
		for _, p := range f.projects {
			if err := store.Project(p).Check(); err != nil {
				return err
			}
			projects = append(projects, store.Project(p))
		}
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return coded(err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return coded(err)
	}
	defer root.Close()
	for _, p := range projects {
		x := exporting{ctx: ctx, root: root, project: string(p), of: db, in: db.In(p)}
		if err := root.MkdirAll(path.Join(x.project, "runs"), 0o700); err != nil {
			return coded(err)
		}
		counts, err := x.all(f.events)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(a.out, "%s: %s\n", p, strings.Join(counts, ", ")); err != nil {
			return err
		}
	}
	return nil
}

// exporting writes one project. It holds a page of a list at a time.
type exporting struct {
	ctx     context.Context
	root    *os.Root
	project string
	of      store.Keys
	in      store.ProjectStore
}

// exported is a file: what its lines are, and what writes them.
type exported struct {
	name, one string
	write     func(w *lines) error
}

// all writes every file, and returns how many lines each has.
func (x *exporting) all(events bool) (counts []string, err error) {
	files := []exported{
		{"documents", "document", x.documents}, {"runs", "run", x.runs}, {"evaluations", "evaluation", x.evaluations},
		{"labels", "label", x.labels}, {"replaced labels", "replaced label", x.replacedLabels},
		{"label queues", "label queue", x.labelQueues}, {"label items", "label item", x.labelItems},
		{"watches", "watch", x.watches}, {"alarms", "alarm", x.alarms}, {"keys", "key", x.keys},
	}
	if events {
		files = append(files, exported{"events", "event", x.events}, exported{"feedback", "feedback", x.feedback}, exported{"verdicts", "verdict", x.verdicts})
	}
	for _, f := range files {
		w := &lines{}
		err := x.file(strings.ReplaceAll(f.name, " ", "-")+".jsonl", func(to io.Writer) error {
			w.to = to
			return f.write(w)
		})
		if err != nil {
			return counts, err
		}
		name := f.name
		if w.n == 1 {
			name = f.one
		}
		counts = append(counts, fmt.Sprintf("%d %s", w.n, name))
	}
	return counts, nil
}

// file makes a file of the project.
func (x *exporting) file(name string, write func(io.Writer) error) error {
	f, err := x.root.OpenFile(path.Join(x.project, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return coded(err)
	}
	b := bufio.NewWriterSize(f, 1<<16)
	err = write(b)
	return errors.Join(err, coded(b.Flush()), coded(f.Close()))
}

// lines writes values as lines of JSON.
type lines struct {
	to io.Writer
	n  int
}

func (l *lines) add(o object) error {
	line, err := compactJSON(o)
	if err != nil {
		return coded(err)
	}
	return l.raw(append(line, '\n'))
}

func (l *lines) raw(line []byte) error {
	l.n++
	_, err := l.to.Write(line)
	return coded(err)
}

// eachPage reads a list to its end.
func eachPage[T any](ctx context.Context, read func(context.Context, store.Page) (store.List[T], error), do func(*T) error) error {
	for page := (store.Page{Limit: store.MaxPage}); ; {
		list, err := read(ctx, page)
		if err != nil {
			return err
		}
		for i := range list.Items {
			if err := do(&list.Items[i]); err != nil {
				return err
			}
		}
		if page.After = list.Next; list.Next == "" {
			return nil
		}
	}
}

// pagesBy is a list with its filter.
func pagesBy[T, F any](list func(context.Context, F, store.Page) (store.List[T], error), f F) func(context.Context, store.Page) (store.List[T], error) {
	return func(ctx context.Context, p store.Page) (store.List[T], error) { return list(ctx, f, p) }
}

// keys writes the keys of the project as `proviso key list --format json` shows them. No hash
// of a secret is among them: an export would then be as much worth as the keys.
func (x *exporting) keys(w *lines) error {
	return eachPage(x.ctx, x.of.ListKeys, func(k *store.Key) error {
		if string(k.Project) != x.project {
			return nil
		}
		return w.add(shownOf(*k, ""))
	})
}

func (x *exporting) labels(w *lines) error {
	return eachPage(x.ctx, pagesBy(x.in.ListLabels, store.LabelFilter{}), func(l *store.Label) error {
		return w.raw(label.AppendLine(nil, &l.Label))
	})
}

// replacedLabels writes the labels that later ones of the same person replaced, in the form of
// labels. They have a file of their own, so that the labels in force can be imported.
func (x *exporting) replacedLabels(w *lines) error {
	return eachPage(x.ctx, pagesBy(x.in.ListLabels, store.LabelFilter{History: true}), func(l *store.Label) error {
		if l.InForce {
			return nil
		}
		return w.raw(label.AppendLine(nil, &l.Label))
	})
}

func (x *exporting) labelQueues(w *lines) error {
	return eachPage(x.ctx, x.in.ListLabelQueues, func(q *store.LabelQueue) error {
		return w.add(object{
			"name", q.Name, "run,omitempty", q.Run, "blind", q.Blind, "people", q.People, "size", q.Size, "done", q.Done,
			"created_by,omitempty", q.CreatedBy, "created", q.Created,
		})
	})
}

// labelItems writes the items of all queues, with how each was chosen: an estimate from the
// labels needs that. Who has leased one is not written, a lease takes minutes.
func (x *exporting) labelItems(w *lines) error {
	return eachPage(x.ctx, x.in.ListLabelQueues, func(q *store.LabelQueue) error {
		items := func(ctx context.Context, p store.Page) (store.List[store.LabelItem], error) {
			return x.in.ListLabelItems(ctx, q.Name, p)
		}
		return eachPage(x.ctx, items, func(i *store.LabelItem) error {
			var index *int
			if i.Event == "" {
				index = &i.Index
			}
			return w.add(object{
				"queue", q.Name, "run,omitempty", q.Run, "index,omitempty", index, "event,omitempty", i.Event,
				"assertion", i.Assertion, "stratum", i.Stratum, "rank", i.Rank, "population", i.Population, "why", i.Why,
				"people", i.People,
			})
		})
	})
}
