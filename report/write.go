package report

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/proviso-eval/proviso/internal/blobs"
)

// writeBuffer is the size of a write, for the same reason as runfile's buffer.
const writeBuffer = 64 << 10

// Write writes a report to a file, and creates its folder if needed. The file appears, or
// replaces the old one, only when the report is complete. If anything fails before that,
// such as on a full disk, Write returns the error and the old file is unchanged. It writes
// directly to a file that is not regular, such as a pipe.
func Write(ctx context.Context, name string, f Format, meta *Meta, sum *Summary, rows Rows) error {
	in := &Input{Meta: meta, Summary: sum, Rows: rows}
	err := writeTo(ctx, name, f, in)
	if err == nil {
		return nil
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err // the temporary file's name would not help
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
	if _, err := os.Stat(name); err != nil {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
	}
	return blobs.WriteBy(name, 0o644, func(w io.Writer) error { return render(ctx, w, f, in) })
}
