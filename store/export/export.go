// Package export writes the data of a project of a server as files: lists as JSON Lines, and a
// run file for each run that has ended. Start at [Project]; [Object] is the form of data
// without a form of its own.
package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/store"
)

// Options select what is written.
type Options struct {
	// Events also writes production events, thumbs and verdicts.
	Events bool
	// WriteRun writes the file of a run that has ended.
	WriteRun func(ctx context.Context, to io.Writer, kept store.Runs, r store.Run) error
}

// Project writes a project into a new folder with its name, and returns what was written, such
// as "3 runs". It reads lists a page at a time; others may write to the store meanwhile.
func Project(ctx context.Context, root *os.Root, of store.Store, p store.Project, o Options) ([]string, error) {
	x := exporting{ctx: ctx, root: root, project: string(p), o: o, of: of, in: of.In(p)}
	if err := root.MkdirAll(path.Join(x.project, "runs"), 0o700); err != nil {
		return nil, proviso.WithCode(proviso.Unavailable, err)
	}
	return x.all()
}

// exporting writes one project.
type exporting struct {
	ctx     context.Context
	root    *os.Root
	project string
	o       Options
	of      store.Keys
	in      store.ProjectStore
}

// exported is a file: its name, what a line is, and the function that writes the lines.
type exported struct {
	name, one string
	write     func(w *lines) error
}

// all writes every file, and returns the line count of each.
func (x *exporting) all() (counts []string, err error) {
	files := []exported{
		{"documents", "document", x.documents}, {"runs", "run", x.runs}, {"evaluations", "evaluation", x.evaluations},
		{"labels", "label", x.labels}, {"replaced labels", "replaced label", x.replacedLabels},
		{"label queues", "label queue", x.labelQueues}, {"label items", "label item", x.labelItems},
		{"watches", "watch", x.watches}, {"alarms", "alarm", x.alarms}, {"keys", "key", x.keys},
	}
	if x.o.Events {
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

// file creates a file of the project.
func (x *exporting) file(name string, write func(io.Writer) error) error {
	f, err := x.root.OpenFile(path.Join(x.project, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return proviso.WithCode(proviso.Unavailable, err)
	}
	b := bufio.NewWriterSize(f, 1<<16)
	err = write(b)
	return errors.Join(err, proviso.WithCode(proviso.Unavailable, b.Flush()), proviso.WithCode(proviso.Unavailable, f.Close()))
}

// lines writes values as JSON Lines.
type lines struct {
	to io.Writer
	n  int
}

func (l *lines) add(o any) error {
	line, err := compact(o)
	if err != nil {
		return proviso.WithCode(proviso.Unavailable, err)
	}
	return l.raw(append(line, '\n'))
}

func (l *lines) raw(line []byte) error {
	l.n++
	_, err := l.to.Write(line)
	return proviso.WithCode(proviso.Unavailable, err)
}

// keys writes the project's keys as `proviso key list --format json` shows them, without the
// hashes of their secrets: those would make an export as sensitive as the keys.
func (x *exporting) keys(w *lines) error {
	return store.Each(x.ctx, x.of.ListKeys, func(k *store.Key) error {
		if string(k.Project) != x.project {
			return nil
		}
		return w.add(k.File(""))
	})
}

func (x *exporting) labels(w *lines) error {
	return store.Each(x.ctx, store.By(x.in.ListLabels, store.LabelFilter{}), func(l *store.Label) error {
		return w.raw(label.AppendLine(nil, &l.Label))
	})
}

// replacedLabels writes the labels that the same person later replaced, in the form of labels.
// They have their own file, so that the labels in force can be imported.
func (x *exporting) replacedLabels(w *lines) error {
	return store.Each(x.ctx, store.By(x.in.ListLabels, store.LabelFilter{History: true}), func(l *store.Label) error {
		if l.InForce {
			return nil
		}
		return w.raw(label.AppendLine(nil, &l.Label))
	})
}

func (x *exporting) labelQueues(w *lines) error {
	return store.Each(x.ctx, x.in.ListLabelQueues, func(q *store.LabelQueue) error {
		return w.add(Object{
			"name", q.Name, "run,omitempty", q.Run, "blind", q.Blind, "people", q.People, "size", q.Size, "done", q.Done,
			"created_by,omitempty", q.CreatedBy, "created", q.Created,
		})
	})
}

// labelItems writes the items of all queues, with how each was chosen: estimates from the
// labels need that. Leases are not written, since they last minutes.
func (x *exporting) labelItems(w *lines) error {
	return store.Each(x.ctx, x.in.ListLabelQueues, func(q *store.LabelQueue) error {
		items := func(ctx context.Context, p store.Page) (store.List[store.LabelItem], error) {
			return x.in.ListLabelItems(ctx, q.Name, p)
		}
		return store.Each(x.ctx, items, func(i *store.LabelItem) error {
			var index *int
			if i.Event == "" {
				index = &i.Index
			}
			return w.add(Object{
				"queue", q.Name, "run,omitempty", q.Run, "index,omitempty", index, "event,omitempty", i.Event,
				"assertion", i.Assertion, "stratum", i.Stratum, "rank", i.Rank, "population", i.Population, "why", i.Why,
				"people", i.People,
			})
		})
	})
}
