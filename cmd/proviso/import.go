package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/convert"
	"github.com/proviso-eval/proviso/internal/plural"
)

// maxImported limits the total size of imported files, in bytes.
const maxImported = 512 << 20

// importFlags are the flags of import.
type importFlags struct {
	folder, eval string
}

func newImport(a *app) *cobra.Command {
	f := &importFlags{}
	cmd := &cobra.Command{
		Use:   "import TOOL FILE...",
		Short: "Convert evals that another tool exported to a suite",
		Long: "import writes a suite, its cases and its recorded outputs into a folder, and lists what could\n" +
			"not be converted exactly. It changes no existing file. The tools:\n\n" + toolList(convert.Importers()) + "\n" +
			"Exit codes: 0 written; 2 a mistake in the command line or the files, or a file\n" +
			"exists already; 3 the folder cannot be written.",
		Args: someArgs("expected a tool and its files", 2, math.MaxInt),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.importSuite(cmd.Context(), f, args[0], args[1:])
		},
	}
	cmd.Flags().StringVarP(&f.folder, "output", "o", ".", "`FOLDER` to write to; it is made if it does not exist")
	cmd.Flags().StringVar(&f.eval, "eval", "", "`ID` or name of the eval, if the files hold several")
	return cmd
}

func (a *app) importSuite(ctx context.Context, f *importFlags, tool string, names []string) error {
	from, err := toolNamed(tool, convert.Importers(), "proviso import --help")
	if err != nil {
		return err
	}
	files, err := readAll(names)
	if err != nil {
		return err
	}
	r, err := from.Read(ctx, files, convert.Options{Eval: f.eval})
	if err != nil {
		return a.unconverted(ctx, err)
	}
	if err := writeNew(f.folder, r.Files, "name another folder with -o"); err != nil {
		return err
	}
	var written []string
	for _, file := range r.Files {
		written = append(written, filepath.Join(f.folder, filepath.FromSlash(file.Name)))
	}
	fmt.Fprintf(a.out, "Wrote %s: %s for each of %s.\n", printable(strings.Join(written, ", ")), plural.Of(r.Assertions, "assertion"), plural.Of(r.Cases, "case"))
	a.notes(a.out, r.Notes)
	next := "proviso eval"
	if f.folder != "." {
		next += " -c " + filepath.Join(f.folder, r.Files[0].Name)
	}
	if len(r.Keys) > 0 {
		fmt.Fprintf(a.out, "It asks models: set %s first.\n", strings.Join(r.Keys, " and "))
	}
	_, err = fmt.Fprintf(a.out, "Next:\n\n  %s\n", printable(next))
	return err
}

// toolList describes the tools of a table, one per line.
func toolList(tools []convert.Tool) string {
	var b strings.Builder
	for _, t := range tools {
		fmt.Fprintf(&b, "  %-14s %s\n", t.Name, t.Doc)
	}
	return b.String()
}

// toolNamed finds a tool in a table. help is the command that describes them.
func toolNamed(name string, tools []convert.Tool, help string) (convert.Tool, error) {
	var known []string
	for _, t := range tools {
		if t.Name == name {
			return t, nil
		}
		known = append(known, t.Name)
	}
	return convert.Tool{}, unknownTool(name, known, help)
}

// unknownTool is the mistake for a tool that is not in the table.
func unknownTool(name string, known []string, help string) error {
	hint := nearestOr(name, known, "the tools are "+strings.Join(known, ", "))
	return usageError{fmt.Errorf("unknown tool %q", name), hint + "; see `" + help + "`"}
}

// readAll reads files of the command line, which may be large, up to a limit.
func readAll(names []string) ([]convert.File, error) {
	var files []convert.File
	left := int64(maxImported)
	for _, name := range names {
		f, err := openFile(name, "what the tool has exported")
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(io.LimitReader(f, left+1))
		_ = f.Close()
		if err != nil {
			return nil, proviso.Errorf(proviso.NotFound, "%s cannot be read: %w", name, err)
		}
		if left -= int64(len(data)); left < 0 {
			return nil, proviso.Errorf(proviso.Limit, "the files have more than %d MiB together; convert them in parts", maxImported>>20)
		}
		files = append(files, convert.File{Name: filepath.ToSlash(name), Data: data})
	}
	return files, nil
}

// unconverted explains why nothing was converted.
func (a *app) unconverted(ctx context.Context, err error) error {
	var wrong convert.Mistakes
	switch {
	case ctx.Err() != nil:
		return a.stopped()
	case !errors.As(err, &wrong):
		return err
	}
	return a.mistakesSo(wrong.List, "nothing was written")
}

// notes lists what could not be converted exactly, at most 50 entries.
func (a *app) notes(w io.Writer, list []convert.Note) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(w, "Not converted exactly:")
	const most = 50
	for i, n := range list {
		if i == most {
			fmt.Fprintf(w, "  and %d more\n", len(list)-most)
			break
		}
		at := n.Place.String()
		if at != "" {
			at += ": "
		}
		fmt.Fprintf(w, "  %s\n", printable(at+n.String()))
	}
}

// writeNew writes files into a folder without changing existing files. hint says what to do if a
// file exists.
func writeNew(dir string, files []convert.File, hint string) error {
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		switch _, err := os.Lstat(name); {
		case err == nil:
			return proviso.Errorf(proviso.Invalid, "%s exists already, and no file is changed: %s", name, hint)
		case !errors.Is(err, fs.ErrNotExist):
			return proviso.WithCode(proviso.Unavailable, err)
		}
	}
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return proviso.WithCode(proviso.Unavailable, err)
		}
		if err := createFile(name, f.Data); err != nil {
			return proviso.WithCode(proviso.Unavailable, err)
		}
	}
	return nil
}

// createFile writes a new file.
func createFile(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
