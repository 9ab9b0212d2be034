//go:build unix

package sqlite_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/storetest"
)

// BenchmarkSeries is that of package storetest.
func BenchmarkSeries(b *testing.B) {
	path := filepath.Join(b.TempDir(), "proviso.db")
	d := open(b, path, storetest.Options{})
	defer d.Close()
	storetest.BenchmarkSeries(b, d.In(store.DefaultProject), func(text string) error {
		db, err := sql.Open("sqlite", path)
		if err != nil {
			return err
		}
		_, err = db.ExecContext(b.Context(), text)
		return errors.Join(err, db.Close())
	}, func() time.Duration { return 0 })
}
