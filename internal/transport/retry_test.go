package transport_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/transport"
)

// FuzzRetryAfter: whatever a server sends, the wait is not negative. Whole seconds are kept, and a
// date counts from the date of the response.
func FuzzRetryAfter(f *testing.F) {
	for _, seed := range [][3]string{
		{"", "3", ""}, {"1500", "9", ""}, {"", "-1", ""}, {"", "1e8", ""}, {"1e300", "Inf", ""}, {"NaN", " 2 ", ""}, {"-0", "0x1p40", ""},
		{"", "Thu, 26 Nov 2026 09:00:10 GMT", "Thu, 26 Nov 2026 09:00:00 GMT"}, {"", "Fri, 31 Dec 9999 23:59:59 GMT", "Sat, 01 Jan 0000 00:00:00 GMT"},
		{"", "Sunday, 06-Nov-94 08:49:37 GMT", "x"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	now := time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, ms, after, date string) {
		h := http.Header{}
		for key, v := range map[string]string{"Retry-After-Ms": ms, "Retry-After": after, "Date": date} {
			if v != "" {
				h.Set(key, v)
			}
		}
		got := transport.RetryAfter(h, now)
		if got < 0 {
			t.Errorf("%q, %q, %q: %v", ms, after, date, got)
		}
		if ms != "" {
			return
		}
		if n, err := strconv.ParseUint(after, 10, 29); err == nil && got != time.Duration(n)*time.Second {
			t.Errorf("%q: %v", after, got)
		}
		if at, err := http.ParseTime(after); err == nil {
			from := now
			if sent, err := http.ParseTime(date); err == nil {
				from = sent
			}
			if want := max(0, at.Sub(from)); got != want {
				t.Errorf("%q at %q: %v, want %v", after, date, got, want)
			}
		}
	})
}
