package postgres_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/postgres"
	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
)

const (
	oldRun  = "-- old servers: keep running\n"
	oldStop = "-- old servers: must stop\n"
)

// TestVersionsSideBySide: servers of two versions run at the same time while the steps
// between them allow it. Otherwise the later version waits until the earlier ones have
// stopped, and an earlier one does not start.
func TestVersionsSideBySide(t *testing.T) {
	t.Parallel()
	// The processes of other tests are connected to the shared database.
	database, err := postgrestest.StartFor(t).Create("versions")
	if err != nil {
		t.Fatal(err)
	}
	now, err := postgres.Steps()
	if err != nil {
		t.Fatal(err)
	}
	begin := func(steps ...string) (*postgres.DB, error) {
		return postgres.OpenSteps(t.Context(), database, steps...)
	}
	must := func(steps ...string) *postgres.DB {
		t.Helper()
		d, err := begin(steps...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		return d
	}
	write := func(d *postgres.DB) {
		t.Helper()
		if _, err := d.In("p").CreateRun(t.Context(), store.NewRun{Suite: "s"}); err != nil {
			t.Error(err)
		}
	}
	refused := func(want string, steps ...string) {
		t.Helper()
		if d, err := begin(steps...); err == nil || !strings.Contains(err.Error(), want) {
			if err == nil {
				d.Close()
			}
			t.Errorf("%v: expected %q", err, want)
		}
	}
	expand := append(now[:len(now):len(now)], oldRun+"ALTER TABLE run ADD COLUMN extra BIGINT NOT NULL DEFAULT 0")
	contract := append(expand[:len(expand):len(expand)], oldStop+"ALTER TABLE run DROP COLUMN extra")
	old := must(now...)
	upgraded := must(expand...)
	write(old)
	write(upgraded)
	again := must(now...) // an earlier server restarts in the middle of the upgrade
	write(again)
	if s, err := postgres.Schema(t.Context(), database); err != nil || s.Version != len(now)+1 || s.Known != len(now) || len(s.Missing) > 0 {
		t.Errorf("the schema: %+v, %v", s, err)
	}
	refused("servers and workers of an earlier version cannot run, and some are connected", contract...)
	write(old)
	for _, d := range []*postgres.DB{old, upgraded, again} {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	last := must(contract...)
	write(last)
	refused("was written by a later version of proviso", expand...)
	refused("was written by a later version of proviso", now...)
}

// TestStepsOfSchema: each step says whether old servers keep running, and a step with which
// they do only adds.
func TestStepsOfSchema(t *testing.T) {
	t.Parallel()
	steps, err := postgres.Steps()
	if err != nil || len(steps) == 0 {
		t.Fatal(err)
	}
	for i, text := range steps {
		if why := wrongStep(text); why != "" {
			t.Errorf("step %d: %s", i+1, why)
		}
		for _, table := range postgres.Retired() {
			if i > 0 && strings.HasPrefix(text, oldStop) && !strings.Contains(strings.Join(steps, ""), "DROP TABLE "+table) {
				t.Errorf("step %d stops old servers, and can drop the table %s that only they use", i+1, table)
			}
		}
	}
	for text, wrong := range map[string]bool{
		"CREATE TABLE a (b TEXT)":                                            true,
		oldRun + "CREATE TABLE a (b TEXT NOT NULL)":                          false,
		oldRun + "ALTER TABLE run ADD COLUMN b TEXT":                         false,
		oldRun + "ALTER TABLE run ADD COLUMN b BIGINT NOT NULL DEFAULT 0":    false,
		oldRun + "ALTER TABLE run ADD COLUMN b BIGINT NOT NULL":              true,
		oldRun + "ALTER TABLE run DROP COLUMN b":                             true,
		oldRun + "ALTER TABLE run RENAME COLUMN b TO c":                      true,
		oldRun + "alter table run alter column b type text":                  true,
		oldStop + "ALTER TABLE run RENAME COLUMN b TO c; DROP TABLE verdict": false,
	} {
		if got := wrongStep(text) != ""; got != wrong {
			t.Errorf("%q: wrong is %t", text, got)
		}
	}
}

func wrongStep(text string) string {
	first, rest, _ := strings.Cut(text, "\n")
	switch first + "\n" {
	case oldStop:
		return ""
	case oldRun:
	default:
		return "the first line is neither " + oldRun + " nor " + oldStop
	}
	for statement := range strings.SplitSeq(strings.ToUpper(rest), ";") {
		if takes := regexp.MustCompile(`\b(DROP|RENAME|ALTER COLUMN|SET NOT NULL|TRUNCATE)\b`).FindString(statement); takes != "" {
			return "old servers do not keep running after " + takes
		}
		if strings.Contains(statement, "ADD COLUMN") && strings.Contains(statement, "NOT NULL") && !strings.Contains(statement, "DEFAULT") {
			return "old servers do not set a new column, so that it needs a DEFAULT"
		}
	}
	return ""
}
