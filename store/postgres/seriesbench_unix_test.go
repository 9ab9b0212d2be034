//go:build unix

package postgres_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/postgres"
	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
	"github.com/proviso-eval/proviso/store/storetest"
)

// BenchmarkSeries is that of package storetest, right after the tables were filled, and after
// the server has analysed them.
func BenchmarkSeries(b *testing.B) {
	s := postgrestest.StartFor(b)
	for _, sql := range []string{"", "ANALYZE"} {
		name := "p" + strings.ToLower(sql)
		url, err := s.Create(name)
		if err != nil {
			b.Fatal(err)
		}
		d, err := postgres.Open(b.Context(), url, postgres.Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer d.Close()
		b.Run("counted="+fmt.Sprint(sql != ""), func(b *testing.B) {
			storetest.BenchmarkSeries(b, d.In(store.DefaultProject), func(text string) error { return s.Run(text+";"+sql, name) }, s.Computed)
		})
	}
}
