package judge

// ReadReply reads a reply and returns its number of results.
func ReadReply(reply string) (int, error) {
	list, err := readReply(reply)
	return len(list), err
}

// Sentence is sentence.
func Sentence(reason string) string { return sentence(reason) }

// Quotes verifies quotes from an output.
func Quotes(output string, quotes ...string) (kept []string, note string) {
	w := quoteChecker{output: output}
	list, missing := w.verify(quotes)
	for _, e := range list {
		if output[e.Start:e.Start+len(e.Quote)] != e.Quote {
			panic("a quote does not stand where it is said to")
		}
		kept = append(kept, e.Quote)
	}
	return kept, dropped(missing)
}

// Cosine is cosine.
func Cosine(a, b []float64) (float64, error) { return cosine(a, b) }

// ReadYesOrNo reads a reply to a prompt of the suite.
func ReadYesOrNo(reply string) (pass bool, err error) {
	v, err := readYesOrNo(reply, true)
	return v.pass, err
}

// OnScale returns one of proviso's own prompts, and the same for a rubric with a scale.
func OnScale(name string) (own, text string) { return ownPrompt(name), onScale(ownPrompt(name)) }
