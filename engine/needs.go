package engine

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"unicode"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/provider"
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

// TheJudge is how the names of judges begin that [Options.Judging] returns. A run has one of them
// at most.
const TheJudge = "the judge "

// JudgeOfSuite is how that of a judge begins which the suite names.
const JudgeOfSuite = TheJudge + "of the suite"

// maxJudgeName bounds the id of a judge in a name, in bytes.
const maxJudgeName = 200

// Judging names the judge that an engine with these options asks for a suite that names none,
// and for one that does. Two processes with equal names come to verdicts in the same way: the
// names hold the id of the model as [proviso.Providers.Public] shows it, mode, votes and canaries
// as far as the options set them, and a hash of the rest of the id and of the variables that set
// where and how it is asked. Neither holds keys or passwords. own is
// [NeedsJudge] if there is no judge; a name says nothing about whether its key is there.
func (o *Options) Judging() (own, ofSuite string) {
	env, files := o.Engines.Env, o.Engines.Files
	if op := o.Engines.Operator; op != nil {
		env, files = op.providers.Env, op.providers.Files
	}
	id := o.Judge.Name
	if id == "" && env != nil {
		id, _ = env.Lookup(JudgeVariable)
	}
	for _, row := range DefaultJudges(judge.Text) {
		if id != "" || env == nil {
			break
		}
		if key, _ := env.Lookup(row.Key); key != "" {
			id = row.Provider
		}
	}
	manner := o.Judge.manner()
	own, ofSuite = NeedsJudge, JudgeOfSuite+inBrackets(manner)
	if id != "" {
		if settings := settingsOf(id, env, files); settings != "" {
			manner = append(manner, "settings "+settings)
		}
		own = TheJudge + shown(id) + inBrackets(manner)
	}
	if o.Judge.Name != "" { // which is asked for every suite
		ofSuite = own
	}
	return own, ofSuite
}

// manner is how the judge is asked, as far as it is set.
func (j *Judge) manner() (list []string) {
	if j.Mode != "" {
		list = append(list, "mode "+string(j.Mode))
	}
	if j.Votes > 0 {
		list = append(list, fmt.Sprintf("%d votes", j.Votes))
	}
	if j.Canaries {
		list = append(list, "canaries")
	}
	return list
}

func inBrackets(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

// shown is the id of a judge in its name, which is stored and shown.
func shown(id string) string {
	id = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(provider.Facts().Public(id), "\uFFFD"))
	return excerpt.Bytes(id, maxJudgeName)
}

// settingsOf is a hash of what determines the answers of a judge beside its id as it is shown
// and beside keys; "" if nothing does.
func settingsOf(id string, env proviso.Env, files proviso.Files) string {
	spec := proviso.ProviderSpec{ID: id}
	set := provider.PublicIdentity(spec, provider.Options{Env: provider.Concerning(spec, env), Files: files})
	if set == provider.PublicIdentity(proviso.ProviderSpec{ID: shown(id)}, provider.Options{Env: proviso.EnvMap{}}) {
		return ""
	}
	return set[:8]
}

// Judging returns which judge the plans of the engine ask, as of [Options.Judging]; "" if they
// ask none.
func (e *Engine) Judging() string {
	e.needs.mu.Lock()
	asked := e.needs.judged
	e.needs.mu.Unlock()
	if !asked || e.o.Judge.Grader != nil {
		return ""
	}
	own, ofSuite := e.o.Judging()
	if e.suite != nil && (len(e.suite.Judge.Panel) > 0 || e.suite.Options.Grader != "") {
		return ofSuite
	}
	return own
}
