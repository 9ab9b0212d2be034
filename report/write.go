package report

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeBuffer is the size of a write, for the same reason as runfile's buffer.
const writeBuffer = 64 << 10

// Write writes a report to a file, and creates its folder if needed. The file
// appears, or replaces the old one, only when the report is complete. If anything
// fails before, such as on a full disk, the old file is unchanged and the error is
// returned. A file that is not regular, such as a pipe, is written to directly.
func Write(ctx context.Context, name string, f Format, meta *Meta, sum *Summary, rows Rows) error {
	in := &Input{Meta: meta, Summary: sum, Rows: rows}
	err := writeTo(ctx, name, f, in)
	if err == nil {
		return nil
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err // the name of the temporary file would not help
	}
	return fmt.Errorf("write report %s: %w", name, err)
}

// WriteTo writes a report to w.
func WriteTo(ctx context.Context, w io.Writer, f Format, meta *Meta, sum *Summary, rows Rows) error {
	return render(ctx, w, f, &Input{Meta: meta, Summary: sum, Rows: rows})
}

func render(ctx context.Context, w io.Writer, f Format, in *Input) error {
	b := bufio.NewWriterSize(w, writeBuffer)
	if err := f.Render(ctx, b, in); err != nil {
		return err
	}
	return b.Flush()
}

func writeTo(ctx context.Context, name string, f Format, in *Input) error {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real // replace the target of a link, not the link
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return errors.New("it is a folder")
	case err == nil && !info.Mode().IsRegular():
		w, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(render(ctx, w, f, in), w.Close())
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return replace(ctx, name, f, in)
}

// replace writes a temporary file in the same folder, which is on the same file
// system, and renames it.
func replace(ctx context.Context, name string, f Format, in *Input) error {
	temp := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+rand.Text()[:8]+".tmp")
	w, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	err = render(ctx, w, f, in)
	// Some file systems report errors such as a quota only at Close.
	err = errors.Join(err, w.Close())
	if err == nil {
		err = os.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}
