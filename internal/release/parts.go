package main

import (
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// partsName is the file name of the software bill of materials, in SPDX 2.3
// (https://spdx.github.io/spdx-spec/v2.3/).
const partsName = "proviso.spdx.json"

type (
	spdxDocument struct {
		Version       string             `json:"spdxVersion"`
		DataLicense   string             `json:"dataLicense"`
		ID            string             `json:"SPDXID"`
		Name          string             `json:"name"`
		Namespace     string             `json:"documentNamespace"`
		Creation      spdxCreation       `json:"creationInfo"`
		Packages      []spdxPackage      `json:"packages"`
		Relationships []spdxRelationship `json:"relationships"`
	}
	spdxCreation struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	}
	spdxPackage struct {
		ID        string          `json:"SPDXID"`
		Name      string          `json:"name"`
		Version   string          `json:"versionInfo"`
		File      string          `json:"packageFileName,omitempty"`
		Supplier  string          `json:"supplier"`
		Download  string          `json:"downloadLocation"`
		Analyzed  bool            `json:"filesAnalyzed"`
		Checksums []spdxChecksum  `json:"checksums,omitempty"`
		Source    string          `json:"sourceInfo,omitempty"`
		Concluded string          `json:"licenseConcluded"`
		Declared  string          `json:"licenseDeclared"`
		Copyright string          `json:"copyrightText"`
		Purpose   string          `json:"primaryPackagePurpose"`
		Refs      []spdxReference `json:"externalRefs,omitempty"`
	}
	spdxChecksum struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"checksumValue"`
	}
	spdxReference struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	spdxRelationship struct {
		From string `json:"spdxElementId"`
		Type string `json:"relationshipType"`
		To   string `json:"relatedSpdxElement"`
	}
)

const unknown = "NOASSERTION"

// writeParts writes the modules of each binary, as the Go linker recorded them in the
// binary.
func (r *release) writeParts(binaries []binary) error {
	doc := spdxDocument{
		Version: "SPDX-2.3", DataLicense: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: "proviso-" + r.version,
		Creation: spdxCreation{Created: r.made.Format(time.RFC3339), Creators: []string{"Organization: proviso", "Tool: proviso-release"}},
	}
	sums := sha256.New()
	modules := map[string]*debug.Module{}
	for i := range binaries {
		b := &binaries[i]
		fmt.Fprintln(sums, b.name, b.sum)
		info, err := buildinfo.ReadFile(b.path)
		if err != nil {
			return fmt.Errorf("read the modules of %s: %w", b.name, err)
		}
		id := "SPDXRef-" + identifier(b.name)
		doc.Packages = append(doc.Packages, spdxPackage{ID: id, Name: "proviso", Version: r.version, File: b.name, Supplier: "Organization: proviso", Download: r.address(b.name),
			Checksums: []spdxChecksum{{"SHA256", b.sum}}, Concluded: "MIT", Declared: "MIT", Copyright: unknown, Purpose: "APPLICATION"})
		doc.Relationships = append(doc.Relationships, spdxRelationship{doc.ID, "DESCRIBES", id})
		goModule := &debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}
		for _, m := range append([]*debug.Module{goModule}, info.Deps...) {
			modules[m.Path+"@"+m.Version] = m
			doc.Relationships = append(doc.Relationships, spdxRelationship{id, "DEPENDS_ON", moduleID(m)})
		}
	}
	for _, m := range modules {
		doc.Packages = append(doc.Packages, modulePackage(m))
	}
	slices.SortFunc(doc.Packages[len(binaries):], func(a, b spdxPackage) int { return cmp.Compare(a.ID, b.ID) })
	// SPDX 2.3, 6.5: a namespace contains no "#", which separates it from the ids of
	// elements.
	doc.Namespace = r.address(partsName) + "-" + hex.EncodeToString(sums.Sum(nil)[:8])
	data, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.dir, partsName), append(data, '\n'), 0o644)
}

func moduleID(m *debug.Module) string {
	return "SPDXRef-go-" + identifier(m.Path) + "-" + identifier(m.Version)
}

// modulePackage describes a module. It does not guess licence names: the licences are in
// `proviso version --licenses`.
func modulePackage(m *debug.Module) spdxPackage {
	p := spdxPackage{ID: moduleID(m), Name: m.Path, Version: m.Version, Supplier: unknown, Download: unknown, Concluded: unknown, Declared: unknown, Copyright: unknown, Purpose: "LIBRARY",
		Refs: []spdxReference{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + m.Path + "@" + strings.ReplaceAll(m.Version, "+", "%2B")}}}
	if m.Sum != "" {
		p.Source = "go.sum: " + m.Sum
		p.Download = "https://proxy.golang.org/" + escapedPath(m.Path) + "/@v/" + escapedPath(m.Version) + ".zip"
	}
	return p
}

// escapedPath escapes capital letters as the module proxy does
// (https://go.dev/ref/mod#goproxy-protocol).
func escapedPath(path string) string {
	return regexp.MustCompile(`[A-Z]`).ReplaceAllStringFunc(path, func(s string) string { return "!" + strings.ToLower(s) })
}

// identifier replaces characters that are invalid in an SPDX identifier.
func identifier(s string) string {
	return regexp.MustCompile(`[^A-Za-z0-9.-]`).ReplaceAllString(s, "-")
}
