package storetest

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// item returns a shared item that is valid for an hour.
func (b *bench) item(kind, name, group, content string) store.SharedItem {
	return store.SharedItem{Kind: kind, Name: name, Group: group, Content: []byte(content), Life: time.Hour}
}

// shared returns the content of a shared item, "none" if there is none.
func (b *bench) shared(kind, name string) string {
	b.Helper()
	i := must(b.GetShared(b.Context(), kind, name))(b)
	if i == nil {
		return "none"
	}
	if i.Kind != kind || i.Name != name {
		b.Errorf("%s %q is %s %q", kind, name, i.Kind, i.Name)
	}
	return string(i.Content)
}

// sharedNames lists the names of a group.
func (b *bench) sharedNames(kind, group, after string, limit int) string {
	b.Helper()
	var list []string
	for _, i := range must(b.ListShared(b.Context(), kind, group, after, limit))(b) {
		list = append(list, i.Name)
	}
	return strings.Join(list, " ")
}

var sharedTests = []test{
	{name: "several", run: func(b *bench) { b.equal("servers", b.Several(), b.target.Shared) }},
	{name: "put and get", run: func(b *bench) {
		b.equal("nothing", b.shared("session", "a"), "none")
		sealed := b.item("session", "b", "g", "two\x00\xff")
		sealed.Seal = true
		b.ok(b.PutShared(b.Context(), b.item("session", "a", "g", "one"), sealed))
		b.equal("the first", b.shared("session", "a"), "one")
		b.equal("the second", b.shared("session", "b"), "two\x00\xff")
		b.equal("another kind", b.shared("token", "a"), "none")
		b.ok(b.PutShared(b.Context(), b.item("session", "a", "h", "")))
		got := must(b.GetShared(b.Context(), "session", "a"))(b)
		b.equal("in its place", *got, store.SharedItem{Kind: "session", Name: "a", Group: "h", Content: got.Content, Life: time.Hour})
		b.equal("its content", len(got.Content), 0)
	}},
	{name: "lists", run: func(b *bench) {
		for _, name := range []string{"c", "a", "B", "b", "ä"} {
			b.ok(b.PutShared(b.Context(), b.item("event", name, "g", "x")))
		}
		b.ok(b.PutShared(b.Context(), b.item("event", "aa", "other", "x"), b.item("other", "ab", "g", "x")))
		b.equal("by bytes", b.sharedNames("event", "g", "", 10), "B a b c ä")
		b.equal("after a name", b.sharedNames("event", "g", "a", 2), "b c")
		b.equal("to the end", b.sharedNames("event", "g", "ä", 2), "")
		big := strings.Repeat("x", store.MaxPageBytes/2)
		b.ok(b.PutShared(b.Context(), b.item("event", "1", "big", big), b.item("event", "2", "big", big), b.item("event", "3", "big", big)))
		b.equal("of a bounded size", b.sharedNames("event", "big", "", 10), "1 2")
	}},
	{name: "delete", run: func(b *bench) {
		b.ok(b.PutShared(b.Context(), b.item("s", "a", "g", "x"), b.item("s", "b", "g", "x"), b.item("s", "c", "g", "x"), b.item("s", "d", "h", "x"), b.item("t", "a", "g", "x")))
		b.ok(b.DeleteShared(b.Context(), "s", "a", "nope"))
		b.equal("one less", b.sharedNames("s", "g", "", 10), "b c")
		b.ok(b.DeleteSharedGroup(b.Context(), "s", "g"))
		b.ok(b.DeleteSharedGroup(b.Context(), "s", "nope"))
		b.equal("the group", b.sharedNames("s", "g", "", 10), "")
		b.equal("another group", b.shared("s", "d"), "x")
		b.equal("another kind", b.shared("t", "a"), "x")
	}},
	{name: "replace", run: func(b *bench) {
		replaced := func(content string) bool {
			return must(b.ReplaceShared(b.Context(), b.item("s", "a", "g", content)))(b)
		}
		b.equal("none", replaced("x"), false)
		b.equal("and none is made", b.shared("s", "a"), "none")
		b.ok(b.PutShared(b.Context(), b.item("s", "a", "g", "one")))
		b.equal("one", replaced("two"), true)
		b.equal("its content", b.shared("s", "a"), "two")
		b.clock.add(time.Hour)
		b.equal("an expired one", replaced("three"), false)
	}},
	{name: "expire", run: func(b *bench) {
		b.ok(b.PutShared(b.Context(), b.item("s", "a", "g", "x")))
		b.clock.add(time.Hour - time.Second)
		b.equal("before", b.shared("s", "a"), "x")
		b.equal("what is left", must(b.GetShared(b.Context(), "s", "a"))(b).Life, time.Second)
		must(b.Prune(b.Context(), store.Retention{}))(b)
		b.equal("still", b.shared("s", "a"), "x")
		b.clock.add(time.Second)
		b.equal("after", b.shared("s", "a"), "none")
		b.equal("in no list", b.sharedNames("s", "g", "", 10), "")
		must(b.Prune(b.Context(), store.Retention{}))(b)
		b.clock.add(-time.Hour)
		b.equal("pruned", b.shared("s", "a"), "none")
	}},
	{name: "mistakes", run: func(b *bench) {
		good := b.item("s", "good", "g", "x")
		for _, wrong := range []store.SharedItem{{Name: "a", Life: time.Hour}, {Kind: "s", Life: time.Hour}, {Kind: "s", Name: "a"}} {
			b.wants(proviso.Invalid, b.PutShared(b.Context(), good, wrong))
			b.wants(proviso.Invalid, errorOf(b.ReplaceShared(b.Context(), wrong)))
		}
		b.equal("all or none", b.shared("s", "good"), "none")
		for _, name := range names {
			b.ok(b.PutShared(b.Context(), b.item("s", name, name, name)))
		}
		for _, name := range names {
			b.equal(name, b.shared("s", name), name)
		}
	}},
	{name: "all at once", run: func(b *bench) {
		var found atomic.Int32
		b.ok(b.PutShared(b.Context(), b.item("s", "a", "g", "x"), b.item("s", "b", "g", "x")))
		atOnce(30, func(n int) {
			list := []store.SharedItem{b.item("s", "a", "g", "y"), b.item("s", "b", "g", "y")}
			if n%2 == 1 {
				list[0], list[1] = list[1], list[0]
			}
			b.works(b.PutShared(b.Context(), list...))
			if was, err := b.ReplaceShared(b.Context(), b.item("s", "b", "g", "z")); err != nil {
				b.Error(err)
			} else if was {
				found.Add(1)
			}
		})
		b.equal("replaced", found.Load(), 30)
	}},
}
