package duration_test

import (
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/duration"
)

func TestParse(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"90m": 90 * time.Minute, "1h30m": 90 * time.Minute, "2d": 2 * day, "0d": 0, "3w": 21 * day, "10000w": 70_000 * day, "-5m": -5 * time.Minute, "0": 0,
	} {
		if got, err := duration.Parse(text); got != want || err != nil {
			t.Errorf("%q gives %v %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "1.5d", "-1d", "1d12h", "10001d", "5", "5 m", "1y", "٣d"} {
		if got, err := duration.Parse(text); err == nil || got != 0 {
			t.Errorf("%q gives %v", text, got)
		}
	}
}

// FuzzParse: the text of a parsed duration parses to the same duration, and everything
// that time.ParseDuration accepts gives the same result.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"90m", "1h30m", "2d", "10000w", "10001d", "-5m", "0", "4294967296d", "+1d", "1_0d", "2540400h", "ns", "d", "\xffd"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := duration.Parse(text)
		if want, refused := time.ParseDuration(text); refused == nil && (err != nil || got != want) {
			t.Errorf("%q gives %v %v, want %v", text, got, err, want)
		}
		if err != nil {
			if got != 0 {
				t.Errorf("%q gives %v with %v", text, got, err)
			}
			return
		}
		if again, err := duration.Parse(got.String()); err != nil || again != got {
			t.Errorf("%q gives %v, which gives %v %v", text, got, again, err)
		}
		if strings.HasSuffix(text, "d") || strings.HasSuffix(text, "w") {
			if got < 0 || got > 70_000*24*time.Hour || got%(24*time.Hour) != 0 {
				t.Errorf("%q gives %v", text, got)
			}
		}
	})
}
