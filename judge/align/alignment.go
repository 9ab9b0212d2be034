package align

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
)

// File is the path of a suite's alignment, relative to the suite's folder.
// Commit the file together with the suite.
const File = ".proviso/alignment.json"

// maxAlignment is the largest alignment file that is read, in bytes.
const maxAlignment = 16 << 20

// Alignment records how well judges agreed with human labels, so that reports can show
// whether a judge can be trusted. An entry applies to one judge and one text of an
// assertion. A change of the prompt, the model, its parameters, the mode or the assertion
// changes the identity or the hash, and the entry no longer applies. Changing an
// Alignment is not safe for concurrent use.
type Alignment struct {
	entries []Entry
}

// Entry is one entry of an [Alignment]: an agreement without its disagreements.
type Entry struct {
	Agreement
	Hash     string    // hash of the assertion ([record.AssertionHash])
	Measured time.Time // day, UTC
}

// alignedJSON is an entry in the file.
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

// Load reads an alignment. A missing file is an empty alignment.
func Load(file string) (*Alignment, error) {
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
		return nil, proviso.Errorf(proviso.Invalid, "%s was not written by `proviso align --save`", file)
	}
	if document.Format > alignmentFormat {
		return nil, proviso.Errorf(proviso.Invalid, "%s has format %d; this version of proviso reads up to %d", file, document.Format, alignmentFormat)
	}
	a := &Alignment{}
	for _, e := range document.Entries {
		day, _ := time.Parse(time.DateOnly, e.Measured)
		entry := Entry{Hash: e.AssertionHash, Measured: day, Agreement: Agreement{Assertion: e.Assertion, Judge: e.Judge, N: e.N, Errors: e.Errors,
			Agreement: e.agreementJSON.Agreement, Kappa: e.Kappa.estimate(), TPR: e.TPR.estimate(), TNR: e.TNR.estimate(),
			BaseRate: e.BaseRate, JudgePassRate: e.JudgePassRate, Corrected: e.Corrected.estimate()}}
		entry.TP, entry.FP, entry.TN, entry.FN = e.TP, e.FP, e.TN, e.FN
		a.entries = append(a.entries, entry)
	}
	slices.SortStableFunc(a.entries, compareAligned)
	a.entries = slices.CompactFunc(a.entries, func(x, y Entry) bool { return compareAligned(x, y) == 0 })
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

// Put adds an entry, replacing the one for the same judge and text.
func (a *Alignment) Put(e Entry) {
	e.Disagreements = nil
	at, found := slices.BinarySearchFunc(a.entries, e, compareAligned)
	if found {
		a.entries[at] = e
		return
	}
	a.entries = slices.Insert(a.entries, at, e)
}

// Add adds the agreements of a run, measured at the given time. It returns their number,
// and a message for each one that it omits because the labels name no judge or the
// assertion has several texts.
func (a *Alignment) Add(result *Agreements, measured time.Time) (added int, omitted []string) {
	for _, x := range result.Assertions {
		switch {
		case x.N == 0:
		case x.Judge == "":
			omitted = append(omitted, fmt.Sprintf("%s is not kept: its labels do not say which judge they are about", x.Assertion))
		case len(x.Hashes) != 1:
			omitted = append(omitted, fmt.Sprintf("%s is not kept: it has %d texts in this run; give each text an id of its own", x.Assertion, len(x.Hashes)))
		default:
			a.Put(Entry{Agreement: x, Hash: x.Hashes[0], Measured: measured})
			added++
		}
	}
	return added, omitted
}

func compareAligned(x, y Entry) int {
	return cmp.Or(cmp.Compare(x.Assertion, y.Assertion), cmp.Compare(x.Judge, y.Judge), cmp.Compare(x.Hash, y.Hash))
}

// Entries returns all entries, sorted by assertion, judge and hash.
func (a *Alignment) Entries() []Entry { return slices.Clone(a.entries) }

// Find returns the entry for a judge and an assertion hash; see [record.AssertionHash].
func (a *Alignment) Find(judge, hash string) (Entry, bool) {
	for _, e := range a.entries {
		if e.Judge == judge && e.Hash == hash && judge != "" {
			return e, true
		}
	}
	return Entry{}, false
}
