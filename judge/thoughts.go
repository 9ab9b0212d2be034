package judge

import "strings"

// thoughtMark is a pair of marks around the reasoning in a reply.
type thoughtMark struct{ open, close string }

// thoughtMarks are the marks of current models. Servers that know the model remove the
// reasoning; others leave it in the reply.
var thoughtMarks = [...]thoughtMark{
	{"<think>", "</think>"}, // DeepSeek R1, Qwen 3, QwQ, GLM, MiniMax, Nemotron
	{"<thinking>", "</thinking>"},
	{"<thought>", "</thought>"}, // Gemini behind OpenAI's API
	{"<thoughts>", "</thoughts>"},
	{"<reasoning>", "</reasoning>"},
	{"<reflection>", "</reflection>"},
	{"<scratchpad>", "</scratchpad>"},
	{"<seed:think>", "</seed:think>"},              // Seed-OSS
	{"[THINK]", "[/THINK]"},                        // Magistral
	{"◁think▷", "◁/think▷"},                        // Kimi
	{"<|channel|>analysis", "<|channel|>final"},    // gpt-oss (harmony)
	{"<|channel|>commentary", "<|channel|>final"},  // the same
	{"<|channel>thought", "<channel|>"},            // Gemma 4
	{"<|START_THINKING|>", "<|END_THINKING|>"},     // Command A
	{"<|begin_of_thought|>", "<|end_of_thought|>"}, // OpenThinker, Sky-T1
	{"<unused94>", "<unused95>"},                   // MedGemma
}

// ends are marks that some servers leave at the end of an answer.
var ends = [...]string{"<|return|>", "<|end|>", "<|im_end|>", "<|eot_id|>"}

// WithoutThoughts removes the reasoning that a model wrote into its reply between the
// marks of current models, such as <think>. closed is false if the reasoning does not
// end; the reply then has no answer, because a verdict within the reasoning is only a
// draft. A mark inside a JSON value, such as a quote, is part of that value. Some chat
// templates start the reasoning themselves, so that the reply has only the closing mark:
// everything before it is reasoning.
func WithoutThoughts(reply string) (answer string, closed bool) {
	whole := reply
	reply = plainChannels(strings.TrimSpace(reply))
	if !holdsThoughts(reply) {
		return whole, true
	}
	for _, end := range ends {
		reply = strings.TrimSpace(strings.TrimSuffix(reply, end))
	}
	var parts []string
	keep := func(part string) {
		if strings.TrimSpace(part) != "" {
			parts = append(parts, part)
		}
	}
	from, work := 0, 0
	for i := 0; i < len(reply); {
		rest := reply[i:]
		if m := markAt(rest, thoughtMark.begin); m != nil {
			end := foldIndex(rest, m.close)
			if end < 0 {
				return "", false
			}
			keep(reply[from:i])
			i += end + len(m.close)
			from = i
			continue
		}
		if m := markAt(rest, thoughtMark.end); m != nil {
			parts = parts[:0]
			i += len(m.close)
			from = i
			continue
		}
		i += max(1, valueLength(rest, &work))
	}
	keep(reply[from:])
	// The control character keeps two parts from joining into one JSON value.
	return strings.TrimSpace(strings.Join(parts, "\x00")), true
}

func (m thoughtMark) begin() string { return m.open }
func (m thoughtMark) end() string   { return m.close }

// markAt returns the pair of marks if text begins with the given side of the pair.
func markAt(text string, side func(thoughtMark) string) *thoughtMark {
	if !strings.ContainsRune("<[◁", firstRune(text)) {
		return nil
	}
	for i := range thoughtMarks {
		m := side(thoughtMarks[i])
		if len(text) >= len(m) && strings.EqualFold(text[:len(m)], m) {
			return &thoughtMarks[i]
		}
	}
	if m, closes := tagAt(text); m != nil && (side(*m) == m.close) == closes {
		return m
	}
	return nil
}

// maxTag bounds the length of a tag, in bytes.
const maxTag = 80

// thoughtNames are parts of the names of reasoning tags. New models invent new names,
// such as longcat_think, antThinking or thought_process.
var thoughtNames = [...]string{"think", "thought", "reason", "reflect", "scratchpad", "analysis", "monologue", "deliberat", "inner_voice", "chain_of", "draft"}

// tagAt returns the pair of marks for the tag at the beginning of text if its name marks
// reasoning. closes reports whether it is the closing tag.
func tagAt(text string) (m *thoughtMark, closes bool) {
	if text == "" || text[0] != '<' {
		return nil, false
	}
	end := strings.IndexByte(text[:min(len(text), maxTag)], '>')
	if end < 0 {
		return nil, false
	}
	inside := strings.ToLower(strings.TrimSpace(text[1:end]))
	inside, closes = strings.CutPrefix(inside, "/")
	name, _, _ := strings.Cut(strings.TrimSpace(inside), " ")
	of := name
	if name == "details" { // Open WebUI: <details type="reasoning">
		of = inside
	}
	for _, part := range thoughtNames {
		if !strings.Contains(of, part) && name != "cot" || strings.ContainsAny(name, "<\"'{}()[],;") {
			continue
		}
		if closes {
			return &thoughtMark{close: text[:end+1]}, true
		}
		return &thoughtMark{text[:end+1], "</" + name + ">"}, false
	}
	return nil, false
}

func firstRune(text string) rune {
	for _, r := range text {
		return r
	}
	return 0
}

// foldIndex is strings.Index ignoring case, for marks, whose letters are ASCII.
func foldIndex(text, mark string) int {
	for at := 0; ; at++ {
		next := strings.IndexByte(text[at:], mark[0])
		if next < 0 || at+next+len(mark) > len(text) {
			return -1
		}
		if at += next; strings.EqualFold(text[at:at+len(mark)], mark) {
			return at
		}
	}
}

// holdsThoughts reports whether one of texts contains a reasoning mark.
func holdsThoughts(texts ...string) bool {
	for _, text := range texts {
		for _, m := range thoughtMarks {
			if foldIndex(text, m.open) >= 0 || foldIndex(text, m.close) >= 0 {
				return true
			}
		}
		if holdsTag(text) {
			return true
		}
	}
	return false
}

// holdsTag reports whether a text contains a reasoning tag.
func holdsTag(text string) bool {
	for {
		at := strings.IndexByte(text, '<')
		if at < 0 {
			return false
		}
		text = text[at:]
		if m, _ := tagAt(text); m != nil {
			return true
		}
		text = text[1:]
	}
}

// valueLength returns the length of the JSON value at the beginning of text; 0 if there
// is none.
func valueLength(text string, work *int) int {
	if *work > maxScan || text[0] != '{' && text[0] != '[' {
		return 0
	}
	v, n := valueAt(text)
	*work += n + 1
	if v == nil {
		return 0
	}
	return n
}

// plainChannels adds marks to a reply in channels (gpt-oss) whose special tokens the
// server has removed: "analysisThe user asks…assistantfinal{…}".
func plainChannels(reply string) string {
	const analysis, final = "analysis", "assistantfinal"
	after, ok := strings.CutPrefix(reply, analysis)
	if !ok || after == "" || after[0] < 'A' || after[0] > 'Z' {
		return reply
	}
	thoughts, answer, ended := strings.Cut(after, final)
	if !ended {
		return thoughtMarks[0].open + after
	}
	return thoughtMarks[0].open + thoughts + thoughtMarks[0].close + answer
}
