package postgres_test

import (
	"os"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/store/postgres"
	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
	"github.com/proviso-eval/proviso/store/sqldb"
	"github.com/proviso-eval/proviso/store/storetest"
)

// open opens a database for a test, with short pauses.
func open(t testing.TB, url string, o storetest.Options) *postgres.DB {
	t.Helper()
	d, err := postgres.Open(t.Context(), url, postgres.Options{Options: sqldb.Options{
		Now: o.Now, Workers: o.Workers, Poll: 20 * time.Millisecond,
		Retry: func(int) time.Duration { return 0 },
	}, Connections: 4})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestStore(t *testing.T) {
	t.Parallel()
	var urls sync.Map
	storetest.Run(t, storetest.Target{Shared: true, Open: func(t testing.TB, path string, o storetest.Options) storetest.Backend {
		url, known := urls.Load(path)
		if !known {
			url = postgrestest.Database(t)
			urls.Store(path, url)
		}
		return open(t, url.(string), o)
	}})
}

// TestMain removes the database server.
func TestMain(m *testing.M) { os.Exit(postgrestest.Main(m)) }
