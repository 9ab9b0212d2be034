package suite

import "github.com/proviso-eval/proviso/internal/kind"

// suiteKeys returns the top-level keys of a suite file, sorted.
func suiteKeys() []keyRow {
	return []keyRow{
		{Key: "$schema", Kind: kind.Text, Doc: "for editors; not read"},
		{Key: "assert", Support: wrong, Right: "defaultTest.assert", Doc: "assertions for every case belong under defaultTest"},
		{Key: "assertions", Kind: kind.Any, Own: true, Doc: "the assertion set: assertions for every case, with a score of their own"},
		{Key: "asserts", Support: wrong, Right: "defaultTest.assert", Doc: "assertions for every case belong under defaultTest"},
		{Key: "cache", Support: wrong, Right: "evaluateOptions.cache", Doc: "it belongs under evaluateOptions"},
		{Key: "cases", Support: wrong, Right: "tests", Doc: "the cases belong under tests"},
		{Key: "commandLineOptions", Kind: kind.Object, Doc: "defaults for flags, in camel case"},
		{Key: "concurrency", Support: wrong, Right: "evaluateOptions.maxConcurrency", Doc: "it belongs under evaluateOptions"},
		{Key: "config", Support: wrong, Doc: "the settings of a provider belong in its own entry"},
		{Key: "defaultTest", Kind: kind.Any, Doc: "merged into every case"},
		{Key: "delay", Support: wrong, Right: "evaluateOptions.delay", Doc: "it belongs under evaluateOptions"},
		{Key: "derivedMetrics", Kind: kind.List, Doc: "numbers computed from named scores"},
		{Key: "description", Kind: kind.Text, Doc: "the name of the suite in reports"},
		{Key: "env", Kind: kind.Object, Doc: "names added to the environment"},
		{Key: "envPath", Kind: kind.Text | kind.List, Doc: "files of environment names, as --env-file"},
		{Key: "evaluateOptions", Kind: kind.Object, Doc: "settings of a run"},
		{Key: "expected", Support: wrong, Right: "defaultTest.assert", Doc: "what is expected is written as assertions"},
		{Key: "extensions", Kind: kind.List, Doc: "hooks around a run and its rows: script files"},
		{Key: "gate", Kind: kind.Object, Own: true, Doc: "the rules of `proviso gate`, which decides whether a change may merge"},
		{Key: "id", Kind: kind.Text | kind.Number, Doc: "the agent's id"},
		{Key: "judge", Kind: kind.Text | kind.List | kind.Object, Own: true, Doc: "the provider that grades, or a panel of several"},
		{Key: "maxConcurrency", Support: wrong, Right: "evaluateOptions.maxConcurrency", Doc: "it belongs under evaluateOptions"},
		{Key: "metadata", Kind: kind.Object, Doc: "metadata of every case"},
		{Key: "model", Support: wrong, Right: "providers", Doc: "models are listed under providers"},
		{Key: "name", Support: wrong, Right: "description", Doc: "the name of a suite is its description"},
		{Key: "nunjucksFilters", Kind: kind.Object, Doc: "template filters: name and script"},
		{Key: "options", Support: wrong, Right: "defaultTest.options", Doc: "options for every case belong under defaultTest"},
		{Key: "output", Support: wrong, Right: "outputPath", Doc: "report files are named by outputPath"},
		{Key: "outputPath", Kind: kind.Text | kind.List, Doc: "report files"},
		{Key: "outputs", Support: wrong, Right: "outputPath", Doc: "report files are named by outputPath"},
		{Key: "passRateThreshold", Support: wrong, Right: "evaluateOptions.passRate", Doc: "use evaluateOptions.passRate for the share of rows that must pass, or threshold for the assertion set"},
		{Key: "plugins", Support: unsupported, Doc: "red teaming"},
		{Key: "prompt", Support: wrong, Right: "prompts", Doc: "prompts are a list"},
		{Key: "prompts", Kind: kind.Any, Doc: "the prompts"},
		{Key: "provider", Support: wrong, Right: "providers", Doc: "providers are a list"},
		{Key: "providers", Kind: kind.Any, Doc: "what answers the prompts"},
		{Key: "redteam", Support: unsupported, Beside: "tests", Doc: "red teaming"},
		{Key: "repeat", Support: wrong, Right: "evaluateOptions.repeat", Doc: "it belongs under evaluateOptions"},
		{Key: "sandbox", Kind: kind.Object, Own: true, Doc: "limits and permissions of the suite's code"},
		{Key: "scenarios", Kind: kind.Any, Doc: "products of data and cases"},
		{Key: "sharing", Kind: kind.Boolean | kind.Object, Support: ignored, Doc: "proviso uploads nothing"},
		{Key: "strategies", Support: unsupported, Doc: "red teaming"},
		{Key: "tags", Kind: kind.Object, Doc: "names and values stored with the run"},
		{Key: "target", Kind: kind.Any, Doc: "the one provider of an agent"},
		{Key: "targets", Kind: kind.Any, Doc: "another name for providers"},
		{Key: "test", Support: wrong, Right: "tests", Doc: "tests are a list"},
		{Key: "testCases", Support: wrong, Right: "tests", Doc: "the cases belong under tests"},
		{Key: "tests", Kind: kind.Any, Doc: "the cases, files with them, or dataset:NAME of a server"},
		{Key: "threshold", Kind: kind.Any, Doc: "the share of the assertion set that must pass, 1 by default"},
		{Key: "timeout", Support: wrong, Right: "evaluateOptions.timeoutMs", Doc: "it belongs under evaluateOptions"},
		{Key: "tracing", Kind: kind.Object, Doc: "spans of agents: received, recorded, sent on"},
		{Key: "vars", Support: wrong, Right: "defaultTest.vars", Doc: "variables for every case belong under defaultTest"},
		{Key: "version", Support: wrong, Doc: "a suite has no version"},
		{Key: "writeLatestResults", Kind: kind.Boolean, Support: ignored, Doc: "runs are kept by --run-dir"},
	}
}

// evaluateKeys are the keys of evaluateOptions, sorted.
func evaluateKeys() []keyRow {
	return []keyRow{
		{Key: "cache", Kind: kind.Boolean, Doc: "whether stored answers are used"},
		{Key: "concurrency", Support: wrong, Right: "maxConcurrency", Doc: "how many rows run at once"},
		{Key: "delay", Kind: kind.Number, Doc: "milliseconds between calls"},
		{Key: "eventSource", Support: ignored, Doc: "nothing is phoned home"},
		{Key: "filterRange", Kind: kind.Text, Doc: "cases a to b, such as 0:10"},
		{Key: "generateSuggestions", Kind: kind.Boolean, Support: unsupported, Doc: "variants of a prompt by a model"},
		{Key: "interactiveProviders", Kind: kind.Boolean, Support: ignored, Doc: "no provider asks on the terminal"},
		{Key: "maxConcurrency", Kind: kind.Number, Doc: "how many rows run at once"},
		{Key: "maxEvalTimeMs", Kind: kind.Number, Doc: "milliseconds for the whole run"},
		{Key: "passRate", Kind: kind.Number | kind.Text, Own: true, Doc: "the share of rows that must pass: 0 to 1, or N%; 1 by default"},
		{Key: "passRateThreshold", Support: wrong, Right: "passRate", Doc: "use passRate for the share of rows that must pass"},
		{Key: "repeat", Kind: kind.Number | kind.Object, Doc: "how often every case runs: n, or {n, pass}"},
		{Key: "runSerially", Support: wrong, Right: "maxConcurrency", Doc: "one row at a time is maxConcurrency: 1; one case apart from the others is its options.runSerially"},
		{Key: "showProgressBar", Kind: kind.Boolean, Doc: "whether progress is shown"},
		{Key: "silent", Kind: kind.Boolean, Support: ignored, Doc: "see --no-table and --no-progress-bar"},
		{Key: "suggestionsCount", Kind: kind.Number, Support: unsupported, Doc: "variants of a prompt by a model"},
		{Key: "timeout", Support: wrong, Right: "timeoutMs", Doc: "milliseconds for one row"},
		{Key: "timeoutMs", Kind: kind.Number, Doc: "milliseconds for one row"},
	}
}

// commandLineKeys are the keys of commandLineOptions, sorted.
func commandLineKeys() []keyRow {
	return []keyRow{
		{Key: "assertions", Kind: kind.Text, Doc: "as --assertions"},
		{Key: "cache", Kind: kind.Boolean, Doc: "as --no-cache when false"},
		{Key: "delay", Kind: kind.Number, Doc: "milliseconds between calls"},
		{Key: "description", Kind: kind.Text, Doc: "as --description"},
		{Key: "envFile", Kind: kind.Text | kind.List, Doc: "as --env-file"},
		{Key: "envPath", Kind: kind.Text | kind.List, Doc: "as --env-file, relative to the suite's folder"},
		{Key: "extension", Support: unsupported, Doc: "hooks around a run"},
		{Key: "filterErrorsOnly", Kind: kind.Text, Doc: "as --filter-errors-only"},
		{Key: "filterFailing", Kind: kind.Text, Doc: "as --filter-failing"},
		{Key: "filterFailingOnly", Kind: kind.Text, Doc: "as --filter-failing-only"},
		{Key: "filterFirstN", Kind: kind.Number | kind.Text, Doc: "as --filter-first-n"},
		{Key: "filterMetadata", Kind: kind.Text | kind.List, Doc: "as --filter-metadata"},
		{Key: "filterPattern", Kind: kind.Text, Doc: "as --filter-pattern"},
		{Key: "filterPrompts", Kind: kind.Text, Doc: "as --filter-prompts"},
		{Key: "filterProviders", Kind: kind.Text, Doc: "as --filter-providers"},
		{Key: "filterRange", Kind: kind.Text, Doc: "as --filter-range"},
		{Key: "filterSample", Kind: kind.Number | kind.Text, Doc: "as --filter-sample"},
		{Key: "filterSampleSeed", Kind: kind.Number | kind.Text, Doc: "as --filter-sample-seed"},
		{Key: "filterTargets", Kind: kind.Text, Doc: "as --filter-providers"},
		{Key: "generateSuggestions", Support: unsupported, Doc: "variants of a prompt by a model"},
		{Key: "grader", Kind: kind.Text, Doc: "as --grader"},
		{Key: "maxConcurrency", Kind: kind.Number, Doc: "as -j"},
		{Key: "modelOutputs", Kind: kind.Text, Doc: "as --model-outputs"},
		{Key: "noShare", Kind: kind.Boolean, Support: ignored, Doc: "proviso uploads nothing"},
		{Key: "output", Kind: kind.Text | kind.List, Doc: "as -o"},
		{Key: "progressBar", Kind: kind.Boolean, Doc: "as --no-progress-bar when false"},
		{Key: "promptPrefix", Kind: kind.Text, Doc: "as --prompt-prefix"},
		{Key: "promptSuffix", Kind: kind.Text, Doc: "as --prompt-suffix"},
		{Key: "prompts", Kind: kind.Text | kind.List, Doc: "prompts used if the suite has none"},
		{Key: "providers", Kind: kind.Text | kind.List, Doc: "providers used if the suite has none"},
		{Key: "repeat", Kind: kind.Number, Doc: "how often every case runs"},
		{Key: "retryErrors", Kind: kind.Boolean, Support: unsupported, Doc: "running rows with errors again; see --resume"},
		{Key: "share", Kind: kind.Boolean, Support: ignored, Doc: "proviso uploads nothing"},
		{Key: "suggestPrompts", Support: unsupported, Doc: "variants of a prompt by a model"},
		{Key: "table", Kind: kind.Boolean, Doc: "as --no-table when false"},
		{Key: "tableCellMaxLength", Kind: kind.Number, Support: ignored, Doc: "the terminal's width decides"},
		{Key: "tags", Kind: kind.Object, Doc: "names and values stored with the run"},
		{Key: "tests", Kind: kind.Text, Doc: "as -t"},
		{Key: "vars", Kind: kind.Text, Doc: "as -v"},
		{Key: "verbose", Kind: kind.Boolean, Doc: "as --verbose"},
		{Key: "watch", Kind: kind.Boolean, Doc: "as -w, where a person watches: on a terminal"},
		{Key: "write", Kind: kind.Boolean, Doc: "as --no-write when false"},
	}
}

// promptKeys are the keys of a prompt entry, sorted.
func promptKeys() []keyRow {
	return []keyRow{
		{Key: "assert", Kind: kind.List, Doc: "assertions on the answers to this prompt alone"},
		{Key: "config", Kind: kind.Object, Doc: "settings added to the provider's for this prompt"},
		{Key: "content", Support: wrong, Right: "raw", Doc: "the text of a prompt is raw"},
		{Key: "display", Kind: kind.Text, Doc: "older name of label"},
		{Key: "file", Support: wrong, Right: "raw", Doc: "a file is named by raw: file://…"},
		{Key: "function", Support: unsupported, Doc: "prompts that are functions of a library"},
		{Key: "id", Kind: kind.Text, Doc: "the prompt's id; the text or file too, if there is no raw"},
		{Key: "label", Kind: kind.Text, Doc: "the name of the column"},
		{Key: "name", Support: wrong, Right: "label", Doc: "the name of a prompt is its label"},
		{Key: "path", Support: wrong, Right: "raw", Doc: "a file is named by raw: file://…"},
		{Key: "prompt", Support: wrong, Right: "raw", Doc: "the text of a prompt is raw"},
		{Key: "provider", Support: wrong, Right: "providers[].prompts", Doc: "a provider lists the prompts it gets under its own prompts"},
		{Key: "raw", Kind: kind.Text | kind.List | kind.Object, Doc: "the text, a chat, or file://…"},
		{Key: "template", Support: wrong, Right: "raw", Doc: "the text of a prompt is raw"},
		{Key: "text", Support: wrong, Right: "raw", Doc: "the text of a prompt is raw"},
	}
}

// providerKeys are the keys of a provider entry, sorted.
func providerKeys() []keyRow {
	return []keyRow{
		{Key: "apiKey", Support: wrong, Right: "config.apiKey", Doc: "it belongs under config"},
		{Key: "config", Kind: kind.Object, Doc: "the provider's settings"},
		{Key: "configuration", Support: wrong, Right: "config", Doc: "the settings belong under config"},
		{Key: "delay", Kind: kind.Number, Doc: "milliseconds after each call that was not cached"},
		{Key: "env", Kind: kind.Object, Doc: "names added to the environment of this provider"},
		{Key: "id", Kind: kind.Text, Doc: "kind and model, such as openai:chat:gpt-5"},
		{Key: "inputs", Support: unsupported, Doc: "several inputs of one target, for red teaming"},
		{Key: "label", Kind: kind.Text, Doc: "the name in reports and filters"},
		{Key: "maxTokens", Support: wrong, Right: "config.max_tokens", Doc: "it belongs under config"},
		{Key: "max_tokens", Support: wrong, Right: "config.max_tokens", Doc: "it belongs under config"},
		{Key: "model", Support: wrong, Right: "id", Doc: "the model is part of the id, such as openai:chat:gpt-5"},
		{Key: "name", Support: wrong, Right: "label", Doc: "the name of a provider is its label"},
		{Key: "options", Support: wrong, Right: "config", Doc: "the settings belong under config"},
		{Key: "prompts", Kind: kind.Text | kind.List, Doc: "labels or ids of the only prompts it gets"},
		{Key: "temperature", Support: wrong, Right: "config.temperature", Doc: "it belongs under config"},
		{Key: "transform", Kind: kind.Text, Doc: "script applied to each output"},
		{Key: "type", Support: wrong, Right: "id", Doc: "the kind is the beginning of the id, such as openai:chat:gpt-5"},
	}
}

// derivedKeys are the keys of a derived metric, sorted.
func derivedKeys() []keyRow {
	return []keyRow{
		{Key: "expression", Support: wrong, Right: "value", Doc: "the expression is the value"},
		{Key: "formula", Support: wrong, Right: "value", Doc: "the expression is the value"},
		{Key: "metric", Support: wrong, Right: "name", Doc: "a derived metric has a name"},
		{Key: "name", Kind: kind.Text, Doc: "the name of the metric"},
		{Key: "value", Kind: kind.Text | kind.Number, Doc: "an expression over named scores"},
	}
}

// repeatKeys are the keys of repeat, sorted.
func repeatKeys() []keyRow {
	return []keyRow{
		{Key: "n", Kind: kind.Number, Doc: "how often every case runs"},
		{Key: "pass", Kind: kind.Number, Doc: "how many of them must pass"},
	}
}
