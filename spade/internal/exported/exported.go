// Package exported reads what other tools export: the versions of a prompt, and outputs with
// people's opinions of them. It recognises the tool by the file's content. Start at [Kinds]
// and [Of].
package exported

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Kind is a tool's export format. A kind has versions of prompts, or outputs.
type Kind struct {
	Name string // what a file contains, in the plural, such as "runs of LangSmith"

	is      func(o *value.Object) bool // recognises one entry
	version func(o *value.Object) (Version, error)
	output  func(o *value.Object) (out Output, skipped string)
	all     func(entries []*value.Object) (list []Output, skipped string) // replaces output if entries belong together
}

// Kinds returns the supported formats. An entry has the first kind that recognises it.
func Kinds() []*Kind {
	return []*Kind{
		{Name: "traces in the JSON form of OTLP", is: isOTLP, all: outputsOfOTLP},
		{Name: "events of proviso serve", is: isEvent, output: outputOfEvent},
		{Name: "prompts of PromptLayer", is: isPromptLayerPrompt, version: versionOfPromptLayer},
		{Name: "request logs of PromptLayer", is: isPromptLayerLog, output: outputOfPromptLayer},
		{Name: "commits of a prompt in LangSmith", is: isLangSmithCommit, version: versionOfLangSmith},
		{Name: "runs of LangSmith", is: isLangSmithRun, output: outputOfLangSmith},
		{Name: "prompts of Langfuse", is: isLangfusePrompt, version: versionOfLangfuse},
		{Name: "traces of Langfuse", is: isLangfuseTrace, output: outputOfLangfuse},
		{Name: "chat completions of OpenAI", is: isOpenAILog, output: outputOfOpenAI},
	}
}

// Tools names the supported tools, for messages.
const Tools = "Langfuse, LangSmith, PromptLayer, OpenAI or OTLP"

// Of returns the kind of an entry; nil if no kind recognises it.
func Of(entry any) *Kind {
	o, ok := entry.(*value.Object)
	if !ok {
		return nil
	}
	for _, k := range Kinds() {
		if k.is(o) {
			return k
		}
	}
	return nil
}

// Entry is one entry of a file.
type Entry struct {
	Value any
	At    func() proviso.Place
	// In returns the place of a value in the entry, or of its key. If In is nil, mistakes have
	// the place of the entry.
	In func(pointer string, key bool) proviso.Place
}

// in returns the place of a value in the entry, or of its key.
func (e *Entry) in(pointer string, key bool) proviso.Place {
	if e.In == nil {
		return e.At()
	}
	return e.In(pointer, key)
}

// Version is one version of a prompt.
type Version struct {
	Prompt string // name of the prompt; "" if the file does not say
	Name   string // name of the version
	Text   string
	Number float64
	// Numbered says whether Number is known. Time is zero if unknown.
	Numbered bool
	Time     time.Time
}

// Output is an output of a model or an agent.
type Output struct {
	ID      string
	Time    time.Time // zero if unknown
	Label   string    // people's opinion: 1 for good, 0 for bad, or ""
	Split   bool      // people disagree
	Thumb   bool      // the label is a user's thumb
	Version string    // version of the agent or model that answered; "" if unknown
	slips   []slip    // values probably meant as a label that are none
	scored  []string  // people's scores that hold labels
	said    opinion   // people's opinion under label, not as a score
	scores  []score   // people's scores
	Value   any       // text or structured value
	Prompt  string    // what the model received; "" if unknown
	System  string    // its system message; "" if none
	Vars    *value.Object
	part    bool // part of another output, such as a model call in an agent
	isModel bool // a part that is a model's answer
}

// The members that may hold the list of entries in a file that is one object, in lookup order.
var listKeys = []string{"data", "items", "commits", "versions", "runs", "traces", "observations", "generations", "results"}

// Unwrap returns the entries of a JSON document: the members of a list, of a list in an
// object, or the document itself. at is the pointer to the list, and list whether there is
// one.
func Unwrap(root any) (entries []any, at string, list bool) {
	switch v := root.(type) {
	case []any:
		return v, "", true
	case *value.Object:
		if Of(v) != nil {
			break
		}
		for _, key := range listKeys {
			if l, ok := v.At(key).([]any); ok {
				return l, "/" + key, true
			}
		}
	}
	return []any{root}, "", false
}

// Versions reads the entries of a kind. If the file has several prompts, it reads the one with
// the name. For outputs it reads their system messages, oldest first. The notes are for the
// user.
func (k *Kind) Versions(entries []Entry, name string) (list []Version, notes []string, mistakes proviso.Mistakes) {
	if k.version == nil {
		return k.spoken(entries)
	}
	var names []string
	for _, e := range entries {
		o, _ := e.Value.(*value.Object)
		if o == nil || !k.is(o) {
			mistakes.AddAt(e.At, k.foreign(e))
			continue
		}
		v, err := k.version(o)
		if err != nil {
			mistakes.AddAt(e.At, proviso.Mistake{Code: proviso.Invalid, Message: err.Error()})
			continue
		}
		if v.Prompt != "" && !slices.Contains(names, v.Prompt) {
			names = append(names, v.Prompt)
		}
		if name == "" || v.Prompt == name {
			list = append(list, v)
		}
	}
	switch {
	case mistakes.Err() != nil:
		return nil, nil, mistakes
	case name != "" && len(list) == 0:
		return nil, nil, proviso.Mistakes{{Place: entries[0].At(), Code: proviso.NotFound, Message: fmt.Sprintf("no version is of the prompt %s", value.Stringify(name)), Nearest: nearest(name, names)}}
	case name == "" && len(names) > 1:
		return nil, nil, proviso.Mistakes{{Place: entries[0].At(), Code: proviso.Invalid,
			Message: fmt.Sprintf("there are versions of %d prompts: %s; choose one with FILE:NAME", len(names), some(names))}}
	}
	return list, nil, nil
}

// spoken returns the system messages of outputs as versions.
func (k *Kind) spoken(entries []Entry) (list []Version, notes []string, mistakes proviso.Mistakes) {
	outputs, _, mistakes := k.Outputs(entries)
	if mistakes.Err() != nil {
		return nil, nil, mistakes
	}
	slices.SortStableFunc(outputs, func(a, b Output) int { return a.Time.Compare(b.Time) })
	said, distinct := 0, map[string]bool{}
	for _, o := range outputs {
		if o.System == "" {
			continue
		}
		said++
		distinct[o.System] = true
		if n := len(list); n == 0 || list[n-1].Text != o.System {
			list = append(list, Version{Name: o.ID, Text: o.System, Time: o.Time})
		}
	}
	at := func(message string) proviso.Mistakes {
		return proviso.Mistakes{{Place: entries[0].At(), Code: proviso.Invalid, Message: message}}
	}
	switch {
	case said == 0:
		return nil, nil, at("these are " + k.Name + " without a system message, so they show no version of a prompt; give the prompt itself, and these as the outputs")
	case said > 3 && len(distinct)*2 > said:
		return nil, nil, at(fmt.Sprintf("%d of %d system messages differ: they are filled templates, not versions; give the template itself, and these as the outputs", len(distinct), said))
	}
	return list, []string{fmt.Sprintf("the versions are the system messages of %d %s", said, k.Name)}, nil
}

// Outputs reads the entries of a kind. The notes say what was left out.
func (k *Kind) Outputs(entries []Entry) (list []Output, notes []string, mistakes proviso.Mistakes) {
	if k.version != nil {
		return nil, nil, proviso.Mistakes{{Place: entries[0].At(), Code: proviso.Invalid, Message: "these are " + k.Name + ", which hold no outputs; give them as the versions of the prompt"}}
	}
	left := map[string]int{}
	var gathered []*value.Object
	var wrong slips
	for _, e := range entries {
		o, _ := e.Value.(*value.Object)
		if o == nil || !k.is(o) {
			mistakes.AddAt(e.At, k.foreign(e))
			continue
		}
		if gathered = append(gathered, o); k.output == nil {
			continue
		}
		out, skipped := k.output(o)
		if skipped != "" {
			left[skipped]++
			continue
		}
		wrong.take(&e, &out)
		list = append(list, out)
	}
	if wrong.addTo(&mistakes); mistakes.Err() != nil {
		return nil, nil, mistakes
	}
	if k.all != nil {
		var skipped string
		if list, skipped = k.all(gathered); skipped != "" {
			left[skipped]++
		}
	}
	list = whole(list, left)
	notes = labelByScores(list)
	split, thumbs := identify(list)
	for _, why := range sorted(left) {
		notes = append(notes, fmt.Sprintf("%d of the %s left out: %s", left[why], k.Name, why))
	}
	if split > 0 {
		notes = append(notes, fmt.Sprintf("people say good and bad of %d of the %s, which count as not labelled", split, k.Name))
	}
	if thumbs > 0 {
		notes = append(notes, fmt.Sprintf("the labels of %d of the %s are thumbs of users, who do not say what they judge", thumbs, k.Name))
	}
	if len(list) == 0 {
		return nil, notes, proviso.Mistakes{{Place: entries[0].At(), Code: proviso.Invalid, Message: "none of the " + k.Name + " has an output" + because(left)}}
	}
	return list, notes, nil
}

// identify gives the outputs unique ids and non-nil variables, and counts the outputs whose
// label is split or a thumb.
func identify(list []Output) (split, thumbs int) {
	seen := map[string]int{}
	for i := range list {
		o := &list[i]
		if o.ID == "" {
			o.ID = fmt.Sprint(i + 1)
		}
		if seen[o.ID]++; seen[o.ID] > 1 {
			o.ID += fmt.Sprintf("~%d", seen[o.ID])
		}
		if o.Vars == nil {
			o.Vars = value.NewObject(0)
		}
		if o.Split {
			split++
		}
		if o.Thumb {
			thumbs++
		}
	}
	return split, thumbs
}

// whole removes the parts of other outputs. If there are only parts, it keeps the models'
// answers.
func whole(list []Output, left map[string]int) []Output {
	roots := slices.ContainsFunc(list, func(o Output) bool { return !o.part })
	return slices.DeleteFunc(list, func(o Output) bool {
		switch {
		case roots && o.part:
			left["they are parts of others"]++
			return true
		case !roots && !o.isModel:
			left["they are parts of others, and not of a model"]++
			return true
		}
		return false
	})
}

func (k *Kind) foreign(e Entry) proviso.Mistake {
	message := "the file holds " + k.Name + ", and this is none"
	if other := Of(e.Value); other != nil {
		message += "; it is one of the " + other.Name
	}
	return proviso.Mistake{Code: proviso.Invalid, Message: message}
}

func because(left map[string]int) string {
	if len(left) == 0 {
		return ""
	}
	return ": " + strings.Join(sorted(left), "; ")
}
