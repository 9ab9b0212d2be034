package suite_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/suite"
)

func TestParseShare(t *testing.T) {
	t.Parallel()
	for v, want := range map[any]float64{
		0.0: 0, 1.0: 1, 0.9: 0.9, "0": 0, "1": 1, "0.9": 0.9, ".5": 0.5, "90%": 0.9, "7%": 0.07, "100%": 1, "99.9%": 0.999, " 29 % ": 0.29, "0%": 0, "1%": 0.01,
	} {
		if got, err := suite.ParseShare(v); err != nil || got != want {
			t.Errorf("%v: %v, %v", v, got, err)
		}
	}
	for v, want := range map[any]string{
		90.0: "did you mean 90%?", "90": "did you mean 90%?", 1.5: "did you mean 1.5%?", "100": "did you mean 100%?", 500.0: `found "500"`, "500%": `found "500%"`,
		-1.0: `found "-1"`, "abc": `found "abc"`, "": `found ""`, "%": `found "%"`, "NaN": `found "NaN"`, "0x1": `found "0x1"`, "1e-1": `found "1e-1"`, "1.2.3": "1.2.3", true: "found true",
	} {
		if got, err := suite.ParseShare(v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, %v; want %s", v, got, err, want)
		}
	}
}
