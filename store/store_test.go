package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

func TestSecrets(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 100 {
		s := store.NewSecret()
		if seen[s] || !store.IsSecret(s) {
			t.Fatalf("%q is no new secret", s)
		}
		seen[s] = true
		for i := range s { // any single changed character is detected
			for _, c := range []byte("0z_") {
				if s[i] != c && store.IsSecret(s[:i]+string(c)+s[i+1:]) {
					t.Errorf("%q with %q at %d is taken for a secret", s, c, i)
				}
			}
		}
		if hint := store.SecretHint(s); !strings.HasPrefix(s, hint) || len(hint) > 8 {
			t.Errorf("the hint of %q is %q", s, hint)
		}
	}
	if store.SecretHint("pv") != "pv" {
		t.Error("hint of a short text")
	}
	// The CRC-32 of zlib, so that other programs can check secrets.
	const known = "pvk_0000000000000000000000000000000000000000" + "7hz6a8r"
	if !store.IsSecret(known) {
		t.Errorf("%s has the wrong checksum", known)
	}
}

func TestMayAsk(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		globs    []string
		provider string
		want     bool
	}{
		{nil, "anything", true},
		{[]string{"openai:*"}, "openai:gpt-4o", true},
		{[]string{"openai:*"}, "azureopenai:gpt-4o", false},
		{[]string{"openai:*"}, "openai:", true},
		{[]string{"openai"}, "openai:gpt-4o", false},
		{[]string{"echo", "openrouter:*/llama-*"}, "openrouter:meta/llama-4", true},
		{[]string{"*"}, "exec: rm -rf /", true},
		{[]string{"gpt-?"}, "gpt-4", true},
		{[]string{"gpt-?"}, "gpt-é", true},
		{[]string{"gpt-?"}, "gpt-", false},
		{[]string{"a*b*c"}, "a-b-b-c", true},
		{[]string{"a*b*c"}, "a-c-b", false},
		{[]string{"[a-z]"}, "b", false},
		{[]string{strings.Repeat("a*", 90) + "b"}, strings.Repeat("a", 100_000), false},
	} {
		if got := (store.Key{Providers: tt.globs}).MayAsk(tt.provider); got != tt.want {
			t.Errorf("%.40q may ask %.40q: %t", tt.globs, tt.provider, got)
		}
	}
}

func TestCan(t *testing.T) {
	t.Parallel()
	all := []store.Scope{store.Read, store.Evaluate, store.Edit, store.Admin}
	for scope, want := range map[store.Scope][]bool{
		store.Read: {true, false, false, false}, store.Evaluate: {false, true, false, false}, store.Edit: {false, false, true, false},
		store.Admin: {true, true, true, true}, "": {false, false, false, false},
	} {
		for i, s := range all {
			k := store.Key{Scopes: []store.Scope{scope}}
			if k.Can(s) != want[i] {
				t.Errorf("%s can %s: %t", scope, s, !want[i])
			}
			if k.Revoked = time.Now(); k.Can(s) {
				t.Errorf("a revoked key can %s", s)
			}
		}
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	var ids []string
	for i := range 1000 {
		ids = append(ids, store.NewID(store.RunID, now.Add(time.Duration(i)*time.Millisecond)))
	}
	if !slices.IsSorted(ids) {
		t.Error("ids do not sort by time")
	}
	if a, b := store.NewID("x_", now), store.NewID("x_", now); a == b || a[:11] != b[:11] {
		t.Errorf("two ids of one moment: %s, %s", a, b)
	}
}

func TestCursors(t *testing.T) {
	t.Parallel()
	for _, position := range []string{"", "1", "a:b", "日本", "\x00", strings.Repeat("x", 1000)} {
		got, ok, err := store.Page{After: store.Cursor("l", position)}.Position("l")
		if got != position || !ok || err != nil {
			t.Errorf("%q came back as %q, %t, %v", position, got, ok, err)
		}
	}
	for _, after := range []string{"=", "a b", store.Cursor("m", "1"), store.Cursor("l", "\xff"), "bA"} {
		if _, _, err := (store.Page{After: after}).Position("l"); err == nil {
			t.Errorf("%q was taken for a cursor", after)
		}
	}
}

// FuzzPosition: any cursor from a client is a position or an error.
func FuzzPosition(f *testing.F) {
	f.Add(store.Cursor("runs", "17"))
	f.Add("")
	f.Fuzz(func(t *testing.T, after string) {
		n, ok, err := store.Page{After: after}.Number("runs")
		if err == nil && ok != (after != "") {
			t.Errorf("%q: %d, %t", after, n, ok)
		}
		var e *proviso.Error
		if err != nil && (!errors.As(err, &e) || e.Code != proviso.Invalid) {
			t.Errorf("%q: %v", after, err)
		}
	})
}

func TestVersions(t *testing.T) {
	t.Parallel()
	base := store.NewDocument{Kind: store.SuiteKind, Name: "s", PromptHash: "ab", MediaType: "c", Content: []byte("d")}
	renamed, shifted := base, base
	renamed.Name, renamed.CreatedBy = "t", "somebody"
	shifted.PromptHash, shifted.MediaType = "a", "bc"
	if base.Version() != renamed.Version() || base.Version() == shifted.Version() || len(base.Version()) != 64 {
		t.Errorf("versions %s, %s, %s", base.Version(), renamed.Version(), shifted.Version())
	}
}

func TestPermanent(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	err := fmt.Errorf("wrapped: %w", store.Permanent(cause))
	if !store.IsPermanent(err) || !errors.Is(err, cause) || store.IsPermanent(cause) || store.Permanent(nil) != nil {
		t.Errorf("permanent: %v", err)
	}
}

// TestUnable: a refused key is not reported as missing.
func TestUnable(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"this process has no X and Y":           store.Unable("X", "Y"),
		"the key of this process is refused: X": store.Refused("X"),
	} {
		if lacks := store.UnableTo(err); err.Error() != want || len(lacks) == 0 || lacks[0] != "X" {
			t.Errorf("%v, of %v", err, lacks)
		}
	}
}
