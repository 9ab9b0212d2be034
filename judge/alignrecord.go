package judge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
)

// AlignmentFile is the path of a suite's alignment, relative to the suite's folder.
// Commit the file together with the suite.
const AlignmentFile = ".proviso/alignment.json"

// maxAlignment is the largest alignment file that is read, in bytes.
const maxAlignment = 16 << 20

// Alignment records how well judges agreed with human labels, so that reports can
// show whether a judge can be trusted. An entry is for one judge and one text of an
// assertion. A change of the prompt, the model, its parameters, the mode or the
// assertion changes the identity or the hash, and the entry no longer applies. An
// Alignment is not safe for concurrent use while it is changed.
type Alignment struct {
	entries []Aligned
}

// Aligned is one entry of an [Alignment]: an agreement without its disagreements.
type Aligned struct {
	Agreement
	Hash     string    // of the assertion ([AssertionHash])
	Measured time.Time // day, UTC
}

// alignedJSON is an entry as the file holds it.
type alignedJSON struct {
	agreementJSON
	AssertionHash string `json:"assertion_hash"`
	Measured      string `json:"measured"` // 2026-01-05
}

type alignmentJSON struct {
	Proviso string        `json:"proviso"` // kind of the file: "alignment"
	Format  int           `json:"format"`
	Entries []alignedJSON `json:"entries"`
}

// alignmentFormat is the version of the file format; newer versions are refused.
const alignmentFormat = 1

// LoadAlignment reads an alignment. A missing file is an empty alignment.
func LoadAlignment(file string) (*Alignment, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return &Alignment{}, nil
	}
	if err != nil {
		return nil, proviso.Errorf(proviso.Unavailable, "read the alignment: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxAlignment+1))
	if err != nil {
		return nil, proviso.Errorf(proviso.Unavailable, "read the alignment: %w", err)
	}
	if len(data) > maxAlignment {
		return nil, proviso.Errorf(proviso.Limit, "%s is larger than %d MiB", file, maxAlignment>>20)
	}
	var document alignmentJSON
	if err := json.Unmarshal(data, &document); err != nil || document.Proviso != "alignment" {
		return nil, proviso.Errorf(proviso.Invalid, "%s is no alignment as `proviso align --save` writes it", file)
	}
	if document.Format > alignmentFormat {
		return nil, proviso.Errorf(proviso.Invalid, "%s has format %d; this version of proviso reads up to %d", file, document.Format, alignmentFormat)
	}
	a := &Alignment{}
	for _, e := range document.Entries {
		day, _ := time.Parse(time.DateOnly, e.Measured)
		entry := Aligned{Hash: e.AssertionHash, Measured: day, Agreement: Agreement{Assertion: e.Assertion, Judge: e.Judge, N: e.N, Errors: e.Errors,
			Agreement: e.agreementJSON.Agreement, Kappa: e.Kappa.estimate(), TPR: e.TPR.estimate(), TNR: e.TNR.estimate(),
			BaseRate: e.BaseRate, JudgePassRate: e.JudgePassRate, Corrected: e.Corrected.estimate()}}
		entry.TP, entry.FP, entry.TN, entry.FN = e.TP, e.FP, e.TN, e.FN
		a.entries = append(a.entries, entry)
	}
	slices.SortStableFunc(a.entries, compareAligned)
	a.entries = slices.CompactFunc(a.entries, func(x, y Aligned) bool { return compareAligned(x, y) == 0 })
	return a, nil
}

// Save writes the alignment, sorted to keep diffs small. It creates the folder if
// needed and replaces the file atomically.
func (a *Alignment) Save(file string) error {
	document := alignmentJSON{Proviso: "alignment", Format: alignmentFormat, Entries: []alignedJSON{}}
	for i := range a.entries {
		e := &a.entries[i]
		document.Entries = append(document.Entries, alignedJSON{AssertionHash: e.Hash, Measured: e.Measured.UTC().Format(time.DateOnly), agreementJSON: e.encoded()})
	}
	data, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return proviso.Errorf(proviso.Internal, "keep the alignment: %w", err)
	}
	data = append(data, '\n')
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, data) {
		return nil
	}
	err = os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = blobs.Replace(file, data, 0o644)
	}
	if err != nil {
		return proviso.Errorf(proviso.Unavailable, "keep the alignment: %w", err)
	}
	return nil
}

// Put adds an entry and replaces the one for the same judge and text.
func (a *Alignment) Put(e Aligned) {
	e.Disagreements = nil
	at, found := slices.BinarySearchFunc(a.entries, e, compareAligned)
	if found {
		a.entries[at] = e
		return
	}
	a.entries = slices.Insert(a.entries, at, e)
}

func compareAligned(x, y Aligned) int {
	return cmp.Or(cmp.Compare(x.Assertion, y.Assertion), cmp.Compare(x.Judge, y.Judge), cmp.Compare(x.Hash, y.Hash))
}

// Entries returns all entries, sorted by assertion, judge and hash.
func (a *Alignment) Entries() []Aligned { return slices.Clone(a.entries) }

// Find returns the entry of a judge and the hash of an assertion; see
// [AssertionHash].
func (a *Alignment) Find(judge, hash string) (Aligned, bool) {
	for _, e := range a.entries {
		if e.Judge == judge && e.Hash == hash && judge != "" {
			return e, true
		}
	}
	return Aligned{}, false
}

// Current returns the entries that apply to these assertions: same id, same text. All
// others are outdated or belong to other suites.
func (a *Alignment) Current(assertions []*proviso.Assertion) []Aligned {
	type text struct{ name, hash string }
	present := map[text]bool{}
	for _, x := range assertions {
		present[text{cmp.Or(x.ID, x.Metric, x.Type), AssertionHash(x)}] = true
	}
	var list []Aligned
	for _, e := range a.entries {
		if present[text{e.Assertion, e.Hash}] {
			list = append(list, e)
		}
	}
	return list
}

// Trust is what the labels show about a judge on an assertion.
type Trust struct {
	Validated bool     // labels show that it agrees with people well enough
	Weak      bool     // labels show that it does not
	TooFew    bool     // there are labels, but fewer than [MinLabels] of good or of bad outputs
	Lapsed    bool     // it was measured, but the judge or the assertion has changed since
	Entry     *Aligned // nil unless there are labels for the current judge and assertion
	Text      string   // for reports, such as "judge validated (measured on 60 labels: kappa 0.81, misses 5 % of bad outputs)"
}

// Trust returns what the labels show about a judge on an assertion, given the judge's
// identity, the assertion's id and its hash. A nil Alignment has no labels.
func (a *Alignment) Trust(judge, assertion, hash string) Trust {
	if a == nil {
		return Trust{Text: "judge unvalidated"}
	}
	if e, ok := a.Find(judge, hash); ok {
		return e.trust()
	}
	var changed *Aligned
	for i := range a.entries {
		if e := &a.entries[i]; e.Hash == hash || e.Assertion == assertion && e.Judge == judge {
			changed = e
		}
	}
	switch {
	case changed == nil:
		return Trust{Text: "judge unvalidated"}
	case changed.Hash == hash:
		return Trust{Lapsed: true, Text: "judge unvalidated: its prompt, model or mode has changed since it was aligned"}
	}
	return Trust{Lapsed: true, Text: "judge unvalidated: the assertion has changed since it was aligned"}
}

// minKappa is the minimum agreement of a validated judge, which is often called
// substantial agreement. Source: J. R. Landis, G. G. Koch, "The measurement of
// observer agreement for categorical data", Biometrics 33 (1977) 159-174.
const minKappa = 0.6

func (e Aligned) trust() Trust {
	t := Trust{Entry: &e}
	if few := e.NotMeasured(); few != "" {
		t.TooFew = true
		t.Text = "judge unvalidated (" + few + ")"
		return t
	}
	measured := "measured on " + labels(e.N)
	k := e.Kappa
	if k == nil {
		t.Text = "judge unvalidated (" + measured + ": kappa is undefined)"
		return t
	}
	figures := fmt.Sprintf("%s: kappa %.2f", measured, math.Floor(100*k.Value+1e-9)/100)
	if e.TNR != nil {
		figures += fmt.Sprintf(", misses %.0f %% of bad outputs", 100*(1-e.TNR.Value))
	}
	switch {
	case k.Low <= 0:
		t.Weak = true
		t.Text = "weak judge (" + figures + "; not clearly above chance)"
	case k.Value < minKappa:
		t.Weak = true
		t.Text = "weak judge (" + figures + ")"
	default:
		t.Validated = true
		t.Text = "judge validated (" + figures + ")"
	}
	return t
}

func labels(n int) string {
	if n == 1 {
		return "1 label"
	}
	return fmt.Sprintf("%d labels", n)
}
