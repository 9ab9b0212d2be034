package align_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge/align"
	"github.com/proviso-eval/proviso/judge/record"
)

func TestAlignmentRecord(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), align.File)
	kept, err := align.Load(file)
	if err != nil || len(kept.Entries()) != 0 {
		t.Fatal(err)
	}
	tone := &proviso.Assertion{ID: "tone", Type: "judge", Instruction: "be kind"}
	hash := record.AssertionHash(tone)
	agreement := compare(t, labelled(29, 2, 8, 1, 3), nil).Assertions[0]
	agreement.Judge = "model#1"
	day := time.Date(2026, 1, 5, 23, 0, 0, 0, time.UTC)
	kept.Put(align.Entry{Agreement: compare(t, labelled(5, 0, 0, 0, 0), nil).Assertions[0], Hash: "sha256:a"})
	kept.Put(align.Entry{Agreement: agreement, Hash: hash, Measured: day})
	kept.Put(align.Entry{Agreement: agreement, Hash: hash, Measured: day})
	if err := kept.Save(file); err != nil {
		t.Fatal(err)
	}
	again, err := align.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	e, ok := again.Find("model#1", hash)
	if !ok || e.N != 40 || e.Confusion != agreement.Confusion || *e.Kappa != *agreement.Kappa || *e.TNR != *agreement.TNR || !e.Measured.Equal(day.Truncate(24*time.Hour)) {
		t.Errorf("%+v", e)
	}
	if len(again.Entries()) != 2 {
		t.Errorf("%d entries", len(again.Entries()))
	}
	for _, c := range []struct {
		identity, name, hash string
		validated, lapsed    bool
		text                 string
	}{
		{"model#1", "tone", hash, true, false, "judge validated (measured on 40 labels: kappa 0.79, misses 20 % of bad outputs)"},
		{"model#1", "renamed", hash, true, false, "judge validated (measured on 40 labels: kappa 0.79, misses 20 % of bad outputs)"},
		{"model#2", "tone", hash, false, true, "judge unvalidated: its prompt, model or mode has changed since it was aligned"},
		{"model#1", "tone", "sha256:b", false, true, "judge unvalidated: the assertion has changed since it was aligned"},
		{"model#1", "cite", "sha256:b", false, false, "judge unvalidated"},
	} {
		got := again.Trust(c.identity, c.name, c.hash)
		if got.Validated != c.validated || got.Lapsed != c.lapsed || got.Text != c.text {
			t.Errorf("%+v: %+v", c, got)
		}
	}
	var none *align.Alignment
	if got := none.Trust("a", "b", "c"); got.Validated || got.Text != "judge unvalidated" {
		t.Errorf("%+v", got)
	}
}

// TestTrustNeedsAgreement: a measured judge is not necessarily a good one.
func TestTrustNeedsAgreement(t *testing.T) {
	t.Parallel()
	for labels, want := range map[string]string{
		labelled(9, 0, 0, 0, 0):    "judge unvalidated (9 labels, 0 of bad outputs: not measured yet, it takes 10 more of bad and 1 more of good outputs)",
		labelled(38, 0, 2, 0, 0):   "judge unvalidated (40 labels, 2 of bad outputs: not measured yet, it takes 8 more of bad outputs)",
		labelled(9, 0, 30, 0, 0):   "judge unvalidated (39 labels, 9 of good outputs: not measured yet, it takes 1 more of good outputs)",
		labelled(0, 1, 0, 0, 0):    "judge unvalidated (1 label, 1 of bad outputs: not measured yet, it takes 9 more of bad and 10 more of good outputs)",
		labelled(10, 0, 10, 0, 0):  "judge validated (measured on 20 labels: kappa 1.00, misses 0 % of bad outputs)",
		labelled(6, 6, 6, 6, 0):    "weak judge (measured on 24 labels: kappa 0.00, misses 50 % of bad outputs; not clearly above chance)",
		labelled(20, 12, 18, 0, 0): "weak judge (measured on 50 labels: kappa 0.54, misses 40 % of bad outputs)",
	} {
		a := &align.Alignment{}
		entry := align.Entry{Agreement: compare(t, labels, nil).Assertions[0], Hash: "h"}
		entry.Judge = "j"
		a.Put(entry)
		if got := a.Trust("j", "tone", "h"); got.Validated != strings.HasPrefix(want, "judge validated") || got.Weak != strings.HasPrefix(want, "weak") || got.TooFew != strings.Contains(want, "not measured yet") || got.Text != want {
			t.Errorf("got %+v, want %s", got, want)
		}
	}
}

func TestAlignmentFilesThatAreNone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                   "was not written by `proviso align --save`",
		"[]":                                 "was not written by `proviso align --save`",
		`{"entries":[]}`:                     "was not written by `proviso align --save`",
		`{"proviso":"alignment","format":2}`: "has format 2",
		`{"proviso":"alignment","format":1,"entries":[{"n":"many"}]}`: "was not written by `proviso align --save`",
	} {
		file := filepath.Join(t.TempDir(), "alignment.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := align.Load(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	dir := filepath.Join(t.TempDir(), "a file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (&align.Alignment{}).Save(filepath.Join(dir, "x.json")); err == nil {
		t.Error("saved below a file")
	}
}
