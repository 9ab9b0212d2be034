package sqlite

import (
	"bytes"
	"testing"
)

// FuzzClearPage: for any page, clearing neither panics nor changes the cell pointers or cells,
// and clearing again finds nothing.
func FuzzClearPage(f *testing.F) {
	f.Add(append([]byte{13, 0, 0, 0, 1, 1, 250, 0, 1, 250, 7, 7, 7}, make([]byte, 499)...), 2)
	f.Add(append([]byte{10, 1, 0, 0, 0, 0, 16}, bytes.Repeat([]byte{1}, 505)...), 2)
	f.Add(append(append(make([]byte, 100), 5, 0, 0, 0, 0, 2, 0), make([]byte, 405)...), 1)
	f.Fuzz(func(t *testing.T, page []byte, number int) {
		if len(page) < 512 || len(page) > 1<<16 {
			return
		}
		got := bytes.Clone(page)
		had := clearPage(got, number, len(got))
		if had == bytes.Equal(got, page) {
			t.Fatalf("cleared: %v, and it is the same: %v", had, !had)
		}
		if clearPage(got, number, len(got)) {
			t.Fatal("the second time has something to clear")
		}
		at := 0
		if number == 1 {
			at = 100
		}
		if low := at + 8 + 2*(int(page[at+3])<<8+int(page[at+4])); had && !bytes.Equal(got[:min(low, 512)], page[:min(low, 512)]) {
			t.Fatal("the list of cells was changed")
		}
	})
}
