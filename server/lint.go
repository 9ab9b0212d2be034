package server

import (
	"net/http"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/judge/lint"
)

// LintRequest asks for what is probably wrong with assertions.
type LintRequest struct {
	Assertions []judge.Assertion `json:"assertions"`
	Templates  map[string]any    `json:"templates,omitempty" doc:"Templates that the criteria name beside the shipped ones, as in an assertion set"`
}

// Linted is what is probably wrong with assertions.
type Linted struct {
	Items  []LintedAssertion `json:"items" doc:"One for each assertion, in their order"`
	Unread string            `json:"unread,omitempty" doc:"Says that some criteria are in a language that the lint does not read"`
}

// LintedAssertion is what is probably wrong with one assertion.
type LintedAssertion struct {
	Index    int            `json:"index"`
	ID       string         `json:"id"`
	Findings []lint.Finding `json:"findings" doc:"Their pointers are into the request"`
}

// postLint checks the wording of assertions.
func (s *Server) postLint(c *call) error {
	set, err := readSet(c.r.Context(), c.body)
	if err != nil {
		return err
	}
	for key, text := range map[string]string{"name": set.name, "prompt": set.prompt, "context": set.context} {
		if text != "" {
			return invalid([]Mistake{{Pointer: "/" + key, Code: proviso.Invalid, Message: "unknown field " + key, Valid: []string{"assertions", "templates"}}})
		}
	}
	req, err := judge.ReadRequestWith(c.r.Context(), set.request(), set.library)
	if err != nil {
		return requestProblem(c.r.Context(), c.body, err)
	}
	list, mistakes := req.Decode()
	if len(mistakes) > 0 {
		return requestProblem(c.r.Context(), c.body, mistakes)
	}
	out := Linted{Items: []LintedAssertion{}, Unread: lint.Unread(list)}
	for i, a := range list {
		found := lint.Assertion(a)
		if found == nil {
			found = []lint.Finding{}
		}
		out.Items = append(out.Items, LintedAssertion{i, a.ID, found})
	}
	return c.json(http.StatusOK, out)
}
