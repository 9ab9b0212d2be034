package check

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/value"
)

// plainDistance is the textbook algorithm.
func plainDistance(a, b []uint16) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

func checkDistance(t *testing.T, a, b string, limit int) {
	t.Helper()
	want := plainDistance(value.UTF16(a), value.UTF16(b))
	e := newEdits(a, b)
	got, ok := e.within(limit)
	if ok != (want <= limit) || ok && got != want {
		t.Fatalf("%q and %q within %d: got %d, %v; the distance is %d", a, b, limit, got, ok, want)
	}
	if got, ok := e.within(e.most()); !ok || got != want {
		t.Fatalf("%q and %q: got %d, %v; the distance is %d", a, b, got, ok, want)
	}
}

func TestDistanceIsExact(t *testing.T) {
	t.Parallel()
	const letters = "abcé京🎉🎊"
	random := func(n int) string {
		var b strings.Builder
		for range rand.IntN(n) {
			b.WriteRune([]rune(letters)[rand.IntN(7)])
		}
		return b.String()
	}
	for range 3000 {
		a := random(300)
		b := random(300)
		if rand.IntN(2) == 0 { // a few edits
			cut := rand.IntN(len(a) + 1)
			b = strings.ToValidUTF8(a[:cut]+random(9)+a[cut:min(len(a), cut+200)], "")
			a = strings.ToValidUTF8(a, "")
		}
		checkDistance(t, a, b, rand.IntN(140))
	}
}

func FuzzDistance(f *testing.F) {
	f.Add("kitten", "sitting", 3)
	f.Add("é\xed\xa0\xbd", "è🎉", 1)
	f.Add("é\xed00", "è🟎\x8e0", 1)
	f.Add(strings.Repeat("ab", 100), strings.Repeat("ba", 99), 2)
	f.Fuzz(func(t *testing.T, a, b string, limit int) {
		if len(a) > 2000 || len(b) > 2000 || limit < 0 || limit > 1<<40 {
			return
		}
		checkDistance(t, a, b, limit)
	})
}

func BenchmarkDistance(b *testing.B) {
	base := strings.Repeat("the quick brown fox jumps over the lazy dog ", 5)[:200]
	for _, c := range []struct {
		name, other string
		limit       int
	}{
		{"200B-end", base[:198] + "zz", 5},
		{"200B-apart", "x" + base[1:199] + "z", 5},
		{"200B-all", strings.Repeat("zyxw", 50), 1000},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				newEdits(base, c.other).within(c.limit)
			}
		})
	}
	long := strings.Repeat(base, 500)
	b.Run("100kB", func(b *testing.B) {
		for b.Loop() {
			newEdits(long, "x"+long+"y").within(5)
		}
	})
}
