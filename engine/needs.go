package engine

import (
	"maps"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge"
)

// NeedsJudge is what an engine needs that asks the judge of its operator.
const NeedsJudge = "a judge model"

// NeedsHost is how what is needed begins for a private address: the host that an untrusted suite
// asks follows.
const NeedsHost = "--allow-host "

// needs are what providers and judges take from the environment of the user, and whether it
// is there. It is safe for concurrent use.
type needs struct {
	mu   sync.Mutex
	here map[string]bool
	// judged says that a question was for the judge of the operator or of the suite.
	judged bool
}

func (n *needs) add(what string, here bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.here == nil {
		n.here = map[string]bool{}
	}
	known, is := n.here[what]
	n.here[what] = here && (known || !is)
}

// ask notes that there is a question for the judge.
func (n *needs) ask() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.judged = true
}

// Needs returns what the providers and judges that the engine has opened need of this
// process, such as OPENAI_API_KEY, and whether it is there. They are names, and no secrets.
// After [Engine.Plan] they are all that a suite needs.
func (e *Engine) Needs() map[string]bool {
	e.needs.mu.Lock()
	defer e.needs.mu.Unlock()
	return maps.Clone(e.needs.here)
}

// judgeNeed is what is needed for a judge of the operator: for the default model of an
// ability other than grading texts its key, and otherwise [NeedsJudge].
func judgeNeed(spec proviso.ProviderSpec) string {
	for _, role := range []judge.Role{judge.Embedding, judge.Classification, judge.Moderation} {
		for _, row := range DefaultJudges(role) {
			if row.Provider == spec.ID {
				return keysOf(role)
			}
		}
	}
	return NeedsJudge
}

// keysOf names the keys of the default models for an ability.
func keysOf(role judge.Role) string {
	var keys []string
	for _, row := range DefaultJudges(role) {
		keys = append(keys, row.Key)
	}
	return strings.Join(keys, " or ")
}
