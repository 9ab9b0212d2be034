package runfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
)

// maxHeader limits the size of header and trailer, which are read as a whole.
const maxHeader = 256 << 20

// scanSize is the size of a read during a scan.
const scanSize = 256 << 10

// content is the result of scanning a file.
type content struct {
	header  Header
	index   index // in the order of the file
	trailer []byte
	end     int64 // where the last complete line ends
	cut     bool  // the file continues after end
	damaged int   // complete lines that are neither row nor trailer
	limits  Limits
}

// Limits limits the memory of a reader. 0 means no limit.
type Limits struct {
	Rows int   // rows of the file
	Row  int64 // bytes of a row
}

// check returns an error if a line, of which at least l.size bytes exist, exceeds the limits.
func (m *Limits) check(l line, rows int) error {
	if l.off == 0 || !bytes.HasPrefix(l.head, []byte(rowStart)) {
		return nil
	}
	if m.Row > 0 && l.size > m.Row {
		return proviso.Errorf(proviso.Limit, "the line at byte %d, a row, has more than %d bytes, the most that is read", l.off, m.Row)
	}
	if m.Rows > 0 && rows >= m.Rows {
		return proviso.Errorf(proviso.Limit, "the run has more than %d rows, the most that is read", m.Rows)
	}
	return nil
}

// maxHead is how many bytes of a line a scan keeps.
const maxHead = 32

// line is what a scan keeps of a line: rows may have any size.
type line struct {
	off  int64
	size int64 // without the line break
	head []byte
	last byte
}

// scan reads the unread part of a run file. It decodes only the header and the trailer.
func (c *content) scan(f *os.File) error {
	from := c.end
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return err
	}
	var trailer line
	size, err := eachLine(f, func(l line, ended bool) error {
		l.off += from
		if err := c.limits.check(l, len(c.index.entries)); err != nil || !ended {
			return err
		}
		c.end = l.off + l.size + 1
		if l.off == 0 {
			return c.readHeader(f, l)
		}
		// Only a trailer at the end closes the run.
		trailer, c.trailer = line{}, nil
		row, ok := rowOf(l)
		switch {
		case ok:
			c.index.add(entry{off: l.off, row: row, size: uint32(l.size)})
		case bytes.HasPrefix(l.head, []byte(trailerStart)) && l.last == '}':
			trailer = l
		default:
			c.damaged++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if c.end == 0 {
		return errNotRun
	}
	c.cut = from+size > c.end
	if trailer.size > 0 {
		return c.readTrailer(f, trailer)
	}
	return nil
}

func (c *content) readHeader(f *os.File, l line) error {
	if !bytes.HasPrefix(l.head, []byte(headerStart)) {
		return errNotRun // checked before a long line is read
	}
	text, err := readLine(f, l)
	if err != nil {
		return err
	}
	c.header, err = parseHeader(string(text))
	return err
}

func (c *content) readTrailer(f *os.File, l line) error {
	text, err := readLine(f, l)
	if err != nil {
		return err
	}
	c.trailer = text[len(trailerStart) : len(text)-1]
	return nil
}

func readLine(f *os.File, l line) ([]byte, error) {
	if l.size > maxHeader {
		return nil, fmt.Errorf("header or trailer takes %d bytes, more than %d", l.size, maxHeader)
	}
	text := make([]byte, l.size)
	if _, err := f.ReadAt(text, l.off); err != nil {
		return nil, err
	}
	return text, nil
}

// rowOf reads the row index from the start of a line.
func rowOf(l line) (uint32, bool) {
	rest, ok := strings.CutPrefix(string(l.head), rowStart)
	digits, _, comma := strings.Cut(rest, ",")
	if !ok || !comma || l.last != '}' || l.size > math.MaxUint32 {
		return 0, false
	}
	row, err := strconv.ParseUint(digits, 10, 32)
	return uint32(row), err == nil
}

// eachLine calls do for every line that ends in a line break, and before that for the parts of
// it that were read. It returns the length of the file. The line's head is valid only during
// the call.
func eachLine(r io.Reader, do func(l line, ended bool) error) (int64, error) {
	buf := make([]byte, scanSize)
	head := make([]byte, 0, maxHead)
	l, at := line{}, int64(0)
	for {
		n, err := r.Read(buf)
		for chunk := buf[:n]; len(chunk) > 0; {
			part, rest, found := bytes.Cut(chunk, []byte{'\n'})
			head = append(head, part[:min(len(part), cap(head)-len(head))]...)
			if len(part) > 0 {
				l.last = part[len(part)-1]
			}
			l.size += int64(len(part))
			at += int64(len(chunk) - len(rest))
			chunk = rest
			l.head = head
			if err := do(l, found); err != nil {
				return at, err
			}
			if !found {
				break
			}
			l, head = line{off: at}, head[:0]
		}
		if errors.Is(err, io.EOF) {
			return at, nil
		}
		if err != nil {
			return at, err
		}
	}
}
