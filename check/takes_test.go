package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// unread are types that do not report values of other kinds than they take: they read
// them as no value.
var unread = []string{"contains-sql", "contains-xml", "is-sql", "is-xml", "max-score", "select-best", "trace-error-spans"}

// TestTakes: a value of a kind that the table does not list is a mistake, and a value
// that is not a mistake is of a kind that it lists.
func TestTakes(t *testing.T) {
	t.Parallel()
	c := check.New(check.Options{})
	t.Cleanup(func() { _ = c.Close() })
	for _, k := range check.Kinds() {
		values := map[kind.Set]string{kind.Text: `"a"`, kind.Number: "1", kind.Boolean: "true", kind.List: `["a"]`, kind.Object: `{"x":1}`, kind.Null: ""}
		if k.Keys != "" {
			values[kind.Object] = "{}"
		}
		for one, text := range values {
			if text != "" {
				text = `,"value":` + text
			}
			v, err := value.ParseJSON(`{"type":"` + k.Type + `","threshold":0.5` + text + `}`)
			if err != nil {
				t.Fatal(err)
			}
			_, mistakes := c.Compile([]*proviso.Assertion{assertion.Of(v.(*value.Object), "/a")})
			wrong := slices.ContainsFunc(mistakes, func(e *proviso.Error) bool { return strings.HasPrefix(e.Pointer, "/a/value") })
			takes := k.Takes == 0 || k.Takes&one != 0
			if !wrong && !takes && !slices.Contains(unread, k.Type) {
				t.Errorf("%s takes %s, but not by the table, which has %s", k.Type, text, k.Takes)
			}
			if wrong && k.Takes == 0 {
				t.Errorf("%s%s: a mistake, but by the table the value has no effect", k.Type, text)
			}
		}
	}
}
