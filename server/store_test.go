package server_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/postgres"
	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
	"github.com/proviso-eval/proviso/store/sqldb"
	"github.com/proviso-eval/proviso/store/sqlite"
)

// testStore is the store of a server under test.
type testStore interface {
	store.Store
	store.Jobs
}

// onPostgres reports whether all tests of the server use a PostgreSQL database:
// PROVISO_TEST_STORE=postgres go test ./server. It reads the variable during a test, so that
// `go test` caches results by its value.
func onPostgres() bool { return os.Getenv("PROVISO_TEST_STORE") == "postgres" }

// emptyStore is the file of an empty database, so that not every test has to create one.
var emptyStore = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "proviso-server-test-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "proviso.db")
	db, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// TestMain removes the database server that tests may have started.
func TestMain(m *testing.M) { os.Exit(postgrestest.Main(m)) }

// databases maps the paths that tests use to database URLs.
var databases sync.Map

// openStore opens a database, and creates it if it does not exist. It is closed at the end of
// the test, unless the test closes it.
func openStore(t *testing.T, path string, change ...func(*sqldb.Options)) testStore {
	t.Helper()
	o := sqldb.Options{Poll: 20 * time.Millisecond, Retry: func(int) time.Duration { return time.Millisecond }}
	for _, f := range change {
		f(&o)
	}
	var db testStore
	var err error
	if onPostgres() {
		db, err = openPostgres(t, path, o)
	} else {
		db, err = openSQLite(t, path, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func openSQLite(t *testing.T, path string, o sqldb.Options) (testStore, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		data, err := emptyStore()
		if err == nil {
			err = os.WriteFile(path, data, 0o600)
		}
		if err != nil {
			return nil, err
		}
	}
	return sqlite.Open(t.Context(), path, o)
}

func openPostgres(t *testing.T, path string, o sqldb.Options) (testStore, error) {
	url, known := databases.Load(path)
	if !known {
		url = postgrestest.Database(t)
		databases.Store(path, url)
	}
	return postgres.Open(t.Context(), url.(string), postgres.Options{Options: o, Connections: 4})
}
