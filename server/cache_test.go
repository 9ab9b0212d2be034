package server_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/sqlite"
)

// counting counts the calls that reach a model.
type counting struct {
	sure
	asked *atomic.Int32
}

func (c counting) Answer(ctx context.Context, ask proviso.Ask) (proviso.Output, error) {
	c.asked.Add(1)
	return c.sure.Answer(ctx, ask)
}

// TestCachesOfProjects: a project sees neither cached answers nor cached verdicts of another
// project; keys of one project share both.
func TestCachesOfProjects(t *testing.T) {
	t.Parallel()
	for name, verdicts := range map[string]proviso.Cache{"answers": nil, "verdicts": blobs.Open(t.TempDir())} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "proviso.db"), sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			var asked atomic.Int32
			var model proviso.Provider = counting{asked: &asked}
			if verdicts == nil {
				model = provider.NewCache(blobs.Open(t.TempDir()), provider.CacheOptions{}).Provider(model, "sure")
			}
			j, err := judge.New(judge.Options{Judges: []judge.Seat{{Provider: server.Metered(model), Identity: "sure"}}, Store: verdicts})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			s, err := server.New(server.Options{Store: db, Jobs: db, Judge: j})
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range []struct {
				project store.Project
				asks    bool
			}{
				{"one", true}, {"one", false}, {"two", true}, {"two", false}, {store.DefaultProject, true}, {store.DefaultProject, false}, {"one", false},
			} {
				_, secret, err := db.CreateKey(t.Context(), store.NewKey{Name: "team", Project: step.project, Scopes: []store.Scope{store.Evaluate}})
				if err != nil {
					t.Fatal(err)
				}
				before := asked.Load()
				req := httptest.NewRequest(http.MethodPost, "/v1/evaluate", strings.NewReader(evaluation))
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Authorization", "Bearer "+secret)
				w := httptest.NewRecorder()
				s.ServeHTTP(w, req)
				cached := strings.Contains(w.Body.String(), `"cached":true`)
				if w.Code != http.StatusOK || (asked.Load() > before) != step.asks || cached == step.asks {
					t.Errorf("%s: asked %t, cached %t, want asked %t: %d %s", step.project, asked.Load() > before, cached, step.asks, w.Code, w.Body)
				}
			}
		})
	}
}
