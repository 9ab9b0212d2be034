package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlaceOfStore: what is meant as the address of a database never becomes a file, and no
// message shows what stands behind its scheme.
func TestPlaceOfStore(t *testing.T) {
	const secret = "S3CRET"
	for place, says := range map[string]string{
		"postgre://proviso:S3CRET@h/proviso":                        "unknown scheme postgre://",
		"POSTGRES://proviso:S3CRET@h/proviso":                       "write postgres://",
		"Postgresql://proviso:S3CRET@h/proviso":                     "write postgresql://",
		"postgres:/proviso:S3CRET@h/proviso":                        "write postgres://",
		"postgres:proviso:S3CRET@h/proviso":                         "write postgres://",
		"mysql://u:S3CRET@h/db":                                     "unknown scheme mysql://",
		"u:S3CRET://h":                                              "begins with no scheme",
		"host=db.internal user=proviso password=S3CRET dbname=data": "host=… is libpq's other form",
		"password=S3CRET":                                           "password=… is libpq's other form",
		" postgres://u:S3CRET@h/db":                                 "write postgres://",
	} {
		for _, args := range []string{"serve --store", "serve --db", "key list --store", "key create a --db", "store check --store", "store migrate --store", "store copy --to", "store copy --from",
			"store export out --store", "labels list --store", "worker --store", ""} {
			command := append(strings.Fields(args), place)
			if args == "" {
				t.Setenv(storeVariable, place)
				command = []string{"key", "list"}
			}
			t.Chdir(t.TempDir())
			code, out := printed(t, command...)
			if code != exitUsage || !strings.Contains(out, says) || strings.Contains(out, secret) {
				t.Errorf("%s %s: %d: %s", args, place, code, out)
			}
			if left, _ := filepath.Glob("*"); len(left) > 0 {
				t.Errorf("%s %s left %v", args, place, left)
			}
			os.Unsetenv(storeVariable) // Setenv restores it
		}
	}
	for _, path := range []string{"a b.db", "host/data.db", `C:\data\proviso.db`, "u@h:data.db", "name=value.db"} {
		if err := checkPlace(path); err != nil {
			t.Errorf("the file %q: %v", path, err)
		}
	}
}
