package delta

import (
	"strings"
)

// Categories are the names of SPADE's taxonomy.
var Categories = []string{
	ResponseFormat, ExampleDemonstration, PromptClarification,
	WorkflowDescription, DataIntegration, Quantity, Inclusion, Exclusion, QualitativeCriteria, OtherCategory,
}

// publishedCategory returns the category for a lower-case name in the paper's published data.
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

// CategoryNamed returns the category with a name, in any case and with or without its group
// ("Structural/", "Content/"). It also accepts the paper's older names. It returns false if
// there is none.
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

// The categories of a change, from the taxonomy in section 2 of the paper.
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

// The groups of the categories.
const (
	Structural = "Structural" // how the prompt is written
	Content    = "Content"    // what it requires
)

// Groups are the groups of the taxonomy.
var Groups = []string{Structural, Content}

// GroupOf returns the group of a category; "" for Other and for an unknown category.
func GroupOf(category string) string {
	switch category {
	case ResponseFormat, ExampleDemonstration, PromptClarification:
		return Structural
	case WorkflowDescription, DataIntegration, Quantity, Inclusion, Exclusion, QualitativeCriteria:
		return Content
	}
	return ""
}

// InGroup returns the given categories that belong to a group.
func InGroup(categories []string, group string) []string {
	var list []string
	for _, c := range categories {
		if GroupOf(c) == group {
			list = append(list, c)
		}
	}
	return list
}
