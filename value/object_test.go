package value_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/proviso-eval/proviso/value"
)

// modelObject is a simple object as specified in ECMA-262.
type modelObject struct {
	keys []string // in order of insertion
	vals map[string]any
}

func (m *modelObject) set(key string, v any) {
	if _, ok := m.vals[key]; !ok {
		m.keys = append(m.keys, key)
	}
	m.vals[key] = v
}

func (m *modelObject) delete(key string) {
	delete(m.vals, key)
	m.keys = slices.DeleteFunc(m.keys, func(k string) bool { return k == key })
}

func (m *modelObject) ordered() []string {
	var indices, others []string
	for _, k := range m.keys {
		if n, err := strconv.ParseUint(k, 10, 32); err == nil && n < 1<<32-1 && strconv.FormatUint(n, 10) == k {
			indices = append(indices, k)
		} else {
			others = append(others, k)
		}
	}
	slices.SortFunc(indices, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return append(indices, others...)
}

// check compares everything that can be read from an object.
func (m *modelObject) check(t *rapid.T, o *value.Object) {
	want := m.ordered()
	if diff := cmp.Diff(want, append([]string(nil), o.Keys()...)); diff != "" {
		t.Fatalf("keys (-want +got):\n%s", diff)
	}
	if o.Len() != len(want) {
		t.Fatalf("Len is %d, want %d", o.Len(), len(want))
	}
	var text strings.Builder
	for i, k := range want {
		if o.At(k) != m.vals[k] || !o.Has(k) {
			t.Fatalf("%q is %v, want %v", k, o.At(k), m.vals[k])
		}
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(value.Stringify(k) + ":" + value.Stringify(m.vals[k]))
	}
	i := 0
	for k, v := range o.All() {
		if k != want[i] || v != m.vals[k] {
			t.Fatalf("member %d is %q: %v, want %q: %v", i, k, v, want[i], m.vals[want[i]])
		}
		i++
	}
	if got := value.Stringify(o); got != "{"+text.String()+"}" {
		t.Fatalf("JSON is %s, want {%s}", got, text.String())
	}
	again, err := value.ParseJSON("{" + text.String() + "}")
	if err != nil || value.Stringify(again) != "{"+text.String()+"}" {
		t.Fatalf("read again it is %s, %v", value.Stringify(again), err)
	}
}

// TestObjectIsAsJavaScript applies random operations to an object and to a model of
// it.
func TestObjectIsAsJavaScript(t *testing.T) {
	t.Parallel()
	key := rapid.OneOf(
		rapid.Map(rapid.IntRange(0, 30), strconv.Itoa),
		rapid.SampledFrom([]string{"a", "b", "c", "", "01", "-1", "1.5", "1e3", "4294967294", "4294967295", "4294967296", "99999999999"}),
		rapid.Map(rapid.IntRange(0, 40), func(n int) string { return "k" + strconv.Itoa(n) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		o, m := &value.Object{}, &modelObject{vals: map[string]any{}}
		n := 0.0
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				k := key.Draw(t, "key")
				n++
				o.Set(k, n)
				m.set(k, n)
			},
			"delete": func(t *rapid.T) {
				k := key.Draw(t, "key")
				o.Delete(k)
				m.delete(k)
			},
			"clone": func(t *rapid.T) {
				c := o.Clone()
				o.Set("gone", 0.0) // a clone does not see it
				o = c
			},
			"read":  func(t *rapid.T) { m.check(t, o) },
			"fresh": func(t *rapid.T) { o, m = &value.Object{}, &modelObject{vals: map[string]any{}} },
		})
		m.check(t, o)
	})
}

// TestObjectReaders reads an object whose order is not computed yet from several
// goroutines, for the race detector.
func TestObjectReaders(t *testing.T) {
	t.Parallel()
	o := descending(100)
	done := make(chan string)
	for range 4 {
		go func() { done <- value.Stringify(o.Clone()) + strings.Join(o.Keys(), ",") }()
	}
	first := <-done
	for range 3 {
		if again := <-done; again != first {
			t.Errorf("readers differ: %.40s and %.40s", first, again)
		}
	}
}

// descending sets n array indices in the worst order, and another key at the end.
func descending(n int) *value.Object {
	o := &value.Object{}
	for i := n; i > 0; i-- {
		o.Set(strconv.Itoa(i), 0.0)
	}
	o.Set("a", 0.0)
	return o
}

// TestObjectManyIndices adds and removes so many keys that it would not finish at quadratic
// cost.
func TestObjectManyIndices(t *testing.T) {
	t.Parallel()
	const n = 300_000
	o := descending(n)
	if keys := o.Keys(); len(keys) != n+1 || keys[0] != "1" || keys[n-1] != strconv.Itoa(n) || keys[n] != "a" {
		t.Fatalf("%d keys from %s to %s", len(keys), keys[0], keys[n])
	}
	for i := 1; i < n; i++ {
		o.Delete(strconv.Itoa(i))
	}
	if got := value.Stringify(o); got != `{"`+strconv.Itoa(n)+`":0,"a":0}` {
		t.Errorf("after deleting all but one: %.100s", got)
	}
}

// BenchmarkObjectSetIndices shows that ns/key does not grow with the number of keys.
func BenchmarkObjectSetIndices(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				descending(n).Keys()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
		})
	}
}

func TestMembersOfOneKind(t *testing.T) {
	t.Parallel()
	inner := value.ObjectOf("a", "b")
	o := value.ObjectOf("text", "t", "object", inner, "number", 1.0, "null", nil)
	for key, want := range map[string]string{"text": "t", "object": "", "number": "", "null": "", "absent": ""} {
		if got := o.Text(key); got != want {
			t.Errorf("Text(%q) = %q, want %q", key, got, want)
		}
	}
	for key, want := range map[string]*value.Object{"text": nil, "object": inner, "number": nil, "null": nil, "absent": nil} {
		if got := o.Object(key); got != want {
			t.Errorf("Object(%q) = %v, want %v", key, got, want)
		}
	}
	if got := o.Object("absent").Text("a"); got != "" {
		t.Errorf("Text of a missing object = %q", got)
	}
}
