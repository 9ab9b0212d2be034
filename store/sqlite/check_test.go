package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/store/sqlite"
	"github.com/proviso-eval/proviso/store/storetest"
)

// TestCheckFinds: each kind of inconsistency is found, and none in good data. The contract of
// package store checks every store that its tests leave behind.
func TestCheckFinds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "good.db")
	d := open(t, path, storetest.Options{Now: func() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) }})
	storetest.Fill(t, d)
	if problems, err := d.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Fatalf("good data: %q, %v", problems, err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for change, want := range map[string]string{
		"UPDATE run SET passed = passed + 1":                      "rows in its totals",
		"UPDATE run SET passed = passed - 1, failed = failed + 1": "rows passed or failed by its totals",
		"DELETE FROM result WHERE row = 1":                        "verdicts on rows that it does not have",
		"DELETE FROM current":                                     "0 versions are the current one, expected 1",
		"UPDATE label_judged SET n = n + 1":                       "verdicts of a judge counted",
		"DELETE FROM label_judged":                                "0 verdicts of a judge counted, 1 there",
		"DELETE FROM label_pair":                                  "0 pairs of people counted, 1 there",
		"DELETE FROM label_item WHERE position = (SELECT max(position) FROM label_item)": "items, ",
		"UPDATE label_queue SET done = done + 1":                                         "items are done by its count",
		"DELETE FROM traffic_agent WHERE rowid = 1":                                      "that nothing is known of",
		"UPDATE watch SET number = 7":                                                    "its version 7 is missing",
		"UPDATE watch SET pending = pending + 1":                                         "jobs wait by its count",
		"DELETE FROM watch_term":                                                         "that have no name",
		"UPDATE watch_hour SET pass = 0, fail = 0":                                       "by version and judge, at least",
		"UPDATE watch_hour_segment SET pass = 0, fail = 0":                               "by segment, at least",
		"DELETE FROM watch_version":                                                      "is missing",
		"DELETE FROM run WHERE seq = 1":                                                  "belong to rows of run that do not exist",
	} {
		t.Run(change, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "bad.db")
			if err := os.WriteFile(path, good, 0o600); err != nil {
				t.Fatal(err)
			}
			db, err := sql.Open("sqlite", path) // without foreign keys
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(change); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			found(t, path, want)
		})
	}
	t.Run("a damaged page", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "bad.db")
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var page int
		if err := db.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = 'shared_expires'").Scan(&page); err != nil {
			t.Fatal(err)
		}
		bad := append([]byte{}, good...)
		for i := (page - 1) * 4096; i < page*4096; i++ {
			bad[i] ^= 0x5a
		}
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		found(t, path, "the file is damaged")
	})
}

// found checks that a database has a problem.
func found(t *testing.T, path, want string) {
	t.Helper()
	d, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	problems, err := d.Check(t.Context())
	if text := strings.Join(problems, "\n"); err != nil || !strings.Contains(text, want) {
		t.Errorf("found %q, %v; expected %q", text, err, want)
	}
}
