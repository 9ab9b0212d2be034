package provider

import (
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
)

// TestLocalRow: a provider whose row says that it computes its answers itself is neither
// cached nor counted by a budget, whatever its type; any other is.
func TestLocalRow(t *testing.T) {
	t.Parallel()
	for _, isLocal := range []bool{true, false} {
		k := Kind{Name: "mirror:", New: newEcho, Local: isLocal}
		spec := proviso.ProviderSpec{ID: "mirror:x"}
		rest, ok := k.of(spec.ID)
		p, err := k.open(spec, rest, Options{})
		if err != nil || !ok || rest != "x" || p.ID() != "mirror:x" {
			t.Fatal(p, rest, ok, err)
		}
		cache := NewCache(blobs.Open(t.TempDir()), CacheOptions{})
		if same := cache.Provider(p, "i") == p; same != isLocal {
			t.Errorf("local: %v, without a cache: %v", isLocal, same)
		}
		if same := NewBudget(1).Provider(p) == p; same != isLocal {
			t.Errorf("local: %v, without a budget: %v", isLocal, same)
		}
		if Computes(p) != isLocal || Computes(NewBudget(1).Provider(p)) != isLocal {
			t.Errorf("local: %v, computes: %v", isLocal, Computes(p))
		}
	}
}
