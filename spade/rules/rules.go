// Package rules proposes assertions for the sentences of a prompt by rules, without a
// model. Start at [Propose].
package rules

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/language"
	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/value"
)

// Unproposed is a change without a check, with the reason.
type Unproposed struct {
	Delta    proviso.Delta
	Category string
	Reason   string
}

// Proposed is the result of the rules for a history.
type Proposed struct {
	Candidates []proviso.Candidate
	Unproposed []Unproposed
}

// Options configure the rules.
type Options struct {
	// Compiler tries every candidate.
	Compiler *check.Compiler
	// Dropped also proposes for text that is no longer in the last version.
	Dropped bool
}

// Propose proposes assertions for what each version added, without a model: for quantities,
// formats, required and forbidden phrases, and how an output starts and ends. It compiles and
// tries each candidate. It lists what the rules cannot turn into a check, with the reason;
// headings and tags are not sentences and are not listed. Candidates of text that the last
// version no longer has come last, and are marked with the version that removed it.
func Propose(ctx context.Context, h *delta.History, o Options) (*Proposed, error) {
	p := &proposer{options: o, history: h, out: &Proposed{}, names: map[string]bool{}, same: map[string]bool{}, standing: map[int]map[string]standing{}}
	p.prompt = h.Changes[len(h.Changes)-1].Text
	p.language = language.Of(p.prompt)
	all := h.Asked()
	for _, d := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch {
		case d.Removed == 0:
			p.delta(ctx, d)
		case !o.Dropped:
			p.refuse(d, "", "a later version does not say it any more")
		}
	}
	for _, d := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if d.Removed > 0 && o.Dropped {
			left := len(p.out.Unproposed)
			p.delta(ctx, d)
			p.out.Unproposed = p.out.Unproposed[:left] // the prompt no longer requires it
		}
	}
	return p.out, nil
}

// proposer is the state of proposing for one history.
type proposer struct {
	options  Options
	prompt   string // the last version
	language string // language of the prompt; "" if unknown
	out      *Proposed
	names    map[string]bool
	same     map[string]bool // proposed assertions, as JSON
	history  *delta.History
	standing map[int]map[string]standing // contexts of each version's sentences; versions count from 1
}

// standingOf returns the context of a sentence in the last version, or else in the version
// that introduced it.
func (p *proposer) standingOf(d proviso.Delta) standing {
	version := len(p.history.Changes)
	if d.Removed > 0 {
		version = d.Version
	}
	if p.standing[version] == nil {
		p.standing[version] = standings(p.history.Changes[version-1].Text)
	}
	return p.standing[version][delta.Key(d.Text)]
}

func (p *proposer) refuse(d proviso.Delta, category, reason string) {
	p.out.Unproposed = append(p.out.Unproposed, Unproposed{d, category, reason})
}

// draft is a candidate before it is compiled.
type draft struct {
	name, description, category string
	assertion                   *value.Object // without an id
	place
}

// place is what a draft was read from.
type place struct {
	start, end int  // offsets in the sentence; end is 0 if the draft has no place
	kind       byte // kind of the required thing: see [sentence.symbols]
	not        bool // the thing is forbidden
	each       bool // it applies to each part
}

// sentence is a unit in the form that the rules use.
type sentence struct {
	text    string
	lower   string
	plain   string // text, with NUL in place of what a rule has already read
	prompt  string
	tongue  *tongue // nil for English, and for languages that the rules do not read
	unread  string  // what the rules do not read in its language
	drafts  []draft
	counts  []count  // quantities among the drafts
	refused []string // reasons for what was refused
	hint    string   // category of what was refused
}

// draft adds a draft that was read from a place.
func (s *sentence) draft(at place, category, name, description string, pairs ...any) {
	s.drafts = append(s.drafts, draft{name, description, category, value.ObjectOf(pairs...), at})
}

func (s *sentence) refuse(category, format string, args ...any) {
	s.refused, s.hint = append(s.refused, fmt.Sprintf(format, args...)), category
}

// conditional matches a requirement that applies only sometimes.
var conditional = pattern.Of(`(?i)\b(if|when|whenever|unless|in case|in cases where|should the user|in the event|depending on|where (?:applicable|appropriate|necessary|possible|relevant)|as needed|optionally|optional)\b`)

// delta makes proposals for one unit.
func (p *proposer) delta(ctx context.Context, d proviso.Delta) {
	switch delta.Part(d.Part) {
	case delta.Heading, delta.Markup:
		return
	case delta.Code:
		p.refuse(d, delta.ExampleDemonstration, "a block of code or text shows something and asks for nothing")
		return
	case delta.Example:
		p.refuse(d, delta.ExampleDemonstration, "an example shows something; whether an output follows it, a judge has to decide")
		return
	}
	text := strings.TrimSpace(commentPattern.Get().ReplaceAllString(d.Text[delta.MarkerLength(d.Text):], ""))
	if len(text) > delta.MaxSentence {
		p.refuse(d, delta.OtherCategory, fmt.Sprintf("it has %d bytes; the rules read sentences of at most %d", len(text), delta.MaxSentence))
		return
	}
	at := p.standingOf(d)
	name := languageOf(text, p.language)
	if at.role == forbiddenRole {
		text = forbiddenAs(text)
	}
	s := &sentence{text: text, lower: strings.ToLower(text), prompt: p.prompt}
	s.tongue, s.unread = tongueOf(name), unread(name)
	if reason := s.sometimes(d); reason != "" {
		p.refuse(d, s.category(), reason)
		return
	}
	s.read()
	if reason := at.reason(text); reason != "" && len(s.drafts)+len(s.refused) > 0 || at.role == forbiddenRole && text == "" {
		p.refuse(d, cmp.Or(s.hint, s.firstCategory(), delta.Exclusion), reason)
		return
	}
	for _, r := range s.refused {
		p.refuse(d, s.hint, r)
	}
	made := 0
	for _, dr := range s.drafts {
		made += p.candidate(ctx, d, dr)
	}
	if made == 0 && len(s.refused) == 0 && len(s.drafts) == 0 {
		p.refuse(d, s.category(), s.reason())
	}
}

// reason says why a sentence gets no check in its context; "" if it may get one.
func (at standing) reason(text string) string {
	switch {
	case at.role == commentRole:
		return "it is in a comment"
	case at.role == unreadRole, at.role == forbiddenRole && text == "":
		return "it is under “" + short(strings.Trim(at.under, "#*_ ")) + "”, and the rules do not understand what that makes of it: a model is needed (--model)"
	case at.near != "":
		return "it may not apply to every output (“" + short(at.near) + "”): a model is needed (--model)"
	case at.after != "":
		return "what follows takes a part of it back (“" + short(at.after) + "”): a model is needed (--model)"
	}
	return ""
}

// firstCategory returns the category of the first draft, "" without one.
func (s *sentence) firstCategory() string {
	if len(s.drafts) > 0 {
		return s.drafts[0].category
	}
	return ""
}

var (
	commentPattern = pattern.Of(`(?s)\{#.*?#\}|<!--.*?-->`)
	inlineIf       = pattern.Of(`\{%-?\s*(?:if|elif|elsif|else|unless|case|when)\b[^%]*%\}|\{\{#(?:if|unless)\b[^}]*\}\}`)
)

// sometimes says why a sentence applies only sometimes in a way that no check can express; ""
// if it always applies, or under a condition that a suite can have.
func (s *sentence) sometimes(d proviso.Delta) string {
	if d.Condition != "" && d.When == "" {
		return fmt.Sprintf("it applies only if %q holds, which is not translated into a when", format.Excerpt(d.Condition))
	}
	if m := inlineIf.Get().FindString(s.text); m != "" {
		return fmt.Sprintf("a part of it applies only sometimes (%s)", format.Excerpt(m))
	}
	only := conditional.Get().FindString(s.text)
	if s.tongue != nil {
		only = s.tongue.sometimes.Get().FindString(s.text)
	}
	if only = strings.TrimSpace(only); only != "" && asks(s) {
		return fmt.Sprintf("it applies only sometimes (%q)", only)
	}
	return ""
}

// read makes the drafts of a sentence.
func (s *sentence) read() {
	s.plain = masked(s.text)
	if s.tongue != nil {
		s.foreign()
	} else {
		s.quantities()
		s.formats()
		s.phrases()
		s.unquoted()
	}
	s.accounted()
}

// asks reports whether the rules would make a candidate from a sentence.
func asks(s *sentence) bool {
	t := sentence{text: s.text, lower: s.lower, prompt: s.prompt, tongue: s.tongue}
	t.read()
	return len(t.drafts)+len(t.refused) > 0
}

// candidate compiles and tries a draft, and returns 1 if it became a candidate.
func (p *proposer) candidate(ctx context.Context, d proviso.Delta, dr draft) int {
	key := value.Stringify(dr.assertion) + d.When
	if p.same[key] {
		p.refuse(d, dr.category, "it asks for the same as a sentence before")
		return 0
	}
	p.same[key] = true
	o := value.ObjectOf("id", p.unique(dr.name), "description", dr.description)
	for k, v := range dr.assertion.All() {
		o.Set(k, v)
	}
	a, wrong := candidate.Decoded(o)
	if wrong == "" {
		wrong = try(ctx, p.options.Compiler, a)
	}
	if wrong == "" && d.When != "" {
		o.Set("when", d.When)
		a, wrong = candidate.Decoded(o)
	}
	if wrong != "" {
		p.refuse(d, dr.category, "the check does not work: "+wrong)
		return 0
	}
	c := candidate.Of(a)
	c.Category, c.Delta = dr.category, d
	p.names[c.Name] = true
	p.out.Candidates = append(p.out.Candidates, c)
	return 1
}

// unique returns an unused name.
func (p *proposer) unique(name string) string {
	for n := 2; p.names[name]; n++ {
		name = fmt.Sprintf("%s_%d", strings.TrimSuffix(name, fmt.Sprintf("_%d", n-1)), n)
	}
	return name
}

// Probes returns outputs that every check must be able to decide.
func Probes() []string {
	return []string{"", "One sentence. Another one!\n\n- an item\n- another", `{"a": [1, "b"]}`, "## Heading\n\n| a | b |\n|---|---|\n\U0001F600"}
}

// try compiles an assertion and decides it on a few outputs. It returns why the assertion
// cannot be used, or "". Template variables have the value 3.
func try(ctx context.Context, c *check.Compiler, a *proviso.Assertion) string {
	set, wrong := c.Compile([]*proviso.Assertion{a})
	if len(wrong) > 0 {
		return wrong[0].Error()
	}
	vars := value.NewObject(4)
	for _, name := range Variables(value.Stringify(a.Raw)) {
		vars.Set(name, "3")
	}
	for _, text := range Probes() {
		row := &check.Row{Output: &proviso.Output{Value: text}, Prompt: "a prompt", HasPrompt: true, Vars: vars}
		for _, v := range set.Eval(ctx, row) {
			if v.Status == proviso.Errored {
				return v.Reason
			}
		}
	}
	return ""
}

var anyVariable = pattern.Of(`\{\{\s*([A-Za-z_]\w*)`)

// Variables returns the names of the template variables in a text.
func Variables(text string) []string {
	var names []string
	for _, m := range anyVariable.Get().FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}

// Slug converts a phrase to a part of a name.
func Slug(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
		if b.Len() >= 32 {
			break
		}
	}
	if s := strings.Trim(b.String(), "_"); s != "" {
		return s
	}
	return "text"
}
