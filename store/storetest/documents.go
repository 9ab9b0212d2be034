package storetest

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

func suiteOf(name, content string) store.NewDocument {
	return store.NewDocument{Kind: store.SuiteKind, Name: name, MediaType: "application/json", Content: []byte(content), CreatedBy: "key_1"}
}

// put stores a document and checks whether it is a new version.
func (b *bench) put(d store.NewDocument, isNew bool) store.Document {
	b.Helper()
	doc, created, err := b.PutDocument(b.Context(), d)
	b.ok(err)
	if created != isNew {
		b.Errorf("%s: created is %t", d.Content, created)
	}
	return doc
}

var documentTests = []test{
	{name: "versions", run: func(b *bench) {
		one := b.put(suiteOf("s", "one"), true)
		b.clock.add(time.Second)
		two := b.put(suiteOf("s", "two"), true)
		b.equal("numbers", []int{one.Number, two.Number}, []int{1, 2})
		b.equal("same again", b.put(suiteOf("s", "two"), false), two)

		got := must(b.Document(b.Context(), store.SuiteKind, "s", one.Hash))(b)
		b.equal("an old version", []any{string(got.Content), got.Current, got.Number, got.Size, got.Created, got.CreatedBy, got.MediaType},
			[]any{"one", false, 1, 3, start, "key_1", "application/json"})
		b.equal("the current one", must(b.Document(b.Context(), store.SuiteKind, "s", ""))(b), two)

		back := b.put(suiteOf("s", "one"), false)
		b.equal("back again", []any{back.Number, back.Current}, []any{1, true})
		b.equal("the current one now", string(must(b.Document(b.Context(), store.SuiteKind, "s", ""))(b).Content), "one")
		b.equal("and the next", b.put(suiteOf("s", "three"), true).Number, 3)
	}},
	{name: "identity", run: func(b *bench) {
		seen := map[string]bool{}
		d := suiteOf("s", "content")
		for _, change := range []func(*store.NewDocument){
			func(*store.NewDocument) {},
			func(d *store.NewDocument) { d.PromptHash = "p" },
			func(d *store.NewDocument) { d.PromptHash, d.MediaType = "pa", "pplication/json" },
			func(d *store.NewDocument) { d.Content = []byte("content ") },
			func(d *store.NewDocument) { d.Content = nil },
			func(d *store.NewDocument) { d.Kind = store.AssertionSetKind },
		} {
			n := d
			change(&n)
			seen[b.put(n, true).Hash] = true
		}
		b.equal("hashes", len(seen), 6)
		other := suiteOf("t", "content")
		other.CreatedBy = "key_2"
		if doc := b.put(other, true); !seen[doc.Hash] || doc.Number != 1 {
			b.Errorf("the same content under another name: %+v", doc)
		}
	}},
	{name: "lists", run: func(b *bench) {
		for i := range 7 {
			for v := range 3 {
				b.put(suiteOf(fmt.Sprintf("s%d", i), fmt.Sprint(v)), true)
			}
		}
		set := suiteOf("s3", "a set")
		set.Kind = store.AssertionSetKind
		b.put(set, true)
		var got []string
		for _, d := range all(b, 2, pagesOf(b.ListDocuments, store.DocumentFilter{})) {
			if d.Content != nil || d.Size == 0 || !d.Current {
				b.Errorf("listed: %+v", d)
			}
			got = append(got, fmt.Sprint(d.Kind, " ", d.Name, " ", d.Number))
		}
		b.equal("current", got, []string{"assertion_set s3 1", "suite s0 3", "suite s1 3", "suite s2 3", "suite s3 3", "suite s4 3", "suite s5 3", "suite s6 3"})
		b.equal("suites", len(all(b, 3, pagesOf(b.ListDocuments, store.DocumentFilter{Kind: store.SuiteKind}))), 7)
		got = nil
		for _, d := range all(b, 2, pagesOf(b.ListDocuments, store.DocumentFilter{Kind: store.SuiteKind, Name: "s3"})) {
			got = append(got, fmt.Sprint(d.Number, d.Current))
		}
		b.equal("versions", got, []string{"3 true", "2 false", "1 false"})
		b.equal("of nobody", len(all(b, 2, pagesOf(b.ListDocuments, store.DocumentFilter{Name: "s"}))), 0)
	}},
	{name: "names", run: func(b *bench) {
		for _, name := range names {
			b.put(suiteOf(name, name), true)
		}
		for _, name := range names {
			b.equal(name, string(must(b.Document(b.Context(), store.SuiteKind, name, ""))(b).Content), name)
		}
		b.equal("names", len(all(b, 4, pagesOf(b.ListDocuments, store.DocumentFilter{}))), len(names))
		for _, name := range notNames {
			b.wants(proviso.Invalid, errorOf(b.PutDocument(b.Context(), suiteOf(name, "x"))))
		}
	}},
	{name: "replaced", run: func(b *bench) {
		replacing := func(content, hash string) (store.Document, error) {
			d := suiteOf("s", content)
			d.Replaces = &hash
			doc, _, err := b.PutDocument(b.Context(), d)
			return doc, err
		}
		b.wants(proviso.Conflict, errorOf(replacing("one", "0000")))
		one := must(replacing("one", ""))(b)
		b.wants(proviso.Conflict, errorOf(replacing("two", "")))
		two := must(replacing("two", one.Hash))(b)
		current, err := replacing("three", one.Hash)
		b.wants(proviso.Conflict, err)
		b.equal("what is there", []any{string(current.Content), current.Hash}, []any{"two", two.Hash})
		again := must(replacing("two", one.Hash))(b) // the current version already has this content
		b.equal("the same again", again.Hash, two.Hash)
		b.equal("the current one", must(b.Document(b.Context(), store.SuiteKind, "s", ""))(b), two)
		back := must(replacing("one", two.Hash))(b)
		b.equal("back again", []any{back.Number, back.Current}, []any{1, true})
	}},
	{name: "one of many writers replaces", run: func(b *bench) {
		first := b.put(suiteOf("s", "first"), true)
		var made atomic.Int32
		atOnce(20, func(i int) {
			d := suiteOf("s", fmt.Sprint(i))
			d.Replaces = &first.Hash
			_, _, err := b.PutDocument(b.Context(), d)
			if err == nil {
				made.Add(1)
			} else {
				b.wants(proviso.Conflict, err)
			}
		})
		b.equal("made", made.Load(), 1)
	}},
	{name: "deleted", run: func(b *bench) {
		one := b.put(suiteOf("s", "one"), true)
		b.put(suiteOf("s", "two"), true)
		b.put(suiteOf("t", "one"), true)
		set := suiteOf("s", "one")
		set.Kind = store.DatasetKind
		b.put(set, true)
		b.ok(b.DeleteDocument(b.Context(), store.SuiteKind, "s"))
		b.wants(proviso.NotFound, b.DeleteDocument(b.Context(), store.SuiteKind, "s"))
		b.wants(proviso.NotFound, errorOf(b.Document(b.Context(), store.SuiteKind, "s", one.Hash)))
		b.equal("what is left", len(all(b, 10, pagesOf(b.ListDocuments, store.DocumentFilter{}))), 2)
		b.equal("number of the next", b.put(suiteOf("s", "three"), true).Number, 1)
	}},
	{name: "bytes", run: func(b *bench) {
		content := bytes.Repeat([]byte{0, 255, '\'', '\n'}, 1<<18)
		d := suiteOf("s", "")
		d.Content = content
		doc := b.put(d, true)
		got := must(b.Document(b.Context(), store.SuiteKind, "s", doc.Hash))(b)
		if !bytes.Equal(got.Content, content) || got.Size != len(content) {
			b.Errorf("%d bytes came back as %d, size %d", len(content), len(got.Content), got.Size)
		}
	}},
	{name: "mistakes", run: func(b *bench) {
		b.wants(proviso.Invalid, errorOf(b.PutDocument(b.Context(), store.NewDocument{Kind: "poem", Name: "s"})))
		b.wants(proviso.Limit, errorOf(b.PutDocument(b.Context(), store.NewDocument{Kind: store.SuiteKind, Name: "s", Content: make([]byte, store.MaxContent+1)})))
		b.put(suiteOf("s", "one"), true)
		for _, of := range [][2]string{{"t", ""}, {"s", "0000"}, {"s", strings.Repeat("x", 100_000)}, {"'", "'"}} {
			_, err := b.Document(b.Context(), store.SuiteKind, of[0], of[1])
			b.wants(proviso.NotFound, err)
			if len(err.Error()) > 500 {
				b.Errorf("an error of %d bytes", len(err.Error()))
			}
		}
		b.wants(proviso.NotFound, errorOf(b.Document(b.Context(), store.AssertionSetKind, "s", "")))
	}},
	{name: "all at once", run: func(b *bench) {
		var made atomic.Int32
		atOnce(30, func(i int) {
			_, created, err := b.PutDocument(b.Context(), suiteOf("s", fmt.Sprint(i%3)))
			if err != nil {
				b.Error(err)
			}
			if created {
				made.Add(1)
			}
		})
		b.equal("made", made.Load(), 3)
		b.equal("versions", len(all(b, 10, pagesOf(b.ListDocuments, store.DocumentFilter{Name: "s"}))), 3)
	}},
}
