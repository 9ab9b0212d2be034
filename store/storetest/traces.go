package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// kept returns what is stored of a trace, as a text.
func (b *bench) kept(in store.ProjectStore, key, trace string) string {
	b.Helper()
	got := must(in.Trace(b.Context(), key, trace, 0))(b)
	text := ""
	for _, part := range got.Parts {
		text += string(part)
	}
	if got.Refused > 0 {
		text += fmt.Sprintf(" -%d", got.Refused)
	}
	if got.Awaited {
		text += " awaited"
	}
	return text
}

func partOf(trace, content string) store.SpanPart {
	return store.SpanPart{Trace: trace, Spans: 1, Content: []byte(content)}
}

// forAnHour sets no limits but the time.
var forAnHour = store.TraceLimits{Life: time.Hour}

var traceTests = []test{
	{name: "add and read", reopens: true, run: func(b *bench) {
		b.equal("nothing", b.kept(b, "key_1", "t"), "")
		b.equal("refused", must(b.AddSpans(b.Context(), "key_1", []store.SpanPart{partOf("t", "one "), partOf("u", "x"), partOf("t", "two ")}, forAnHour))(b), []string{"", "", ""})
		must(b.AddSpans(b.Context(), "key_2", []store.SpanPart{partOf("t", "of another key")}, forAnHour))(b)
		must(b.In("other").AddSpans(b.Context(), "key_1", []store.SpanPart{partOf("t", "of another project")}, forAnHour))(b)
		b.reopen()
		b.equal("the trace", b.kept(b, "key_1", "t"), "one two ")
		b.equal("of another key", b.kept(b, "key_2", "t"), "of another key")
		b.equal("of another project", b.kept(b.In("other"), "key_1", "t"), "of another project")
		before := must(b.Trace(b.Context(), "key_1", "t", 0))(b)
		b.equal("nothing new", must(b.Trace(b.Context(), "key_1", "t", before.Next))(b), store.Trace{Next: before.Next})
		must(b.AddSpans(b.Context(), "key_1", []store.SpanPart{partOf("t", "three")}, forAnHour))(b)
		after := must(b.Trace(b.Context(), "key_1", "t", before.Next))(b)
		b.equal("what is new", fmt.Sprintf("%s", after.Parts), "[three]")
		b.ok(b.DropTrace(b.Context(), "key_1", "t"))
		b.ok(b.DropTrace(b.Context(), "key_1", "t"))
		b.equal("dropped", b.kept(b, "key_1", "t")+b.kept(b, "key_1", "u")+b.kept(b, "key_2", "t"), "xof another key")
	}},
	{name: "many parts", run: func(b *bench) {
		want := ""
		var parts []store.SpanPart
		for i := range 250 {
			parts = append(parts, partOf("t", fmt.Sprint(i, " ")))
			want += string(parts[i].Content)
		}
		must(b.AddSpans(b.Context(), "k", parts, forAnHour))(b)
		text, steps := "", 0
		for got := (store.Trace{More: true}); got.More; steps++ {
			got = must(b.Trace(b.Context(), "k", "t", got.Next))(b)
			text += string(slices.Concat(got.Parts...))
		}
		b.equal("all of them", text, want)
		b.equal("in some steps", steps > 1, true)
	}},
	{name: "limits", run: func(b *bench) {
		random := func(n int) string { return strings.Repeat(store.NewSecret(), n/40) } // incompressible
		size := int64(store.TraceOverhead + 100)
		l := store.TraceLimits{Life: time.Hour, Bytes: 8 * size, KeyBytes: 4 * size, OneTrace: 2}
		add := func(key, trace string) string {
			return must(b.AddSpans(b.Context(), key, []store.SpanPart{partOf(trace, random(40))}, l))(b)[0]
		}
		has := func(key string) (n int) {
			for i := range 40 {
				if b.kept(b, key, fmt.Sprint("t", i)) != "" {
					n++
				}
			}
			return n
		}
		b.equal("room", add("k", "t")+add("k", "t"), "")
		b.equal("too many of one", add("k", "t"), "the trace t would have 3 spans, more than 2")
		if got := must(b.Trace(b.Context(), "k", "t", 0))(b); got.Refused != 1 || len(got.Parts) != 2 {
			b.Errorf("%+v", got)
		}
		b.ok(b.DropTrace(b.Context(), "k", "t"))
		b.ok(b.AwaitTrace(b.Context(), "k", "t0", time.Hour))
		for i := range 20 {
			b.equal("room", add("k", fmt.Sprint("t", i)), "")
		}
		if n := has("k"); n < 2 || n > 5 {
			b.Errorf("a key has %d traces", n)
		}
		b.equal("of one that is awaited", strings.HasSuffix(b.kept(b, "k", "t0"), " awaited"), true)
		for i := range 20 { // traces of many keys
			b.equal("room", add(fmt.Sprint("k", i), "t1"), "")
		}
		total := has("k")
		for i := range 20 {
			total += has(fmt.Sprint("k", i))
		}
		if total < 4 || total > 11 {
			b.Errorf("a project has %d traces", total)
		}
		for i := range 5 {
			b.ok(b.AwaitTrace(b.Context(), "waits", fmt.Sprint("t", i), time.Hour))
		}
		var refused int
		for i := range 5 {
			if why := add("waits", fmt.Sprint("t", i)); strings.Contains(why, "somebody waits for") {
				refused++
			}
		}
		if got := must(b.Trace(b.Context(), "waits", "t4", 0))(b); refused == 0 || got.Refused != 1 {
			b.Errorf("%d were refused: %+v", refused, got)
		}
		b.clock.add(time.Hour)
		must(b.Prune(b.Context(), store.Retention{}))(b)
		b.equal("room again", add("waits", "t9")+add("waits", "t9"), "")
	}},
	{name: "expire", run: func(b *bench) {
		must(b.AddSpans(b.Context(), "k", []store.SpanPart{partOf("t", "x")}, forAnHour))(b)
		b.ok(b.AwaitTrace(b.Context(), "k", "u", time.Minute))
		b.equal("before", b.kept(b, "k", "t")+b.kept(b, "k", "u"), "x awaited")
		b.clock.add(time.Minute)
		b.equal("nobody waits", b.kept(b, "k", "u"), "")
		b.clock.add(59*time.Minute - time.Second)
		must(b.AddSpans(b.Context(), "k", []store.SpanPart{partOf("t", "y")}, forAnHour))(b)
		b.clock.add(time.Minute)
		b.equal("after its last span", b.kept(b, "k", "t"), "xy")
		b.clock.add(time.Hour)
		b.equal("after", b.kept(b, "k", "t"), "")
		must(b.Prune(b.Context(), store.Retention{}))(b)
		b.clock.add(-2 * time.Hour)
		b.equal("pruned", b.kept(b, "k", "t"), "")
	}},
	{name: "mistakes", run: func(b *bench) {
		for _, wrong := range []store.SpanPart{{Trace: "t"}, {Spans: 1}, {Trace: strings.Repeat("t", store.MaxTraceID+1), Spans: 1}} {
			b.wants(proviso.Invalid, errorOf(b.AddSpans(b.Context(), "k", []store.SpanPart{partOf("good", "x"), wrong}, forAnHour)))
		}
		b.equal("all or none", b.kept(b, "k", "good"), "")
		b.wants(proviso.Invalid, b.AwaitTrace(b.Context(), "k", "", time.Hour))
		none := b.In("")
		b.wants(proviso.Invalid, errorOf(none.AddSpans(b.Context(), "k", []store.SpanPart{partOf("t", "x")}, forAnHour)))
		b.wants(proviso.Invalid, none.AwaitTrace(b.Context(), "k", "t", time.Hour))
	}},
}
