package usd_test

import (
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
