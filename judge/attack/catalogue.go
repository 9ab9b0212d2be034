package attack

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/value"
)

// files hold the attempts, one file for each kind, and the outputs that they are
// added to. The set v1 is in the folder itself, later sets are in subfolders. A
// released set never changes, so that results stay comparable.
//
//go:embed attempts/*.yaml attempts/v2/*.yaml
var files embed.FS

// folders are the sets, in the order in which they run.
var folders = [...]struct{ set, folder, doc string }{
	{"v1", "attempts", "an output that plainly fails, with a request added to it"},
	{"v2", "attempts/v2", "other criteria, several in a call, other places, towards fail, long contexts"},
}

// catalogue holds all shipped attempts and controls.
type catalogue struct {
	kinds    []Kind
	attempts []Attempt
	controls []control
}

// controlsFile is the name of the file that holds the controls of a set.
const controlsFile = "controls.yaml"

// shipped reads the embedded files on first use. It skips invalid files; this package's
// tests find those.
var shipped = sync.OnceValue(func() *catalogue {
	s := &catalogue{}
	for _, f := range folders {
		s.read(f.set, f.folder)
	}
	return s
})

// read adds the set in a folder.
func (s *catalogue) read(set, folder string) {
	data, _ := files.ReadFile(path.Join(folder, controlsFile))
	controls, _ := readControls(data)
	for i := range controls {
		controls[i].set = set
	}
	s.controls = append(s.controls, controls...)
	entries, _ := files.ReadDir(folder)
	n := 0
	for _, e := range entries {
		if e.IsDir() || e.Name() == controlsFile || len(controls) == 0 {
			continue
		}
		data, _ := files.ReadFile(path.Join(folder, e.Name()))
		kind, attempts, err := readAttempts(e.Name(), data)
		if err != nil {
			continue
		}
		kind.Set = set
		for i := range attempts {
			a := &attempts[i]
			at := (n + i) % len(controls)
			if a.name != "" {
				at = slices.IndexFunc(controls, func(c control) bool { return c.ID == a.name })
			}
			if a.Set = set; at >= 0 {
				a.control = &controls[at]
			}
		}
		attempts = slices.DeleteFunc(attempts, func(a Attempt) bool { return a.control == nil || a.where == inVariable && a.control.Vars.Len() != 1 })
		n += len(attempts)
		s.kinds = append(s.kinds, kind)
		s.attempts = append(s.attempts, attempts...)
	}
}

// Attempts returns every shipped attempt, in the order in which they run.
func Attempts() []Attempt { return slices.Clone(shipped().attempts) }

// Kinds returns the kinds of shipped attempts, each with its number of attempts, in the
// order in which they run.
func Kinds() []Kind {
	kinds := slices.Clone(shipped().kinds)
	for i := range kinds {
		for _, a := range shipped().attempts {
			if a.Kind == kinds[i].Kind {
				kinds[i].Attempts++
			}
		}
	}
	return kinds
}

// chosen returns the attempts of the given sets and kinds.
func chosen(sets, kinds []string) ([]Attempt, error) {
	data := shipped()
	var known, valid []string
	for _, f := range folders {
		known = append(known, f.set)
	}
	for _, set := range sets {
		if !slices.Contains(known, set) {
			return nil, &proviso.Error{Code: proviso.Invalid, Message: fmt.Sprintf("there is no set of attempts %q", set), Valid: known}
		}
	}
	for _, k := range data.kinds {
		valid = append(valid, k.Kind)
	}
	slices.Sort(valid)
	for _, kind := range kinds {
		if !slices.Contains(valid, kind) {
			return nil, &proviso.Error{Code: proviso.Invalid, Message: fmt.Sprintf("there is no kind of attempt %q", kind), Valid: valid}
		}
	}
	return slices.DeleteFunc(Attempts(), func(a Attempt) bool {
		return len(kinds) > 0 && !slices.Contains(kinds, a.Kind) || len(sets) > 0 && !slices.Contains(sets, a.Set)
	}), nil
}

func readControls(data []byte) ([]control, error) {
	doc, err := document.ParseYAML(controlsFile, data)
	if err != nil {
		return nil, err
	}
	var out []control
	list, _ := doc.Root.([]any)
	for _, v := range list {
		o, _ := v.(*value.Object)
		list, _ := o.At("assertions").([]any)
		if a := o.At("assertion"); a != nil {
			list = append(list, a)
		}
		if err := document.OnlyKeys(o, "id", "input", "output", "vars", "assertion", "assertions"); err != nil {
			return nil, fmt.Errorf("%s: %w", controlsFile, err)
		}
		c := control{ID: o.Text("id"), Input: o.Text("input"), Output: o.Text("output"), Vars: o.Object("vars")}
		for i, v := range list {
			a, holds, err := readControlAssertion(v)
			if err != nil {
				return nil, err
			}
			if i == 0 {
				c.Assertion, c.Holds = a, holds
				continue
			}
			c.Others = append(c.Others, a)
		}
		if c.ID == "" || c.Input == "" || c.Output == "" || c.Assertion.ID == "" || len(c.Assertion.Criteria) == 0 {
			return nil, fmt.Errorf("%s: a control needs id, input, output and an assertion with criteria", controlsFile)
		}
		out = append(out, c)
	}
	return out, nil
}

func readControlAssertion(v any) (a judge.Assertion, holds bool, err error) {
	o, _ := v.(*value.Object)
	if err := document.OnlyKeys(o, "id", "instruction", "criteria", "holds"); err != nil {
		return a, false, fmt.Errorf("%s: %w", controlsFile, err)
	}
	a = judge.Assertion{ID: o.Text("id"), Instruction: o.Text("instruction")}
	list, _ := o.At("criteria").([]any)
	for _, text := range list {
		a.Criteria = append(a.Criteria, judge.Criterion{Text: value.ToString(text)})
	}
	if a.ID == "" || len(a.Criteria) == 0 {
		return a, false, fmt.Errorf("%s: an assertion needs an id and criteria", controlsFile)
	}
	holds, _ = o.At("holds").(bool)
	return a, holds, nil
}

func readAttempts(file string, data []byte) (Kind, []Attempt, error) {
	doc, err := document.ParseYAML(file, data)
	if err != nil {
		return Kind{}, nil, err
	}
	o, _ := doc.Root.(*value.Object)
	if err := document.OnlyKeys(o, "kind", "doc", "attempts"); err != nil {
		return Kind{}, nil, fmt.Errorf("%s: %w", file, err)
	}
	kind := Kind{Kind: o.Text("kind"), Doc: o.Text("doc")}
	if kind.Kind == "" || kind.Doc == "" {
		return kind, nil, fmt.Errorf("%s: a kind needs a name and a doc", file)
	}
	var out []Attempt
	list, _ := o.At("attempts").([]any)
	for _, v := range list {
		o, _ := v.(*value.Object)
		if err := document.OnlyKeys(o, "id", "control", "where", "text", "encode", "secret", "pad", "length"); err != nil {
			return kind, nil, fmt.Errorf("%s: %w", file, err)
		}
		a := Attempt{ID: o.Text("id"), Kind: kind.Kind, text: o.Text("text"), encode: o.Text("encode"), secret: o.Text("secret"), pad: o.Text("pad"), name: o.Text("control"), where: o.Text("where")}
		length, _ := o.At("length").(float64)
		a.length = int(length)
		if a.ID == "" || a.text == "" || (a.encode == "") != (a.secret == "") || (a.pad == "") != (a.length == 0) || a.encode != "" && encoders()[a.encode] == nil || !slices.Contains([]string{"", inOutput, inInput, inVariable}, a.where) {
			return kind, nil, fmt.Errorf("%s: attempt %q is not complete", file, a.ID)
		}
		out = append(out, a)
	}
	return kind, out, nil
}
