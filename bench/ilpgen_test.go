package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
)

// TestInstancesAreThoseOfTheFigures holds the generated instances against those
// that a Python program made from the same numbers, byte for byte.
func TestInstancesAreThoseOfTheFigures(t *testing.T) {
	t.Parallel()
	strict := newShape(120, 300, 4)
	strict.alpha, strict.tau, strict.recall, strict.precision, strict.contradicted = 0.9, 1, 0.9, 0.5, true
	loose := strict
	loose.alpha, loose.tau, loose.contradicted = 0.00001, 0, false
	for _, c := range []struct {
		shape ilpShape
		sum   string
	}{
		{newShape(50, 100, 1), "8207a38b8b91f1633d6966904a6dc1ea7e6e27dd769df2dd8cb6e8c9f8e0f44d"},
		{newShape(50, 100, 7), "421c772beab6adcfbb6796787fc00a3d19dff6a7a75b805d2cfc931dc08b2fcb"},
		{newShape(200, 500, 1), "bb870987c6cc6c854cc79a286c79b3a81b2a2e5861f606d48b5c68979ee1b158"},
		{newShape(200, 500, 2), "f5afd84cdbd0d10a5b27e0cd9ea954d3423eff1dc1a9c6a5b22c9e7a37b48503"},
		{newShape(500, 2000, 1), "ef1a98f14bd52a668a581853f50db8d4c35f03e8f6be7d2aa3e62367043f2101"},
		{newShape(1000, 10000, 1), "4566cb4f188f1e054380fe017eddfea850bde1c111c0b05e628b347544680c3d"},
		{newShape(3, 4, 1), "467e4c87a896c6c9a1cafde67c9d2ba099ad978999f410179f58d9e3f1da6936"},
		{newShape(1, 1, 1), "df26da190e955f08917dcaa60dfeff3a4b7969b685e22a980662daa5b7a30bb6"},
		{newShape(97, 1234, 5), "aa8c33ddfc179a72ab60d9b78bf45621f92387b931a4f813667473cb73b60d72"},
		{newShape(30, 20000, 3), "49e166c6a74345575b693469e5bf5581fae5267d5a03c555d19d58acd06b20c8"},
		{strict, "b05121aff420e7790980adc943812f4d87518a2547831a17e2cb46baf7bd1500"},
		{loose, "4523b63acd33b6cad97156154d7421138cca653484c3f61e6d63fe9f9f0d6dbb"},
	} {
		in := c.shape.generate()
		h := sha256.New()
		if err := in.writeJSON(h); err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(h.Sum(nil)); got != c.sum {
			t.Errorf("%s differs: %s", fmt.Sprintf("%+v", c.shape), got)
		}
	}
}
