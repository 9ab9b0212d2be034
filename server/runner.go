package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// Runner reads and runs untrusted suites. It is safe for concurrent use.
// [Suites] implements it.
type Runner interface {
	// Check reads a suite and plans it, without calling models. If there are mistakes other
	// than warnings, the plan is nil.
	Check(ctx context.Context, b *Bundle, o RunOptions) (*Plan, proviso.Mistakes)
	// Run executes a suite. It returns once every row was passed to Keep, when Keep failed, or
	// when ctx ends. A mistake of the suite is a [store.Permanent] error. An ability that this
	// process lacks is a [store.Unable] error.
	Run(ctx context.Context, e Execution) error
}

// Plan is what is known about a suite before it runs.
type Plan struct {
	SuiteID    string // id of the suite; "" if it has none
	AgentID    string // SuiteID, or else the name of the only provider; "" if there are several
	Name       string // description of the suite; "" if it has none
	PromptHash string // hash of all prompts, in order
	Hash       string // hash of the work of a run
	Rows       int    // prompts × providers × cases
	Division   store.Division
	Providers  []string
	Prompts    []proviso.Prompt // without prompts that code writes
	Datasets   []proviso.Dataset
	Judges     []string // identities of the judges, as far as they are known
	Needs      []string // see [store.NewRun]
	Warnings   proviso.Mistakes
}

// Execution is a run to execute, and its callbacks.
type Execution struct {
	Bundle  *Bundle
	RunID   string
	Options RunOptions
	Version string // version of proviso that accepted the run; "" if it is not known
	// Spans are the spans received with the key of the run; nil if the run reads no traces.
	Spans *otlp.Store
	// Planned is called with the finished plan. An error ends the run.
	Planned func(*Plan) error
	// Earlier passes the rows of an earlier attempt to take. They are not run again.
	Earlier func(take func(index int, row []byte) error) error
	// Take takes the next part of the rows for this process, like [store.Job.Take]; nil if the
	// process runs all rows. For a part that another process started, Finished passes its
	// finished rows to take.
	Take     func(ctx context.Context, from int) (store.Part, bool, error)
	Finished func(p store.Part, take func(index int, row []byte) error) error
	// Drain, once closed, ends the run after its rows in progress, like [store.Job.Drain].
	Drain <-chan struct{}
	// Keep stores a finished row. It is called from several goroutines at once. The row is only
	// valid during the call.
	Keep func(ctx context.Context, r store.Result) error
}

// RunOptions are a client's options for a run.
type RunOptions struct {
	Concurrency int `json:"concurrency,omitempty" doc:"Rows at a time, at most 32; the suite's own number if it is missing"`
	Repeat      int `json:"repeat,omitempty" doc:"How often every case is run"`
}

// check rejects invalid numbers.
func (o RunOptions) check() error {
	var list []Mistake
	for name, n := range map[string]int{"concurrency": o.Concurrency, "repeat": o.Repeat} {
		if n < 0 {
			list = append(list, Mistake{Pointer: "/" + name, Code: proviso.Invalid, Message: name + " has to be a number from 1"})
		}
	}
	if len(list) > 0 {
		return invalid(list)
	}
	return nil
}

// Bundle is a suite with the files that it refers to, as a client sends it.
type Bundle struct {
	Suite any               `json:"suite" doc:"The suite: an object, or the text of a suite file in YAML or JSON"`
	Files map[string]string `json:"files,omitempty" doc:"The files that the suite refers to, by their names relative to it"`

	Datasets Datasets `json:"-"` // finds the datasets that the suite names; nil if there are none
}

// Limits of a bundle.
const (
	maxFiles    = 200
	maxFileName = 200 // bytes
)

// write writes the suite and its files into a new folder, and returns the suite's file name
// there.
func (b *Bundle) write(dir string) (name string, err error) {
	name, text, err := b.text()
	if err != nil {
		return "", err
	}
	if err := b.check(name); err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if err := root.WriteFile(name, text, 0o600); err != nil {
		return "", err
	}
	for file, content := range b.Files {
		local := filepath.FromSlash(file)
		err := root.MkdirAll(filepath.Dir(local), 0o700)
		if err == nil {
			err = root.WriteFile(local, []byte(content), 0o600)
		}
		if isFull(err) {
			return "", err
		}
		if err != nil {
			return "", &proviso.Error{Code: proviso.Invalid, Pointer: document.Join("/files", file), Message: "this file cannot be kept beside the others"}
		}
	}
	return name, nil
}

// isFull reports whether a system error means that the disk is full.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// text returns the suite as a file.
func (b *Bundle) text() (name string, text []byte, err error) {
	switch v := b.Suite.(type) {
	case string:
		if strings.HasPrefix(strings.TrimSpace(v), "{") {
			return "proviso.json", []byte(v), nil
		}
		return "proviso.yaml", []byte(v), nil
	case *value.Object:
		var text bytes.Buffer
		err := json.Indent(&text, value.AppendJSON(nil, v), "", "  ")
		return "proviso.json", text.Bytes(), err
	}
	return "", nil, &proviso.Error{Code: proviso.Invalid, Pointer: "/suite", Message: "a suite is an object, or the text of a suite file"}
}

// check rejects file names that are invalid or outside the suite's folder.
func (b *Bundle) check(suite string) error {
	if len(b.Files) > maxFiles {
		return &proviso.Error{Code: proviso.Limit, Pointer: "/files", Message: fmt.Sprintf("%d files, more than %d", len(b.Files), maxFiles)}
	}
	for file := range b.Files {
		parts := strings.Split(file, "/")
		hidden := slices.ContainsFunc(parts, func(p string) bool { return p == "" || strings.HasPrefix(p, ".") })
		if hidden || len(file) > maxFileName || strings.ContainsAny(file, "\\:\x00") || !filepath.IsLocal(filepath.FromSlash(file)) || file == suite {
			return &proviso.Error{Code: proviso.Refused, Pointer: "/files",
				Message: fmt.Sprintf("%q is not a name for a file of a suite: such a name is relative, and no part begins with a dot", shortened(file))}
		}
	}
	return nil
}
