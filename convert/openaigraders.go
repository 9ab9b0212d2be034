package convert

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// graders are the types of graders, sorted, each with the function that converts it
// to an assertion. The function returns nil, and adds a note, if the grader cannot
// be converted. See https://platform.openai.com/docs/api-reference/graders.
func graders() map[string]func(*openAISuite, found) *value.Object {
	return map[string]func(*openAISuite, found) *value.Object{
		"label_model":     (*openAISuite).labelModel,
		"multi":           (*openAISuite).multi,
		"python":          (*openAISuite).python,
		"score_model":     (*openAISuite).scoreModel,
		"string_check":    (*openAISuite).stringCheck,
		"text_similarity": (*openAISuite).textSimilarity,
	}
}

// grader converts a grader to an assertion.
func (c *openAISuite) grader(g found) *value.Object {
	convert, ok := graders()[g.Text("type")]
	if !ok {
		c.note(g.place("/type"), what(g), "this version does not support graders of the type "+named(g, "type"), "")
		return nil
	}
	a := convert(c, g)
	if a == nil {
		return nil
	}
	out := value.ObjectOf("type", a.At("type"))
	if name := oneLine(g.Text("name")); name != "" {
		out.Set("metric", name)
	}
	for key, v := range a.All() {
		out.Set(key, v)
	}
	return out
}

// what names a grader in a note.
func what(g found) string {
	if name := oneLine(g.Text("name")); name != "" {
		return fmt.Sprintf("the grader %q", name)
	}
	return "the grader"
}

// named returns the name under a grader's key, for a note.
func named(g found, key string) string {
	if s := oneLine(g.Text(key)); s != "" {
		return s
	}
	return kind.Shown(g.At(key))
}

// texts returns the input and the reference of a grader; ok is false if they cannot
// be converted.
func (c *openAISuite) texts(g found) (input, reference template, ok bool) {
	for _, f := range []struct {
		key string
		to  *template
	}{{"input", &input}, {"reference", &reference}} {
		s, isText := g.At(f.key).(string)
		if !isText {
			c.note(g.place("/"+f.key), what(g), f.key+" is a text, not "+kind.Shown(g.At(f.key)), "")
			return nil, nil, false
		}
		*f.to = parseTemplate(s)
		if name := f.to.unknown(); name != "" {
			c.note(g.place("/"+f.key), what(g), fmt.Sprintf("it uses %s, which a suite does not have", oneLine(name)), "write a python assertion over context")
			return nil, nil, false
		}
	}
	return input, reference, true
}

// compare returns an assertion that compares the input with the reference. ok is
// false if a script must compute the reference, because the reference contains the
// output, or because a suite would read it as something other than a text.
func (c *openAISuite) compare(name string, input, reference template) (a *value.Object, ok bool) {
	text := reference.nunjucks(c.structured)
	if reference.uses("sample") || text == "" && !strings.HasSuffix(name, "equals") || strings.HasPrefix(text, "file://") || strings.HasPrefix(text, "package:") {
		return nil, false
	}
	a = value.ObjectOf("type", name, "value", text)
	if !input.isOutput() {
		a.Set("transform", input.script())
	}
	return a, true
}

// stringCheck compares texts: eq and ne as a whole, like and ilike whether the input
// contains the reference.
func (c *openAISuite) stringCheck(g found) *value.Object {
	input, reference, ok := c.texts(g)
	if !ok {
		return nil
	}
	forms := map[string]struct{ kind, script string }{
		"eq": {"equals", "(%s) === (%s)"}, "ne": {"not-equals", "(%s) !== (%s)"},
		"like": {"contains", "(%s).includes(%s)"}, "ilike": {"icontains", "(%s).toLowerCase().includes((%s).toLowerCase())"},
	}
	form, ok := forms[g.Text("operation")]
	if !ok {
		c.note(g.place("/operation"), what(g), "operation is eq, ne, like or ilike, not "+named(g, "operation"), "")
		return nil
	}
	if a, ok := c.compare(form.kind, input, reference); ok {
		return a
	}
	return value.ObjectOf("type", "javascript", "value", fmt.Sprintf(form.script, input.script(), reference.script()))
}

// similarities are the metrics of text_similarity that a type measures.
var similarities = map[string]string{
	"bleu": "bleu", "cosine": "similar", "gleu": "gleu", "meteor": "meteor", "rouge_1": "rouge-n", "rouge_l": "rouge-l",
}

// fuzzy measures the similarity of two texts as RapidFuzz's ratio does: twice the
// length of their longest common subsequence, divided by the sum of their lengths.
const fuzzy = `const a = [...(%s)], b = [...(%s)];
let row = new Array(b.length + 1).fill(0);
for (const x of a) {
  const next = [0];
  b.forEach((y, j) => next.push(x === y ? row[j] + 1 : Math.max(row[j + 1], next[j])));
  row = next;
}
return a.length + b.length === 0 ? 1 : 2 * row[b.length] / (a.length + b.length);
`

// textSimilarity measures how similar the input is to the reference.
func (c *openAISuite) textSimilarity(g found) *value.Object {
	input, reference, ok := c.texts(g)
	if !ok {
		return nil
	}
	metric := g.Text("evaluation_metric")
	limit := c.limit(g, 0, 1)
	if metric == "fuzzy_match" {
		return value.ObjectOf("type", "javascript", "value", fmt.Sprintf(fuzzy, input.script(), reference.script()), "threshold", limit)
	}
	name, known := similarities[metric]
	if !known {
		c.note(g.place("/evaluation_metric"), what(g), "proviso has no metric "+named(g, "evaluation_metric"), "the nearest are rouge-n (ROUGE-1) and rouge-l; or write a python assertion")
		return nil
	}
	a, ok := c.compare(name, input, reference)
	if !ok {
		c.note(g.place("/reference"), what(g), "its reference is empty, contains the output, or begins with file:// or package:", "write a python assertion")
		return nil
	}
	a.Set("threshold", limit)
	return a
}

// limit returns pass_threshold, or the middle of the range if there is none.
func (c *openAISuite) limit(g found, low, high float64) float64 {
	if f, ok := g.At("pass_threshold").(float64); ok {
		return f
	}
	middle := (low + high) / 2
	if c.scored {
		return middle
	}
	c.note(g.place(""), what(g), "it has no pass_threshold; the threshold is the middle of its range, "+value.FormatNumber(middle), "set the threshold that you want")
	return middle
}

// judged returns an assertion that a model decides. Its question is the grader's
// messages, followed by how to answer.
func (c *openAISuite) judged(g found, answer string) *value.Object {
	list, ok := g.At("input").([]any)
	if !ok {
		c.note(g.place("/input"), what(g), "input is a list of messages, not "+kind.Shown(g.At("input")), "")
		return nil
	}
	chat := c.messages(what(g), g, "input", list)
	chat = append(chat, value.ObjectOf("role", "system", "content", escapeTemplate(answer)))
	a := value.ObjectOf("type", "llm-rubric", "rubricPrompt", chat)
	if model := oneLine(g.Text("model")); model != "" {
		provider := value.ObjectOf("id", "openai:chat:"+model)
		if config := samplingOf(g.Object.Object("sampling_params")); config.Len() > 0 {
			provider.Set("config", config)
		}
		a.Set("provider", provider)
	}
	return a
}

// labelModel lets a model choose a label; some of them pass.
func (c *openAISuite) labelModel(g found) *value.Object {
	labels, ok1 := names(g.At("labels"))
	passing, ok2 := names(g.At("passing_labels"))
	if !ok1 || !ok2 || len(labels) == 0 {
		c.note(g.place("/labels"), what(g), "labels and passing_labels are lists of texts", "")
		return nil
	}
	for _, name := range passing {
		if !slices.Contains(labels, name) {
			c.note(g.place("/passing_labels"), what(g), fmt.Sprintf("the passing label %q is not among its labels", oneLine(name)), "")
		}
	}
	return c.judged(g, "Choose exactly one of these labels: "+value.Stringify(g.At("labels"))+
		`. Answer with one JSON object and nothing else: {"reason": "the label, and why", "score": 1 or 0, "pass": true or false}. `+
		"score is 1 and pass is true if the label is one of "+value.Stringify(g.At("passing_labels"))+"; else score is 0 and pass is false.")
}

// names returns a list of texts.
func names(v any) (list []string, ok bool) {
	all, ok := v.([]any)
	for _, e := range all {
		s, isText := e.(string)
		if !isText {
			return nil, false
		}
		list = append(list, s)
	}
	return list, ok
}

// scoreModel lets a model give a score within a range.
func (c *openAISuite) scoreModel(g found) *value.Object {
	low, high := 0.0, 1.0
	if bounds, ok := g.At("range").([]any); ok && len(bounds) == 2 {
		a, ok1 := bounds[0].(float64)
		b, ok2 := bounds[1].(float64)
		if ok1 && ok2 && a < b {
			low, high = a, b
		}
	}
	a := c.judged(g, fmt.Sprintf(`Answer with one JSON object and nothing else: {"reason": "why", "score": a number from %s to %s}.`, value.FormatNumber(low), value.FormatNumber(high)))
	if a != nil {
		a.Set("threshold", c.limit(g, low, high))
	}
	return a
}

// adapter calls the function of a grader as an assertion.
const adapter = `

def get_assert(output, context):
    import json
    text = output if isinstance(output, str) else json.dumps(output)
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    calls = data if isinstance(data, list) else []
    sample = {"output_text": text, "output_json": data, "output_tools": calls, "choices": [{"message": {"role": "assistant", "content": text}}]}
    return float(grade(sample, context["vars"].get("item", {})))
`

var (
	// definition matches the function that a grader defines.
	definition = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^(?:async\s+)?def\s+grade\s*\(`)
	})
	// packaged matches imports of packages that the platform installs
	// (https://platform.openai.com/docs/guides/graders, Python graders).
	packaged = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\s*(?:import|from)\s+(numpy|scipy|sympy|pandas|rapidfuzz|sklearn|rouge_score|deepdiff|jsonschema|pydantic|yaml|nltk|sqlparse|rdkit|skbio|ast_grep_py)\b`)
	})
	// unnamed matches the characters of a grader's name that are not kept in a file
	// name.
	unnamed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-z0-9]+`) })
)

// python writes the source of a grader to a file, which runs in the sandbox.
func (c *openAISuite) python(g found) *value.Object {
	source, ok := g.At("source").(string)
	if !ok || !definition().MatchString(source) {
		c.note(g.place("/source"), what(g), "its source defines no function grade(sample, item)", "")
		return nil
	}
	if m := packaged().FindStringSubmatch(source); m != nil {
		c.note(g.place("/source"), what(g), "it imports "+m[1], "install it for your Python, and set sandbox: {packages: true}")
	}
	slug := strings.Trim(unnamed().ReplaceAllString(strings.ToLower(g.Text("name")), "-"), "-")
	if len(slug) > 60 {
		slug = slug[:60]
	}
	if slug == "" {
		slug = "grader"
	}
	plain := slug
	for n := 2; c.slugs[slug]; n++ { // a name may end with such a number itself
		slug = fmt.Sprintf("%s-%d", plain, n)
	}
	c.slugs[slug] = true
	name := "graders/" + slug + ".py"
	c.scripts = append(c.scripts, File{name, []byte(strings.TrimRight(source, "\n") + "\n" + adapter)})
	a := value.ObjectOf("type", "python", "value", "file://"+name)
	if f, ok := g.At("pass_threshold").(float64); ok {
		a.Set("threshold", f)
	} else if !c.scored {
		c.note(g.place(""), what(g), "it has no pass_threshold; it passes with a score above 0", "set the threshold that you want")
	}
	return a
}

// member returns a grader of a multi grader.
func member(g found, key string) found {
	inner := g.Object.Object("graders").Object(key).Clone()
	if inner.Text("name") == "" {
		inner.Set("name", key)
	}
	at := document.Join("/graders", key)
	return found{inner, below(g, at)}
}
