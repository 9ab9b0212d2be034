package value_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/value"
)

// TestParseJSONManyIndices reads an object whose keys are array indices in the worst order.
// At quadratic cost the test would not finish.
func TestParseJSONManyIndices(t *testing.T) {
	t.Parallel()
	const n = 200_000
	var b strings.Builder
	for i := n; i > 0; i-- {
		b.WriteString(`,"` + strconv.Itoa(i) + `":0`)
	}
	v, err := value.ParseJSON("{" + b.String()[1:] + "}")
	if err != nil {
		t.Fatal(err)
	}
	if o := v.(*value.Object); o.Len() != n || o.Keys()[0] != "1" || o.Keys()[n-1] != strconv.Itoa(n) {
		t.Errorf("%d keys from %s to %s", o.Len(), o.Keys()[0], o.Keys()[n-1])
	}
}
