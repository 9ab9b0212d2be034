package usd_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/usd"
)

func TestText(t *testing.T) {
	t.Parallel()
	for amount, want := range map[float64][2]string{
		0:           {"$0", "$0.00"},
		9e-06:       {"$0.000009", "$0.000009"},
		0.00001:     {"$0.00001", "$0.00001"},
		0.000123456: {"$0.0001235", "$0.0001235"},
		0.5:         {"$0.5", "$0.50"},
		1.23456:     {"$1.235", "$1.235"},
		5:           {"$5", "$5.00"},
		99.999:      {"$100", "$100.00"},
		12345.678:   {"$12345.68", "$12345.68"},
		1e9:         {"$1000000000", "$1000000000.00"},
		-0.25:       {"-$0.25", "-$0.25"},
	} {
		if text, cents := usd.Text(amount), usd.Cents(amount); text != want[0] || cents != want[1] {
			t.Errorf("%g: %s and %s, expected %s and %s", amount, text, cents, want[0], want[1])
		}
	}
}

// FuzzText: an amount is written as a plain number that is exact to four digits or
// to the cent, and Cents is the same number.
func FuzzText(f *testing.F) {
	for _, amount := range []float64{0, 9e-06, 99.999, 99.995, 99.99499, 999.995, 12345.678, 1e9, -0.25, 5e-324, 1e300, 0.09999999, math.Copysign(0, -1)} {
		f.Add(amount)
	}
	form := regexp.MustCompile(`^-?\$(0|[1-9]\d*)(\.\d*[1-9]|\.\d\d)?$`)
	f.Fuzz(func(t *testing.T, amount float64) {
		if math.IsNaN(amount) || math.IsInf(amount, 0) {
			return
		}
		text, cents := usd.Text(amount), usd.Cents(amount)
		if !form.MatchString(text) || !form.MatchString(cents) || !strings.Contains(cents, ".") {
			t.Fatalf("%g: %q and %q", amount, text, cents)
		}
		read := func(s string) float64 {
			v, err := strconv.ParseFloat(strings.Replace(s, "$", "", 1), 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		got := read(text)
		if off := math.Abs(got - amount); off > max(0.00501, 1e-12*math.Abs(amount)) || off > 0.00051*math.Abs(amount) && off > 0 {
			t.Errorf("%g is written as %s", amount, text)
		}
		if read(cents) != got {
			t.Errorf("%g: %s and %s", amount, text, cents)
		}
		if (amount < 0) != strings.HasPrefix(text, "-") {
			t.Errorf("%g: %s", amount, text)
		}
	})
}
