package duration_test

import (
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
