package suite

import "github.com/proviso-eval/proviso/internal/kind"

// label is the kind of a name: YAML reads names such as 2024 and true as a number and
// a boolean.
const label = kind.Text | kind.Number | kind.Boolean

// caseKeys returns the keys of a case.
func caseKeys() []keyRow {
	return []keyRow{
		{Key: "assert", Kind: kind.List, Doc: "the assertions, after those of defaultTest"},
		{Key: "assertScoringFunction", Kind: kind.Text, Doc: "file://score.js[:function], a script that computes the verdict of the row"},
		{Key: "description", Kind: label, Doc: "the name of the case in reports, for --filter-pattern"},
		{Key: "id", Kind: label, Own: true, Doc: "a stable id; otherwise a hash of the case's content"},
		{Key: "metadata", Kind: kind.Object, Doc: "names and values for --filter-metadata, when and reports"},
		{Key: "options", Kind: kind.Object, Doc: "how the case is run, and settings for the provider"},
		{Key: "prompts", Kind: label | kind.List, Doc: "only these: labels or ids, a beginning up to a colon, or a pattern with *"},
		{Key: "provider", Kind: kind.Text | kind.Object, Doc: "asked in place of the suite's: a label or id of the suite, an id, or {id, config}"},
		{Key: "providerOutput", Kind: kind.Any, Doc: "the answer itself; no provider is asked"},
		{Key: "providers", Kind: label | kind.List, Doc: "only these: labels or ids, a beginning up to a colon, or a pattern with *"},
		{Key: "repeat", Kind: kind.Number | kind.Object, Own: true, Doc: "how often the case runs: n, or {n, pass}"},
		{Key: "threshold", Kind: kind.Number, Doc: "the row passes if its weighted mean score reaches this number, whatever failed"},
		{Key: "vars", Kind: kind.Text | kind.List | kind.Object, Doc: "the variables, or files with them"},
	}
}

// optionKeys returns the options of a case that proviso uses. All others are settings
// for the provider.
func optionKeys() []keyRow {
	return []keyRow{
		{Key: "disableConversationVar", Kind: kind.Any, Doc: "the case does not see _conversation"},
		{Key: "disableDefaultAsserts", Kind: kind.Boolean, Doc: "leaves out the assertions of defaultTest"},
		{Key: "disableVarExpansion", Kind: kind.Boolean, Doc: "lists among the variables stay lists"},
		{Key: "factuality", Kind: kind.Any, Doc: "how much each kind of difference is worth, for the type factuality"},
		{Key: "postprocess", Kind: kind.Text, Doc: "older name of transform"},
		{Key: "prefix", Kind: kind.Text, Doc: "put before the prompt"},
		{Key: "provider", Kind: kind.Text | kind.Object, Doc: "the model that grades, instead of the default one"},
		{Key: "repeat", Kind: kind.Number | kind.Object, Own: true, Doc: "as repeat of the case"},
		{Key: "rubricPrompt", Kind: kind.Any, Doc: "the prompt for the model that grades"},
		{Key: "runSerially", Kind: kind.Boolean, Doc: "such cases run first, one row at a time"},
		{Key: "storeOutputAs", Kind: label, Doc: "the output becomes a variable of later cases; braces in the output of a model are never a template"},
		{Key: "suffix", Kind: kind.Text, Doc: "put after the prompt"},
		{Key: "transform", Kind: kind.Text, Doc: "script over the output"},
		{Key: "transformVars", Kind: kind.Text, Doc: "script that returns the variables"},
	}
}

// scenarioKeys returns the keys of a scenario.
func scenarioKeys() []keyRow {
	return []keyRow{
		{Key: "config", Kind: kind.Text | kind.List | kind.Object, Doc: "parts of cases, such as vars; every part is combined with each of the tests"},
		{Key: "description", Kind: kind.Any, Doc: "a note for people"},
		{Key: "tests", Kind: kind.Text | kind.List | kind.Object, Doc: "the cases"},
	}
}
