package format

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Log appends lines to a file. It is not safe for concurrent use, but several processes may
// write to the same file.
type Log struct {
	File string // the first line creates it

	out *os.File
}

// Append writes a line and waits until it is on disk. It removes a line that it could not
// write completely.
func (l *Log) Append(line []byte) error {
	if l.out == nil {
		out, err := os.OpenFile(l.File, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		l.out = out
		if dir, err := os.Open(filepath.Dir(l.File)); err == nil {
			_ = dir.Sync() // makes the name of a new file durable; not supported everywhere
			_ = dir.Close()
		}
	}
	before, err := l.out.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = l.out.Write(line)
	}
	if err != nil {
		return errors.Join(err, l.out.Truncate(before))
	}
	err = l.out.Sync()
	if info, e := l.out.Stat(); e == nil && !info.Mode().IsRegular() {
		return nil // not a file on disk
	}
	return err
}

// Close closes the file.
func (l *Log) Close() error {
	if l.out == nil {
		return nil
	}
	return l.out.Close()
}
