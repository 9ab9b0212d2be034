package runfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxEnd limits the header and the trailer that [Ends] reads, in bytes.
const maxEnd = 16 << 20

// Ends reads the first and the last line of a run, named by its file or its folder, and none of
// its rows, so that many runs can be listed. The trailer is nil if the run is unfinished.
func Ends(path string) (h Header, trailer []byte, err error) {
	path = inFolder(path)
	f, err := openRegular(path)
	if err != nil {
		return h, nil, fmt.Errorf("read the run: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return h, nil, fmt.Errorf("read the run: %w", err)
	}
	first, err := firstLine(f)
	if err == nil {
		h, err = ParseHeader(first)
	}
	if err == nil {
		trailer, err = lastLine(f, info.Size())
	}
	if err != nil {
		return h, nil, fmt.Errorf("read the run: %s: %w", path, err)
	}
	return h, trailer, nil
}

// ParseHeader reads the first line of a run file, without its line break.
func ParseHeader(line []byte) (Header, error) {
	if !bytes.HasPrefix(line, []byte(headerStart)) {
		return Header{}, errNotRun
	}
	return parseHeader(string(line))
}

// ParseTrailer returns the totals in the last line of a finished run, without its line
// break. ok is false for any other line.
func ParseTrailer(line []byte) (totals []byte, ok bool) {
	if !bytes.HasPrefix(line, []byte(trailerStart)) || line[len(line)-1] != '}' {
		return nil, false
	}
	return line[len(trailerStart) : len(line)-1], true
}

// RowIndex returns the row index at the start of a line.
func RowIndex(line []byte) (index int, ok bool) {
	row, ok := rowOf(rowHead(line))
	return int(row), ok
}

// rowHead returns what [rowOf] needs of a line, which may be incomplete.
func rowHead(text []byte) line {
	return line{head: text[:min(len(text), maxHead)], last: '}'}
}

// TrailerLine returns the line that [ParseTrailer] reads, with its line break.
func TrailerLine(totals []byte) []byte {
	return append(append([]byte(trailerStart), totals...), "}\n"...)
}

// firstLine reads up to the first line break.
func firstLine(f *os.File) ([]byte, error) {
	line := make([]byte, 0, 16<<10)
	for len(line) < maxEnd {
		if len(line) == cap(line) {
			line = append(line, make([]byte, len(line))...)[:len(line)]
		}
		n, err := f.ReadAt(line[len(line):cap(line)], int64(len(line)))
		if at := bytes.IndexByte(line[len(line):len(line)+n], '\n'); at >= 0 && len(line)+at <= maxEnd {
			return line[:len(line)+at], nil
		}
		if line = line[:len(line)+n]; len(line) > maxEnd {
			break
		}
		if len(line) >= len(headerStart) && !bytes.HasPrefix(line, []byte(headerStart)) || errors.Is(err, io.EOF) {
			return nil, errNotRun
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("the header takes more than %d bytes", maxEnd)
}

// lastLine returns the totals in the last line, nil if it is not a trailer.
func lastLine(f *os.File, size int64) ([]byte, error) {
	for length := int64(4 << 10); ; length *= 4 {
		length = min(length, size, maxEnd)
		tail := make([]byte, length)
		if _, err := f.ReadAt(tail, size-length); err != nil {
			return nil, err
		}
		rest, ended := bytes.CutSuffix(tail, []byte{'\n'})
		at := bytes.LastIndexByte(rest, '\n')
		switch {
		case !ended:
			return nil, nil
		case at >= 0:
			totals, _ := ParseTrailer(rest[at+1:])
			return totals, nil
		case length == size || length == maxEnd:
			return nil, nil
		}
	}
}
