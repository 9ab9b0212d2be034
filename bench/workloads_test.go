package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
)

// TestWorkloadsAreThoseOfTheFigures compares the generated files with the files on which the
// recorded figures were measured.
func TestWorkloadsAreThoseOfTheFigures(t *testing.T) {
	t.Parallel()
	want := map[string][2]string{ // suite, cases
		"csv5-1000":            {"233c83add8a74fecce54288a4622dcc3aecc9d453c0ec20b6ecce6c4d16d23bd", "4e976ac355da0143cabd69da81fb173f009decafde7cbcf7fe5435d7dc619098"},
		"det5-1":               {"5d646c5bb43b68a6abda6778c5cce24729ae1c2f79ae823a7453e3c78a809506", "e3fa149676a982055af73101eb3d1aa70a2a0509b78eb66bdfde7279012b992a"},
		"det5-1000":            {"fef42993ac37cbf3fe4925f2b4f66c2c9fa8e50be2f6d4036d328ba713c933c4", "ad0f87118887b4edcf152e898fbb1f1ea48a803684e0f3fb2507075a3c2b1ea0"},
		"metrics-1000":         {"6a0eb9da87393d90acfea5ea7498e4c7592194a9b7b87fd08495957cf7976a99", "f508492ad0f4b8e718990b391dfe55d16281f7d868e78d3619690edb131bc58e"},
		"noassert-1000":        {"5ea2fdf27bc1bdb6fe911fea802e7260b694637ac65b3bc3b9a179e743566824", "42d046b7c94e530e26017a37562d4c183c76e4ea6c405c14bbd9d72bc3824f73"},
		"meteor-1000":          {"4cf2e2ec5936a9dc7d677fb4f242203defe329fb60855042b8ae20a607fe3a8e", "4005c358dce611cc87116a39f9ce339ef2ef7e51439d6b3093fc101bfcef45e0"},
		"one-levenshtein-1000": {"38ff6cbdc2f1476398f1a9b5fc44a4e3f405802e688a1c2c1462143921e10bd9", "bcee2aab0ccf5201a67345d4f5a126e4980968f396dcea694495269a067b8be5"},
		"js-1000":              {"4eaf1cab639033876bea028ff7a84beeea4d191162ad806bcd0d3a6ce40f2040", "bb19e3cf2fe06029686224c455e0e958043ac08887a07febe23a6288e5da443c"},
		"sql-1000":             {"ef82e43c3c037cfbcb87a298a3814b515671ef9083f535f821f6992382d3a04e", "200b1eaeb9488914c974c07d23018d884ebbbbb6094a57136881d15d3cf88d12"},
	}
	dir := t.TempDir()
	for _, w := range workloads() {
		sums, ok := want[w.name]
		if !ok {
			continue
		}
		config, err := w.write(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := sum(t, config); got != sums[0] {
			t.Errorf("%s: the suite differs: %s", w.name, got)
		}
		if got := sum(t, filepath.Join(filepath.Dir(config), w.tests)); got != sums[1] {
			t.Errorf("%s: the cases differ: %s", w.name, got)
		}
	}
}

func sum(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}
