package check

import (
	"context"
	"strings"

	"github.com/proviso-eval/proviso/internal/xmltext"
	"github.com/proviso-eval/proviso/value"
)

const xmlHolds = "XML is valid and contains all required elements"

// newIsXML is `is-xml`: the output is a well-formed document that has the
// required elements.
func newIsXML(_ *Compiler, s *Spec) (Check, error) {
	required, err := requiredElements(s)
	if err != nil {
		return nil, err
	}
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		reason := lacksXML(sub.Text, required)
		f := found(reason == "")
		if f.Reason = reason; f.Pass {
			f.Reason = xmlHolds
		}
		return f, nil
	}), nil
}

// lacksXML returns why text is not the required XML, or "".
func lacksXML(text string, required []string) string {
	err := xmltext.Check(text)
	var tree *xmltext.Tree
	if err == nil {
		tree, err = xmltext.Parse(text)
	}
	if err != nil {
		return "XML parsing failed: " + err.Error()
	}
	var missing []string
	for _, path := range required {
		if !tree.Has(path) {
			missing = append(missing, path)
		}
	}
	if missing != nil {
		return "XML is missing required elements: " + strings.Join(missing, ", ")
	}
	return ""
}

// newContainsXML is `contains-xml`: an element somewhere in the output has the
// required elements.
func newContainsXML(_ *Compiler, s *Spec) (Check, error) {
	required, err := requiredElements(s)
	if err != nil {
		return nil, err
	}
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		ok, some := xmltext.Contains(sub.Text, required)
		f := found(ok)
		switch {
		case ok:
			f.Reason = xmlHolds
		case some:
			f.Reason = "No valid XML content found matching the requirements"
		default:
			f.Reason = "No XML content found in the output"
		}
		return f, nil
	}), nil
}

// requiredElements reads the paths in a value: a list, texts separated by commas, or
// an object with such a list. Other scalars mean no paths.
func requiredElements(s *Spec) ([]string, error) {
	switch v := s.Value.(type) {
	case string:
		paths := strings.Split(v, ",")
		for i, p := range paths {
			paths[i] = value.TrimSpace(p)
		}
		return paths, nil
	case []any:
		return asTexts(v), nil
	case *value.Object:
		if v.Len() == 0 {
			return nil, nil
		}
		if list, ok := v.At("requiredElements").([]any); ok {
			return asTexts(list), nil
		}
		return nil, s.badValue("paths separated by commas, a list of paths or {requiredElements: [...]}")
	}
	return nil, nil
}
