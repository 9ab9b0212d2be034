package engine

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/provider"
)

// TestDefaultJudges holds the file of default judges to what the code expects.
func TestDefaultJudges(t *testing.T) {
	t.Parallel()
	for _, role := range []judge.Role{judge.Text, judge.Embedding, judge.Moderation} {
		rows := DefaultJudges(role)
		if len(rows) == 0 {
			t.Errorf("no default for %s", role)
		}
		for _, row := range rows {
			if !strings.HasSuffix(row.Key, "_API_KEY") || row.Provider == "" {
				t.Errorf("%s: %+v", role, row)
			}
			open := provider.Options{Env: proviso.EnvMap{row.Key: "k"}}
			if _, err := provider.Open(proviso.ProviderSpec{ID: row.Provider}, open); err != nil {
				t.Errorf("%s: %v", row.Provider, err)
			}
		}
	}
}
