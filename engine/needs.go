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

// NeedsJudge is the need of an engine that uses its operator's judge.
const NeedsJudge = "a judge model"

// NeedsHost is the prefix of the need for a private address. The host that an untrusted suite
// requests follows.
const NeedsHost = "--allow-host "

// needs are what providers and judges need from the user's environment, and whether it is
// there. It is safe for concurrent use.
type needs struct {
	mu   sync.Mutex
	here map[string]bool
	// judged means that a question was for the judge of the operator or of the suite.
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

// ask records that there is a question for the judge.
func (n *needs) ask() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.judged = true
}

// Needs returns what the opened providers and judges need of this process, such as
// OPENAI_API_KEY, and whether it is there. Needs are names, not secrets. After [Engine.Plan]
// they are complete for the suite.
func (e *Engine) Needs() map[string]bool {
	e.needs.mu.Lock()
	defer e.needs.mu.Unlock()
	return maps.Clone(e.needs.here)
}

// judgeNeed returns the need for a judge of the operator: the keys for a default model of an
// ability other than grading texts, otherwise [NeedsJudge].
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

// keysOf returns the names of the keys of the default models for an ability.
func keysOf(role judge.Role) string {
	var keys []string
	for _, row := range DefaultJudges(role) {
		keys = append(keys, row.Key)
	}
	return strings.Join(keys, " or ")
}

// TheJudge is the prefix of the judge names that [Options.Judging] returns. A run needs at most
// one of them.
const TheJudge = "the judge "

// JudgeOfSuite is the prefix of the name of a judge that the suite names.
const JudgeOfSuite = TheJudge + "of the suite"

// maxJudgeName limits the id of a judge in a name, in bytes.
const maxJudgeName = 200

// Judging returns the names of the judges that an engine with these options uses: own for a
// suite that names no judge, ofSuite for one that does. Two processes with equal names reach
// verdicts in the same way. A name holds the id of the model as [proviso.Providers.Public]
// shows it, the mode, votes and canaries that the options set, and a hash of the rest of the id
// and of the variables that set where and how requests are sent. Names hold no keys or
// passwords. own is [NeedsJudge] if there is no judge. A name does not tell whether the key is
// there.
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
	if o.Judge.Name != "" { // this judge is used for every suite
		ofSuite = own
	}
	return own, ofSuite
}

// manner lists the settings of the judge, as far as they are set.
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

// shown returns the id of a judge for its name, which is stored and shown.
func shown(id string) string {
	id = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(provider.Facts().Public(id), "\uFFFD"))
	return excerpt.Bytes(id, maxJudgeName)
}

// settingsOf returns a hash of what determines a judge's answers besides its shown id and keys;
// "" if nothing does.
func settingsOf(id string, env proviso.Env, files proviso.Files) string {
	spec := proviso.ProviderSpec{ID: id}
	set := provider.PublicIdentity(spec, provider.Options{Env: provider.Concerning(spec, env), Files: files})
	if set == provider.PublicIdentity(proviso.ProviderSpec{ID: shown(id)}, provider.Options{Env: proviso.EnvMap{}}) {
		return ""
	}
	return set[:8]
}

// Judging returns the name of the judge that the engine's plans use, see [Options.Judging]; ""
// if they use none.
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
