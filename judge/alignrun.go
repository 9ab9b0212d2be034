package judge

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// KeptRun yields the rows of a finished run in the form of reports, each with its
// index. [runfile.Reader] implements it.
type KeptRun interface {
	Rows() iter.Seq2[int, []byte]
	Err() error
}

// OutputID derives an id from the content of an output, so that a label is not
// applied to a different output of the same case.
func OutputID(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "out-" + hex.EncodeToString(sum[:6])
}

// keptRow is a row of a finished run.
type keptRow struct {
	index  int
	caseID string
	o      *value.Object
}

// keptVerdict is the verdict on one assertion in a finished run.
type keptVerdict struct {
	name      string // of the assertion: id, else metric, else type
	judge     string // identity, "" if no model was called
	status    proviso.Status
	assertion *value.Object
	component *value.Object
}

// keptRows decodes the rows of a run. An invalid row ends the sequence with an error.
func keptRows(run KeptRun) iter.Seq2[keptRow, error] {
	return func(yield func(keptRow, error) bool) {
		for index, encoded := range run.Rows() {
			row, err := decodeRow(index, encoded)
			if !yield(row, err) || err != nil {
				return
			}
		}
		if err := run.Err(); err != nil {
			yield(keptRow{}, proviso.Errorf(proviso.Unavailable, "%w", err))
		}
	}
}

func decodeRow(index int, encoded []byte) (keptRow, error) {
	v, err := value.ParseJSON(string(encoded))
	o, ok := v.(*value.Object)
	if err != nil || !ok {
		return keptRow{}, proviso.Errorf(proviso.Invalid, "row %d of the run is damaged", index)
	}
	return keptRow{index: index, caseID: textAt(o, "caseId"), o: o}, nil
}

// verdicts lists the verdicts of a row. It includes the members of assertion sets, but
// not the parts of a single assertion.
func (r keptRow) verdicts() []keptVerdict {
	list, _ := objectAt(r.o, "gradingResult").At("componentResults").([]any)
	var all []keptVerdict
	for i := 0; i < len(list); i++ {
		c, _ := list[i].(*value.Object)
		a := objectAt(c, "assertion")
		kind := textAt(a, "type")
		if strings.HasSuffix(kind, "assert-set") {
			continue // its members follow
		}
		if parts, ok := c.At("members").(float64); ok && parts > 0 && parts < math.MaxInt32 {
			i += int(parts)
		}
		if a == nil {
			continue
		}
		all = append(all, keptVerdict{name: cmp.Or(textAt(a, "id"), textAt(a, "metric"), kind, "judge"),
			judge: textAt(c, "judge"), status: statusNamed(textAt(c, "status")), assertion: a, component: c})
	}
	return all
}

// output returns the output in the form that assertions get.
func (r keptRow) output() string {
	v, ok := objectAt(r.o, "response").Get("output")
	if !ok {
		return ""
	}
	return (&proviso.Output{Value: v}).Text()
}

// quotes returns the evidence of a verdict.
func (v keptVerdict) quotes() []string {
	list, _ := v.component.At("evidence").([]any)
	var quotes []string
	for _, e := range list {
		if o, ok := e.(*value.Object); ok {
			quotes = append(quotes, textAt(o, "quote"))
		}
	}
	return quotes
}

func (v keptVerdict) reason() string { return textAt(v.component, "reason") }

func objectAt(o *value.Object, key string) *value.Object {
	v, _ := o.At(key).(*value.Object)
	return v
}

func textAt(o *value.Object, key string) string {
	v, _ := o.At(key).(string)
	return v
}

func statusNamed(name string) proviso.Status {
	for _, s := range [...]proviso.Status{proviso.Pass, proviso.Fail, proviso.Skip} {
		if s.String() == name {
			return s
		}
	}
	return proviso.Errored
}

// AssertionHash hashes everything in an assertion that can change a verdict:
// instruction, criteria, check, value and so on. It leaves out what cannot (id,
// metric, weight, severity, condition), and the model, which is part of the judge's
// identity.
func AssertionHash(a *proviso.Assertion) string {
	if a.Raw != nil {
		return hashOfAssertion(a.Raw)
	}
	return hashOfAssertion(rawAssertion(a))
}

// rawAssertion returns an assertion that was not read from a file in the form that a
// file would have.
func rawAssertion(a *proviso.Assertion) *value.Object {
	o := value.ObjectOf("type", a.Type, "instruction", a.Instruction, "value", a.Value, "threshold", a.Threshold,
		"rubricPrompt", a.RubricPrompt, "transform", a.Transform, "contextTransform", a.ContextTransform, "config", a.Config)
	if a.IgnoreCase {
		o.Set("ignoreCase", true)
	}
	var criteria []any
	for _, c := range a.Criteria {
		criteria = append(criteria, value.ObjectOf("text", c.Text, "template", c.Template, "params", c.Params))
	}
	if criteria != nil {
		o.Set("criteria", criteria)
	}
	if a.Scope != nil {
		section := value.ObjectOf("from", a.Scope.From, "to", a.Scope.To)
		o.Set("scope", value.ObjectOf("of", a.Scope.Of, "section", section, "each", a.Scope.Each, "match", a.Scope.Match))
	}
	if a.Check != nil {
		if a.Check.Raw != nil {
			o.Set("check", a.Check.Raw)
		} else {
			o.Set("check", rawAssertion(a.Check))
		}
	}
	return o
}

// neutralKeys are the keys of an assertion that do not change its verdict.
var neutralKeys = [...]string{"id", "metric", "weight", "severity", "when", "description", "provider"}

// hashOfAssertion hashes an assertion in the form of a file.
func hashOfAssertion(raw *value.Object) string {
	sum := sha256.Sum256(value.AppendJSON([]byte("assertion 1\n"), essential(raw)))
	return "sha256:" + hex.EncodeToString(sum[:16])
}

// essential returns the parts of an assertion that can change its verdict, in one
// normal form. A single criterion equals a list of one, a text equals an object with
// that text, the type judge equals no type, and an empty value equals an absent one.
func essential(raw *value.Object) *value.Object {
	o, _ := canonical(raw).(*value.Object)
	for _, key := range neutralKeys {
		o.Delete(key)
	}
	if o.At("type") == "judge" {
		o.Delete("type")
	}
	if check := objectAt(o, "check"); check != nil {
		o.Set("check", essential(check))
	}
	if c := o.At("criteria"); c != nil {
		list, ok := c.([]any)
		if !ok {
			list = []any{c}
		}
		for i, e := range list {
			criterion, ok := e.(*value.Object)
			if !ok {
				continue
			}
			if criterion.Delete("category"); criterion.Len() == 1 && criterion.Has("text") {
				list[i] = criterion.At("text")
			}
		}
		o.Set("criteria", list)
	}
	return o
}

// canonical returns a copy with sorted keys and without empty values.
func canonical(v any) any {
	switch v := v.(type) {
	case *value.Object:
		keys := slices.Clone(v.Keys())
		slices.Sort(keys)
		sorted := value.NewObject(len(keys))
		for _, key := range keys {
			if member := canonical(v.At(key)); !isEmpty(member) {
				sorted.Set(key, member)
			}
		}
		return sorted
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = canonical(e)
		}
		return list
	}
	return v
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil, value.Undefined:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case *value.Object:
		return v.Len() == 0
	}
	return false
}
