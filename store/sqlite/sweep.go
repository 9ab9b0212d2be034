package sqlite

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// SQLite overwrites what it deletes (secure_delete), but when it splits or merges a page, old
// rows may remain between the cell pointer array and the cell contents, where nothing reads
// them. The sweep finds such pages in the file and clears their unused parts. The format is
// described in https://www.sqlite.org/fileformat2.html, section 1.6.

const (
	// sweptAtOnce is the number of pages that a sweep clears per transaction.
	sweptAtOnce = 100
	// mostSwept is the number of pages from which an overflow page could look like a b-tree
	// page: it starts with the number of the next overflow page. A larger file, of more than
	// 137 GB, is not swept.
	mostSwept = 2 << 24
)

// sweep clears the unused parts of all pages. The log must have been folded. sweep reads the
// file directly, but only to find pages: it reads a page again through SQLite before it clears
// it.
func (e *engine) sweep(ctx context.Context) error {
	found, err := e.unswept(ctx)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(found, sweptAtOnce) {
		if err := e.clearPages(ctx, some); err != nil {
			return fmt.Errorf("clear unused parts of pages: %w", err)
		}
	}
	return nil
}

// unswept returns the numbers of the pages with data in their unused parts.
func (e *engine) unswept(ctx context.Context) ([]int, error) {
	file, err := os.Open(e.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var head [100]byte
	if _, err := file.ReadAt(head[:], 0); err != nil {
		return nil, err
	}
	size := int(binary.BigEndian.Uint16(head[16:]))
	if size == 1 {
		size = 1 << 16
	}
	if size < 512 {
		return nil, errors.New("the file has no page size")
	}
	if info, err := file.Stat(); err != nil || info.Size()/int64(size) >= mostSwept {
		return nil, err
	}
	usable := size - int(head[20])
	var found []int
	page := make([]byte, size)
	for r, number := bufio.NewReaderSize(file, 1<<20), 1; ctx.Err() == nil; number++ {
		if _, err := io.ReadFull(r, page); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break // the end, or the file is growing
		} else if err != nil {
			return nil, err
		}
		if clearPage(page, number, usable) {
			found = append(found, number)
		}
	}
	return found, ctx.Err()
}

// clearPages clears some pages in one transaction.
func (e *engine) clearPages(ctx context.Context, numbers []int) error {
	t, err := e.writing.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer t.Rollback()
	head, err := pageOf(ctx, t, 1)
	if err != nil {
		return err
	}
	reserved := int(head[20])
	for _, number := range numbers {
		page, err := pageOf(ctx, t, number)
		if err != nil {
			return err
		}
		if !clearPage(page, number, len(page)-reserved) {
			continue
		}
		if _, err := t.ExecContext(ctx, "UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?", page, number); err != nil {
			return err
		}
	}
	return t.Commit()
}

// pageOf reads a page through SQLite.
func pageOf(ctx context.Context, t *sql.Tx, number int) (page []byte, err error) {
	err = t.QueryRowContext(ctx, "SELECT data FROM sqlite_dbpage WHERE pgno = ?", number).Scan(&page)
	if errors.Is(err, sql.ErrNoRows) { // the file was truncated
		return make([]byte, 512), nil
	}
	return page, err
}

// clearPage overwrites the unused parts of a b-tree page with zeros, and reports whether there
// was anything. It does not change other pages.
func clearPage(page []byte, number, usable int) (had bool) {
	at := 0
	if number == 1 {
		at = 100 // after the file header
	}
	header := 8
	switch page[at] {
	case 2, 5:
		header = 12
	case 10, 13:
	default:
		return false
	}
	cells := int(binary.BigEndian.Uint16(page[at+3:]))
	low, high := at+header+2*cells, int(binary.BigEndian.Uint16(page[at+5:]))
	if high == 0 {
		high = 1 << 16
	}
	if low > high || high > usable {
		return false
	}
	for i := range cells {
		if cell := int(binary.BigEndian.Uint16(page[at+header+2*i:])); cell < high || cell >= usable {
			return false
		}
	}
	// Free blocks are a list in page order. Each holds the position of the next and its own
	// size.
	unused := [][]byte{page[low:high]}
	for block, before := int(binary.BigEndian.Uint16(page[at+1:])), high; block != 0; {
		if block < before || block+4 > usable {
			return false
		}
		n := int(binary.BigEndian.Uint16(page[block+2:]))
		if n < 4 || block+n > usable {
			return false
		}
		unused = append(unused, page[block+4:block+n])
		block, before = int(binary.BigEndian.Uint16(page[block:])), block+n
	}
	for _, part := range unused {
		if slices.ContainsFunc(part, func(b byte) bool { return b != 0 }) {
			had = true
			clear(part)
		}
	}
	return had
}
