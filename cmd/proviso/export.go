package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/convert"
	"github.com/proviso-eval/proviso/suite"
)

// exportFlags are the flags of export.
type exportFlags struct {
	suiteFlags
	output string
}

func newExport(a *app) *cobra.Command {
	f := &exportFlags{}
	cmd := &cobra.Command{
		Use:   "export TOOL",
		Short: "Convert a suite for another evaluation tool",
		Long: "export converts a suite to the format of another tool, and lists what that tool does not\n" +
			"support. Files that the suite names stay where they are: keep the result in the suite's\n" +
			"folder. The tools:\n\n" +
			toolList(convert.Exporters()) + "\n" +
			"Exit codes: 0 written; 2 a mistake in the command line or the suite, or the file\n" +
			"exists already; 3 the file cannot be written.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("expected a tool"), seeHelp(cmd)}
			}
			if len(args) > 1 {
				return usageError{fmt.Errorf("unexpected argument %q", args[1]), fmt.Sprintf("a suite is named with -c: %s %s -c %s", cmd.CommandPath(), args[0], args[1])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.exportSuite(cmd.Context(), f, args[0]) },
	}
	cmd.Flags().StringArrayVarP(&f.configs, "config", "c", nil, "suite `FILE` (default the suite of the working folder)")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "write to `FILE`, which must not exist (default standard output)")
	return cmd
}

// exportSuite checks the suite and writes it for another tool.
func (a *app) exportSuite(ctx context.Context, f *exportFlags, tool string) error {
	to, err := toolNamed(tool, convert.Exporters(), "proviso export --help")
	if err != nil {
		return err
	}
	if len(f.configs) == 0 {
		name, err := suite.Find("")
		if err != nil {
			return err
		}
		f.configs = []string{name}
	}
	if len(f.configs) > 1 {
		return usageError{errors.New("-c: one suite is exported at a time"), "export each of them"}
	}
	s, err := a.read(ctx, &f.suiteFlags)
	if err != nil {
		return err
	}
	defer s.close()
	if err := a.mistakes(s.mistakes); err != nil {
		return err
	}
	files, err := readAll([]string{s.File})
	if err != nil {
		return err
	}
	r, err := to.Write(ctx, files[0])
	if err != nil {
		return a.unconverted(ctx, err)
	}
	r.Notes = append(r.Notes, lacking(s)...)
	text := r.Files[0].Data
	if f.output == "" {
		_, err = a.out.Write(text)
	} else {
		err = a.writeExport(f.output, s.Dir, text)
	}
	if err != nil {
		return err
	}
	a.notes(a.err, r.Notes)
	return nil
}

// writeExport writes a new file, and prints which folder its references are relative to.
func (a *app) writeExport(name, dir string, text []byte) error {
	if err := createFile(name, text); err != nil {
		if errors.Is(err, os.ErrExist) {
			return proviso.Errorf(proviso.Invalid, "%s exists already, and no file is changed: name another one", name)
		}
		return proviso.Errorf(proviso.Unavailable, "%w", err)
	}
	if filepath.Clean(filepath.Dir(name)) != filepath.Clean(dir) {
		fmt.Fprintf(a.err, "proviso: files that the suite names are relative to %s; move %s there\n", printable(filepath.ToSlash(filepath.Clean(dir))), printable(name))
	}
	fmt.Fprintf(a.err, "Wrote %s\n", printable(name))
	return nil
}

// lacking reports assertions in files beside the suite that promptfoo would decide differently,
// once for each feature that promptfoo lacks.
func lacking(s *loaded) []convert.Note {
	var notes []convert.Note
	seen := map[string]bool{}
	for c, err := range s.Cases() {
		if err != nil {
			continue // this case has a mistake, which validate reports
		}
		for _, x := range c.Assert {
			at := s.Places.Place(x.Pointer)
			what := convert.LackedByPromptfoo(x.Raw)
			if at.File == filepath.ToSlash(s.File) || what == "" || seen[at.File+what] {
				continue
			}
			seen[at.File+what] = true
			notes = append(notes, convert.Note{Place: at, What: what, Why: "promptfoo has none, and the file is not changed", Do: "change the assertion, and others like it in this file"})
		}
	}
	return notes
}
