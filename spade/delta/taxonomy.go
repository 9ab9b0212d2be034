package delta

import (
	"strings"
)

// Categories are the names of SPADE's taxonomy.
var Categories = []string{
	ResponseFormat, ExampleDemonstration, PromptClarification,
	WorkflowDescription, DataIntegration, Quantity, Inclusion, Exclusion, QualitativeCriteria, OtherCategory,
}

// publishedCategory returns the category for a name in the paper's published data, in
// lower case.
func publishedCategory(name string) (string, bool) {
	switch name {
	case "presentationformat":
		return ResponseFormat, true
	case "promptrephrasing":
		return PromptClarification, true
	case "dataplaceholders":
		return DataIntegration, true
	case "count":
		return Quantity, true
	case "qualitativeassessment":
		return QualitativeCriteria, true
	}
	return "", false
}

// CategoryNamed returns the category with a name, in any case and with or without its
// group ("Structural/", "Content/"). It also accepts the paper's older names. It
// returns false if there is none.
func CategoryNamed(name string) (string, bool) {
	name = strings.TrimSpace(name)
	name = name[strings.LastIndexByte(name, '/')+1:]
	squeezed := strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.ToLower(name))
	for _, c := range Categories {
		if squeezed == strings.ToLower(c) {
			return c, true
		}
	}
	return publishedCategory(squeezed)
}

// The categories of a change: the taxonomy of the paper's section 2.
const (
	ResponseFormat       = "ResponseFormat"
	ExampleDemonstration = "ExampleDemonstration"
	PromptClarification  = "PromptClarification"
	WorkflowDescription  = "WorkflowDescription"
	DataIntegration      = "DataIntegration"
	Quantity             = "Quantity"
	Inclusion            = "Inclusion"
	Exclusion            = "Exclusion"
	QualitativeCriteria  = "QualitativeCriteria"
	OtherCategory        = "Other"
)
