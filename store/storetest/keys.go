package storetest

import (
	"math"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

var keyTests = []test{
	{name: "create and authenticate", run: func(b *bench) {
		budget := 2.5
		k, secret, err := b.CreateKey(b.Context(), store.NewKey{Name: "ci", Scopes: []store.Scope{store.Read, store.Evaluate},
			Budget: &budget, Providers: []string{"openai:*", "echo"}})
		b.ok(err)
		if !store.IsSecret(secret) || strings.Contains(secret[len(k.Hint):], k.Hint) || !strings.HasPrefix(secret, k.Hint) {
			b.Errorf("secret %q with hint %q", secret, k.Hint)
		}
		got := must(b.Authenticate(b.Context(), secret))(b)
		if got.Budget == nil || *got.Budget != budget {
			b.Errorf("budget %v", got.Budget)
		}
		got.Budget, k.Budget = nil, nil
		b.equal("key", got, k)
		b.equal("created", k.Created, start)
		if !k.LastUsed.IsZero() || !k.Revoked.IsZero() || k.Spent != 0 {
			b.Errorf("a new key: %+v", k)
		}
	}},
	{name: "unknown secrets", run: func(b *bench) {
		_, secret := b.key()
		for _, s := range []string{"", "x", store.SecretPrefix, store.NewSecret(), secret + "0", secret[:len(secret)-1],
			strings.ToUpper(secret), secret[:len(secret)-1] + "'", " " + secret} {
			_, err := b.Authenticate(b.Context(), s)
			b.wants(proviso.NotFound, err)
			if len(s) > 10 && strings.Contains(err.Error(), s[4:]) {
				b.Errorf("the error tells the secret: %v", err)
			}
		}
	}},
	{name: "revoke", run: func(b *bench) {
		k, secret := b.key()
		b.clock.add(time.Hour)
		first := must(b.RevokeKey(b.Context(), k.ID))(b)
		b.equal("revoked", first.Revoked, start.Add(time.Hour))
		b.clock.add(time.Hour)
		b.equal("revoked again", must(b.RevokeKey(b.Context(), k.ID))(b), first)
		b.wants(proviso.Refused, errorOf(b.Authenticate(b.Context(), secret)))
		b.equal("by id", must(b.Key(b.Context(), k.ID))(b), first)
		if first.Can(store.Evaluate) {
			b.Error("a revoked key can evaluate")
		}
		b.wants(proviso.NotFound, errorOf(b.RevokeKey(b.Context(), "key_none")))
	}},
	{name: "charge", run: func(b *bench) {
		k, _ := b.key()
		atOnce(40, func(int) {
			b.works(errorOf(b.Charge(b.Context(), k.ID, 0.25)))
		})
		b.equal("spent", must(b.Key(b.Context(), k.ID))(b).Spent, 10.0)
		must(b.RevokeKey(b.Context(), k.ID))(b)
		b.equal("spent after it was revoked", must(b.Charge(b.Context(), k.ID, 1))(b).Spent, 11.0)
		for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
			b.wants(proviso.Invalid, errorOf(b.Charge(b.Context(), k.ID, bad)))
		}
		b.wants(proviso.NotFound, errorOf(b.Charge(b.Context(), "key_none", 1)))
	}},
	{name: "touch", run: func(b *bench) {
		k, _ := b.key()
		b.ok(b.TouchKey(b.Context(), k.ID, start.Add(time.Hour)))
		b.ok(b.TouchKey(b.Context(), k.ID, start))
		b.equal("last used", must(b.Key(b.Context(), k.ID))(b).LastUsed, start.Add(time.Hour))
		b.wants(proviso.NotFound, b.TouchKey(b.Context(), "key_none", start))
	}},
	{name: "names", run: func(b *bench) {
		for _, name := range names {
			k, _, err := b.CreateKey(b.Context(), store.NewKey{Name: name, Scopes: []store.Scope{store.Read}, Providers: []string{name}})
			b.ok(err)
			got := must(b.Key(b.Context(), k.ID))(b)
			b.equal("name", []string{got.Name, got.Providers[0]}, []string{name, name})
		}
		b.equal("keys", len(all(b, 5, b.ListKeys)), len(names))
	}},
	{name: "mistakes", run: func(b *bench) {
		read := []store.Scope{store.Read}
		less, none, endless := -0.01, math.NaN(), math.Inf(1)
		for code, list := range map[string][]store.NewKey{
			proviso.Invalid: {{Name: "a"}, {Name: "a", Scopes: []store.Scope{"root"}}, {Name: "a", Scopes: read, Budget: &less},
				{Name: "a", Scopes: read, Budget: &none}, {Name: "a", Scopes: read, Budget: &endless}, {Name: "a", Scopes: read, Providers: []string{""}}},
			proviso.Limit: {{Name: strings.Repeat("x", store.MaxName+1), Scopes: read}, {Name: "a", Scopes: read, Providers: make([]string, store.MaxGlobs+1)}},
		} {
			for _, k := range list {
				b.wants(code, errorOf(b.CreateKey(b.Context(), k)))
			}
		}
		for _, name := range notNames {
			b.wants(proviso.Invalid, errorOf(b.CreateKey(b.Context(), store.NewKey{Name: name, Scopes: read})))
		}
		b.equal("keys", len(all(b, 5, b.ListKeys)), 0)
	}},
}
