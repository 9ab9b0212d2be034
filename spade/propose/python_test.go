package propose_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/internal/spadetest"
	"github.com/proviso-eval/proviso/spade/propose"
	"github.com/proviso-eval/proviso/value"
)

// TestProposePython compiles and tries code that a model wrote; code that cannot run
// here is kept, with a note.
func TestProposePython(t *testing.T) {
	t.Parallel()
	for comment, want := range map[string]string{
		"# fine": "", "# nowhere": "",
		"# broken": "it cannot be compiled: SyntaxError: invalid syntax",
		"# loops":  "it does not come to an end within 5s",
		"# throws": "it throws on an example: KeyError: 'name'",
		"# wrong":  "it returns a text where True or False is expected",
	} {
		m := &spadetest.Model{Reply: func(q spadetest.Question) (string, error) {
			if q.Step == "criteria" {
				return spadetest.OneEach(q), nil
			}
			code := "```python\nasync def keeps(example: dict, prompt: str, response: str) -> bool:\n    return True  " + comment + "\n```"
			return value.Stringify(value.ObjectOf("candidates", []any{value.ObjectOf("name", "keeps", "description", "Keeps.", "covers", []any{1.0}, "type", "python", "code", code)})), nil
		}}
		p := proposeWith(t, m, propose.Options{Code: snake{}}, "Say hello.")
		switch {
		case want != "" && (len(p.Candidates) != 0 || len(p.Dropped) == 0 || p.Dropped[0].Reason != want):
			t.Errorf("%s: %+v %+v", comment, p.Candidates, p.Dropped)
		case want == "" && len(p.Candidates) != 1:
			t.Errorf("%s: %+v", comment, p.Dropped)
		case comment == "# nowhere" && !reflect.DeepEqual(p.Versions[0].Notes, []string{"keeps cannot be run: there is no Python on this machine"}):
			t.Errorf("%q", p.Versions[0].Notes)
		}
		p = proposeWith(t, m, propose.Options{}, "Say hello.")
		if len(p.Candidates) != 1 || len(p.Versions[0].Notes) != 1 {
			t.Errorf("%s: without Python: %+v", comment, p)
		}
	}
}

// snake stands for a Python that throws, loops or answers as a comment in the code says.
type snake struct{}

func (snake) Compile(_ context.Context, src proviso.Source) (proviso.Function, error) {
	switch {
	case src.Language != "python" || src.Form != proviso.Module || src.Entry == "" || src.Purpose != proviso.Synthesised || src.Timeout == 0:
		return nil, proviso.Errorf(proviso.Internal, "it is asked for in the wrong way: %+v", src)
	case strings.Contains(src.Text, "# broken"):
		return nil, &proviso.ScriptError{Name: "SyntaxError", Message: "invalid syntax", Line: 2, Syntax: true}
	case strings.Contains(src.Text, "# nowhere"):
		return nil, proviso.Errorf(proviso.Unavailable, "there is no Python on this machine")
	}
	return snakeFunction(src.Text), nil
}

type snakeFunction string

func (f snakeFunction) Call(_ context.Context, args ...any) (any, error) {
	text := string(f)
	switch {
	case len(args) != 3:
		return nil, proviso.Errorf(proviso.Internal, "%d arguments", len(args))
	case strings.Contains(text, "# loops"):
		return nil, proviso.Errorf(proviso.Timeout, "it ran for 5 s")
	case strings.Contains(text, "# throws"):
		return nil, &proviso.ScriptError{Name: "KeyError", Message: "'name'"}
	case strings.Contains(text, "# wrong"):
		return "maybe", nil
	}
	return true, nil
}

func (snakeFunction) Close() error { return nil }
