package suite

// suiteKeys returns the top-level keys of a suite file, sorted.
func suiteKeys() []keyRow {
	return []keyRow{
		{Key: "$schema", Kind: text, Doc: "for editors; not read"},
		{Key: "assert", Support: wrong, Right: "defaultTest.assert", Doc: "assertions for every case stand under defaultTest"},
		{Key: "assertions", Kind: anything, Own: true, Doc: "the assertion set: assertions for every case, with a score of their own"},
		{Key: "asserts", Support: wrong, Right: "defaultTest.assert", Doc: "assertions for every case stand under defaultTest"},
		{Key: "cache", Support: wrong, Right: "evaluateOptions.cache", Doc: "it belongs under evaluateOptions"},
		{Key: "cases", Support: wrong, Right: "tests", Doc: "the cases stand under tests"},
		{Key: "commandLineOptions", Kind: object, Doc: "defaults for flags, in camel case"},
		{Key: "concurrency", Support: wrong, Right: "evaluateOptions.maxConcurrency", Doc: "it belongs under evaluateOptions"},
		{Key: "config", Support: wrong, Doc: "the settings of a provider stand in its own entry"},
		{Key: "defaultTest", Kind: anything, Doc: "merged into every case"},
		{Key: "delay", Support: wrong, Right: "evaluateOptions.delay", Doc: "it belongs under evaluateOptions"},
		{Key: "derivedMetrics", Kind: list, Doc: "numbers computed from named scores"},
		{Key: "description", Kind: text, Doc: "the name of the suite in reports"},
		{Key: "env", Kind: object, Doc: "names added to the environment"},
		{Key: "envPath", Kind: text | list, Doc: "files of environment names, as --env-file"},
		{Key: "evaluateOptions", Kind: object, Doc: "settings of a run"},
		{Key: "expected", Support: wrong, Right: "defaultTest.assert", Doc: "what is expected is written as assertions"},
		{Key: "extensions", Kind: list, Doc: "hooks around a run and its rows: script files"},
		{Key: "id", Kind: text | number, Doc: "the agent's id"},
		{Key: "judge", Kind: text | list | object, Own: true, Doc: "the provider that grades, or a panel of several"},
		{Key: "maxConcurrency", Support: wrong, Right: "evaluateOptions.maxConcurrency", Doc: "it belongs under evaluateOptions"},
		{Key: "metadata", Kind: object, Doc: "metadata of every case"},
		{Key: "model", Support: wrong, Right: "providers", Doc: "models are listed under providers"},
		{Key: "name", Support: wrong, Right: "description", Doc: "the name of a suite is its description"},
		{Key: "nunjucksFilters", Kind: object, Doc: "template filters: name and script"},
		{Key: "options", Support: wrong, Right: "defaultTest.options", Doc: "options for every case stand under defaultTest"},
		{Key: "output", Support: wrong, Right: "outputPath", Doc: "report files are named by outputPath"},
		{Key: "outputPath", Kind: text | list, Doc: "report files"},
		{Key: "outputs", Support: wrong, Right: "outputPath", Doc: "report files are named by outputPath"},
		{Key: "passRateThreshold", Support: wrong, Right: "evaluateOptions.passRate", Doc: "use evaluateOptions.passRate for the share of rows that must pass, or threshold for the assertion set"},
		{Key: "plugins", Support: unsupported, Doc: "red teaming"},
		{Key: "prompt", Support: wrong, Right: "prompts", Doc: "prompts are a list"},
		{Key: "prompts", Kind: anything, Doc: "the prompts"},
		{Key: "provider", Support: wrong, Right: "providers", Doc: "providers are a list"},
		{Key: "providers", Kind: anything, Doc: "what answers the prompts"},
		{Key: "redteam", Support: unsupported, Beside: "tests", Doc: "red teaming"},
		{Key: "repeat", Support: wrong, Right: "evaluateOptions.repeat", Doc: "it belongs under evaluateOptions"},
		{Key: "sandbox", Kind: object, Own: true, Doc: "limits and permissions of the suite's code"},
		{Key: "scenarios", Kind: anything, Doc: "products of data and cases"},
		{Key: "sharing", Kind: boolean | object, Support: ignored, Doc: "proviso uploads nothing"},
		{Key: "strategies", Support: unsupported, Doc: "red teaming"},
		{Key: "tags", Kind: object, Doc: "names and values stored with the run"},
		{Key: "target", Kind: anything, Doc: "the one provider of an agent"},
		{Key: "targets", Kind: anything, Doc: "another name for providers"},
		{Key: "test", Support: wrong, Right: "tests", Doc: "tests are a list"},
		{Key: "testCases", Support: wrong, Right: "tests", Doc: "the cases stand under tests"},
		{Key: "tests", Kind: anything, Doc: "the cases"},
		{Key: "threshold", Kind: anything, Doc: "the share of the assertion set that must pass, 1 by default"},
		{Key: "timeout", Support: wrong, Right: "evaluateOptions.timeoutMs", Doc: "it belongs under evaluateOptions"},
		{Key: "tracing", Kind: object, Doc: "spans of agents: received, recorded, sent on"},
		{Key: "vars", Support: wrong, Right: "defaultTest.vars", Doc: "variables for every case stand under defaultTest"},
		{Key: "version", Support: wrong, Doc: "a suite has no version"},
		{Key: "writeLatestResults", Kind: boolean, Support: ignored, Doc: "runs are kept by --run-dir"},
	}
}

// evaluateKeys are the keys of evaluateOptions, sorted.
func evaluateKeys() []keyRow {
	return []keyRow{
		{Key: "cache", Kind: boolean, Doc: "whether stored answers are used"},
		{Key: "concurrency", Support: wrong, Right: "maxConcurrency", Doc: "how many rows run at once"},
		{Key: "delay", Kind: number, Doc: "milliseconds between calls"},
		{Key: "eventSource", Support: ignored, Doc: "nothing is phoned home"},
		{Key: "filterRange", Kind: text, Doc: "cases a to b, such as 0:10"},
		{Key: "generateSuggestions", Kind: boolean, Support: unsupported, Doc: "variants of a prompt by a model"},
		{Key: "interactiveProviders", Kind: boolean, Support: ignored, Doc: "no provider asks on the terminal"},
		{Key: "maxConcurrency", Kind: number, Doc: "how many rows run at once"},
		{Key: "maxEvalTimeMs", Kind: number, Doc: "milliseconds for the whole run"},
		{Key: "passRate", Kind: number | text, Doc: "the share of rows that must pass: 0 to 1, or N%; 1 by default"},
		{Key: "passRateThreshold", Support: wrong, Right: "passRate", Doc: "use passRate for the share of rows that must pass"},
		{Key: "repeat", Kind: number | object, Doc: "how often every case runs: n, or {n, pass}"},
		{Key: "runSerially", Support: wrong, Right: "maxConcurrency", Doc: "one row at a time is maxConcurrency: 1; one case apart from the others is its options.runSerially"},
		{Key: "showProgressBar", Kind: boolean, Doc: "whether progress is shown"},
		{Key: "silent", Kind: boolean, Support: ignored, Doc: "see --no-table and --no-progress-bar"},
		{Key: "suggestionsCount", Kind: number, Support: unsupported, Doc: "variants of a prompt by a model"},
		{Key: "timeout", Support: wrong, Right: "timeoutMs", Doc: "milliseconds for one row"},
		{Key: "timeoutMs", Kind: number, Doc: "milliseconds for one row"},
	}
}

// commandLineKeys are the keys of commandLineOptions, sorted.
func commandLineKeys() []keyRow {
	return []keyRow{
		{Key: "assertions", Kind: text, Doc: "as --assertions"},
		{Key: "cache", Kind: boolean, Doc: "as --no-cache when false"},
		{Key: "delay", Kind: number, Doc: "milliseconds between calls"},
		{Key: "description", Kind: text, Doc: "as --description"},
		{Key: "envFile", Kind: text | list, Doc: "as --env-file"},
		{Key: "envPath", Kind: text | list, Doc: "as --env-file, relative to the suite's folder"},
		{Key: "extension", Support: unsupported, Doc: "hooks around a run"},
		{Key: "filterErrorsOnly", Kind: text, Doc: "as --filter-errors-only"},
		{Key: "filterFailing", Kind: text, Doc: "as --filter-failing"},
		{Key: "filterFailingOnly", Kind: text, Doc: "as --filter-failing-only"},
		{Key: "filterFirstN", Kind: number | text, Doc: "as --filter-first-n"},
		{Key: "filterMetadata", Kind: text | list, Doc: "as --filter-metadata"},
		{Key: "filterPattern", Kind: text, Doc: "as --filter-pattern"},
		{Key: "filterPrompts", Kind: text, Doc: "as --filter-prompts"},
		{Key: "filterProviders", Kind: text, Doc: "as --filter-providers"},
		{Key: "filterRange", Kind: text, Doc: "as --filter-range"},
		{Key: "filterSample", Kind: number | text, Doc: "as --filter-sample"},
		{Key: "filterSampleSeed", Kind: number | text, Doc: "as --filter-sample-seed"},
		{Key: "filterTargets", Kind: text, Doc: "as --filter-providers"},
		{Key: "generateSuggestions", Support: unsupported, Doc: "variants of a prompt by a model"},
		{Key: "grader", Kind: text, Doc: "as --grader"},
		{Key: "maxConcurrency", Kind: number, Doc: "as -j"},
		{Key: "modelOutputs", Kind: text, Doc: "as --model-outputs"},
		{Key: "noShare", Kind: boolean, Support: ignored, Doc: "proviso uploads nothing"},
		{Key: "output", Kind: text | list, Doc: "as -o"},
		{Key: "progressBar", Kind: boolean, Doc: "as --no-progress-bar when false"},
		{Key: "promptPrefix", Kind: text, Doc: "as --prompt-prefix"},
		{Key: "promptSuffix", Kind: text, Doc: "as --prompt-suffix"},
		{Key: "prompts", Kind: text | list, Doc: "prompts used if the suite has none"},
		{Key: "providers", Kind: text | list, Doc: "providers used if the suite has none"},
		{Key: "repeat", Kind: number, Doc: "how often every case runs"},
		{Key: "retryErrors", Kind: boolean, Support: unsupported, Doc: "running rows with errors again; see --resume"},
		{Key: "share", Kind: boolean, Support: ignored, Doc: "proviso uploads nothing"},
		{Key: "suggestPrompts", Support: unsupported, Doc: "variants of a prompt by a model"},
		{Key: "table", Kind: boolean, Doc: "as --no-table when false"},
		{Key: "tableCellMaxLength", Kind: number, Support: ignored, Doc: "the terminal's width decides"},
		{Key: "tags", Kind: object, Doc: "names and values stored with the run"},
		{Key: "tests", Kind: text, Doc: "as -t"},
		{Key: "vars", Kind: text, Doc: "as -v"},
		{Key: "verbose", Kind: boolean, Doc: "as --verbose"},
		{Key: "watch", Kind: boolean, Doc: "as -w, where a person watches: on a terminal"},
		{Key: "write", Kind: boolean, Doc: "as --no-write when false"},
	}
}

// promptKeys are the keys of a prompt entry, sorted.
func promptKeys() []keyRow {
	return []keyRow{
		{Key: "assert", Kind: list, Doc: "assertions on the answers to this prompt alone"},
		{Key: "config", Kind: object, Doc: "settings added to the provider's for this prompt"},
		{Key: "content", Support: wrong, Right: "raw", Doc: "the text of a prompt is raw"},
		{Key: "display", Kind: text, Doc: "older name of label"},
		{Key: "file", Support: wrong, Right: "raw", Doc: "a file is named by raw: file://…"},
		{Key: "function", Support: unsupported, Doc: "prompts that are functions of a library"},
		{Key: "id", Kind: text, Doc: "the prompt's id; the text or file too, if there is no raw"},
		{Key: "label", Kind: text, Doc: "the name of the column"},
		{Key: "name", Support: wrong, Right: "label", Doc: "the name of a prompt is its label"},
		{Key: "path", Support: wrong, Right: "raw", Doc: "a file is named by raw: file://…"},
		{Key: "prompt", Support: wrong, Right: "raw", Doc: "the text of a prompt is raw"},
		{Key: "provider", Support: wrong, Right: "providers[].prompts", Doc: "a provider lists the prompts it gets under its own prompts"},
		{Key: "raw", Kind: text | list | object, Doc: "the text, a chat, or file://…"},
		{Key: "template", Support: wrong, Right: "raw", Doc: "the text of a prompt is raw"},
		{Key: "text", Support: wrong, Right: "raw", Doc: "the text of a prompt is raw"},
	}
}

// providerKeys are the keys of a provider entry, sorted.
func providerKeys() []keyRow {
	return []keyRow{
		{Key: "apiKey", Support: wrong, Right: "config.apiKey", Doc: "it belongs under config"},
		{Key: "config", Kind: object, Doc: "the provider's settings"},
		{Key: "configuration", Support: wrong, Right: "config", Doc: "the settings stand under config"},
		{Key: "delay", Kind: number, Doc: "milliseconds after each call that was not cached"},
		{Key: "env", Kind: object, Doc: "names added to the environment of this provider"},
		{Key: "id", Kind: text, Doc: "kind and model, such as openai:chat:gpt-5"},
		{Key: "inputs", Support: unsupported, Doc: "several inputs of one target, for red teaming"},
		{Key: "label", Kind: text, Doc: "the name in reports and filters"},
		{Key: "maxTokens", Support: wrong, Right: "config.max_tokens", Doc: "it belongs under config"},
		{Key: "max_tokens", Support: wrong, Right: "config.max_tokens", Doc: "it belongs under config"},
		{Key: "model", Support: wrong, Right: "id", Doc: "the model is part of the id, such as openai:chat:gpt-5"},
		{Key: "name", Support: wrong, Right: "label", Doc: "the name of a provider is its label"},
		{Key: "options", Support: wrong, Right: "config", Doc: "the settings stand under config"},
		{Key: "prompts", Kind: text | list, Doc: "labels or ids of the only prompts it gets"},
		{Key: "temperature", Support: wrong, Right: "config.temperature", Doc: "it belongs under config"},
		{Key: "transform", Kind: text, Doc: "script applied to each output"},
		{Key: "type", Support: wrong, Right: "id", Doc: "the kind is the beginning of the id, such as openai:chat:gpt-5"},
	}
}

// derivedKeys are the keys of a derived metric, sorted.
func derivedKeys() []keyRow {
	return []keyRow{
		{Key: "expression", Support: wrong, Right: "value", Doc: "the expression is the value"},
		{Key: "formula", Support: wrong, Right: "value", Doc: "the expression is the value"},
		{Key: "metric", Support: wrong, Right: "name", Doc: "a derived metric has a name"},
		{Key: "name", Kind: text, Doc: "the name of the metric"},
		{Key: "value", Kind: text | number, Doc: "an expression over named scores"},
	}
}

// repeatKeys are the keys of repeat, sorted.
func repeatKeys() []keyRow {
	return []keyRow{
		{Key: "n", Kind: number, Doc: "how often every case runs"},
		{Key: "pass", Kind: number, Doc: "how many of them must pass"},
	}
}
