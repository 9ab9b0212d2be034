package convert

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// openAISuite builds a suite of one eval.
type openAISuite struct {
	*export
	eval    found
	run     found // the run that provides prompt and outputs; without an object if there is none
	result  Result
	scripts []File
	slugs   map[string]bool // file names in use
	shapes  map[string]bool // paths of items that hold a list or an object
	scored  bool            // the grader is a member of a formula, which uses only its score
}

// note records a part that is not converted exactly.
func (c *openAISuite) note(at proviso.Place, what, why, do string) {
	c.result.Notes = append(c.result.Notes, Note{at, what, why, do})
}

// convert writes the suite, its cases, the outputs of its run and the scripts of its
// graders.
func (c *openAISuite) convert() (*Result, error) {
	c.chooseRun()
	cases, outputs := c.cases()
	suite := value.NewObject(8)
	name := oneLine(c.eval.Text("name"))
	if name == "" {
		name = oneLine(c.eval.Text("id"))
	}
	suite.Set("description", name)
	if tags := c.tags(); tags.Len() > 0 {
		suite.Set("tags", tags)
	}
	suite.Set("prompts", []any{c.prompt()})
	providers, comment := c.providers(len(outputs) > 0)
	suite.Set("providers", providers)
	var asserts []any
	list, _ := c.eval.At("testing_criteria").([]any)
	for i, v := range list {
		at := document.Join("/testing_criteria", i)
		g, ok := v.(*value.Object)
		if !ok {
			c.note(c.eval.place(at), "the grader", "a grader is an object, not "+kind.Shown(v), "")
			continue
		}
		if a := c.grader(found{g, func(p string) proviso.Place { return c.eval.place(at + p) }}); a != nil {
			asserts = append(asserts, a)
			c.result.Assertions++
		}
	}
	if asksModel(asserts) || len(outputs) == 0 && asksModel(providers) {
		c.result.Keys = []string{"OPENAI_API_KEY"}
	}
	if len(asserts) > 0 {
		suite.Set("defaultTest", value.ObjectOf("assert", asserts))
	}
	if c.result.Cases > 0 {
		suite.Set("tests", "file://cases.jsonl")
	} else {
		c.note(c.eval.place(""), "the items", "the files hold none, so the suite has no cases", "add the JSON Lines file of the data source, or the output items of a run, to the command")
	}
	text, err := yamlOf(suite, "# Converted from the eval "+oneLine(c.eval.Text("id"))+" of OpenAI's platform by proviso import.\n", map[string]string{"providers": comment})
	if err != nil {
		return nil, err
	}
	c.result.Files = append([]File{{"proviso.yaml", text}}, c.scripts...)
	if c.result.Cases > 0 {
		c.result.Files = append(c.result.Files, File{"cases.jsonl", cases})
	}
	if len(outputs) > 0 {
		c.result.Files = append(c.result.Files, File{"outputs.jsonl", outputs})
	}
	return &c.result, nil
}

// asksModel reports whether one of the providers or assertions calls a model of
// OpenAI.
func asksModel(list []any) bool {
	return slices.ContainsFunc(list, func(v any) bool {
		o, _ := v.(*value.Object)
		members, _ := o.At("assert").([]any)
		t := o.Text("type")
		return t == "llm-rubric" || t == "similar" || strings.HasPrefix(o.Text("id"), "openai:") || asksModel(members)
	})
}

// tags returns the metadata of the eval.
func (c *openAISuite) tags() *value.Object {
	tags := value.NewObject(0)
	metadata, _ := c.eval.At("metadata").(*value.Object)
	for key, v := range metadata.All() {
		if s, ok := v.(string); ok {
			tags.Set(oneLine(key), oneLine(s))
		}
	}
	return tags
}

// chooseRun keeps the rows of one run: output items, which have outputs, before items.
func (c *openAISuite) chooseRun() {
	id := c.eval.Text("id")
	ours := func(eval string) bool { return eval == "" || id == "" || eval == id }
	byRun := map[string]int{}
	var order []string
	for _, r := range c.rows {
		if ours(r.eval) {
			if byRun[r.run] == 0 {
				order = append(order, r.run)
			}
			byRun[r.run]++
		}
	}
	chosen := ""
	for _, run := range order {
		if run != "" {
			chosen = run
			break
		}
	}
	for _, run := range c.runs {
		if ours(run.Text("eval_id")) && (chosen == "" || run.Text("id") == chosen) {
			c.run = run
			break
		}
	}
	if c.run.Object != nil && len(order) == 0 {
		c.inline()
		return
	}
	var kept []row
	for _, r := range c.rows {
		if ours(r.eval) && r.run == chosen {
			kept = append(kept, r)
		}
	}
	for _, run := range order {
		if run != chosen && run != "" {
			c.note(c.eval.place(""), "the run "+oneLine(run), fmt.Sprintf("left out (output items: %d); those of the run %s are used", byRun[run], oneLine(chosen)), "import its files separately, into another folder")
		}
	}
	c.rows = kept
	if complete, paged := c.complete[chosen]; paged && !complete {
		c.note(c.eval.place(""), "the output items", fmt.Sprintf("the files hold %d, and their last page says that there are more (has_more)", len(kept)), "fetch the next page with &after=ID of the last item, and import all pages together")
	}
}

// inline uses the items that the run itself holds.
func (c *openAISuite) inline() {
	source := c.run.Object.Object("data_source").Object("source")
	list, _ := source.At("content").([]any)
	c.rows = nil
	for i, v := range list {
		at := document.Join("/data_source/source/content", i)
		o, ok := v.(*value.Object)
		if !ok {
			continue
		}
		f := found{o, func(p string) proviso.Place { return c.run.place(at + p) }}
		if o.Has("item") {
			c.add(row{found: f, item: o.At("item"), sample: o.Object("sample")})
		}
	}
	if len(list) == 0 && source.Has("id") {
		c.note(c.run.place("/data_source/source"), "the file "+oneLine(source.Text("id")), "its items are not in the export", "download it from the platform and add it to the command")
	}
}

// cases writes a case for each row, and the recorded outputs.
func (c *openAISuite) cases() (cases, outputs []byte) {
	var all, recorded bytes.Buffer
	c.shapes = map[string]bool{}
	seen := map[string]bool{}
	missing, calls := 0, 0
	for i, r := range c.rows {
		id := r.id
		if id == "" || seen[id] {
			id = fmt.Sprintf("%d", i+1)
		}
		for seen[id] {
			id += "+"
		}
		seen[id] = true
		id = "item-" + id
		c.shape(nil, r.item, 0)
		all.Write(value.AppendJSON(nil, value.ObjectOf("id", id, "vars", value.ObjectOf("item", r.item))))
		all.WriteByte('\n')
		if record := recordOf(r.sample); record != nil {
			o := value.ObjectOf("id", id)
			for key, v := range record.All() {
				o.Set(key, v)
			}
			recorded.Write(value.AppendJSON(nil, o))
			recorded.WriteByte('\n')
			if _, text := record.At("output").(string); text && len(toolCalls(r.sample)) > 0 {
				calls++
			}
		} else {
			missing++
		}
	}
	c.result.Cases = len(c.rows)
	if missing > 0 && recorded.Len() > 0 {
		c.note(c.eval.place(""), "the outputs", fmt.Sprintf("items without one: %d; their cases are undecided until a model answers them", missing), "")
	}
	if calls > 0 {
		c.note(c.eval.place(""), "the tool calls", fmt.Sprintf("left out beside a text (answers with both: %d); only the text is recorded, so a grader that looks at calls may decide differently", calls), "")
	}
	return all.Bytes(), recorded.Bytes()
}

// shape records which parts of items are lists or objects.
func (c *openAISuite) shape(at []string, v any, depth int) {
	const deep = 6
	switch v := v.(type) {
	case *value.Object:
		c.shapes[strings.Join(at, "\x00")] = true
		for key, e := range v.All() {
			if depth < deep {
				c.shape(append(at[:len(at):len(at)], key), e, depth+1)
			}
		}
	case []any:
		c.shapes[strings.Join(at, "\x00")] = true
		for i, e := range v {
			if depth < deep && i < 20 {
				c.shape(append(at[:len(at):len(at)], fmt.Sprint(i)), e, depth+1)
			}
		}
	}
}

// structured reports whether a path below item leads to a list or an object.
func (c *openAISuite) structured(at []string) bool { return c.shapes[strings.Join(at, "\x00")] }

// recordOf returns the recorded output of a sample, nil if it has none.
func recordOf(sample *value.Object) *value.Object {
	var output any
	message := lastMessage(sample)
	if s, ok := sample.At("output_text").(string); ok {
		output = s
	} else if s, ok := message.At("content").(string); ok {
		output = s
	}
	if calls := toolCalls(sample); len(calls) > 0 && (output == nil || output == "") {
		output = calls
	}
	if output == nil {
		return nil
	}
	record := value.ObjectOf("output", output)
	if s := sample.Text("finish_reason"); s != "" {
		record.Set("finishReason", s)
	}
	usage := value.NewObject(0)
	for from, to := range map[string]string{"total_tokens": "total", "prompt_tokens": "prompt", "completion_tokens": "completion"} {
		if n, ok := sample.Object("usage").At(from).(float64); ok && n >= 0 {
			usage.Set(to, n)
		}
	}
	if usage.Len() == 3 {
		record.Set("tokenUsage", value.ObjectOf("total", usage.At("total"), "prompt", usage.At("prompt"), "completion", usage.At("completion")))
	}
	return record
}

// toolCalls returns the tool calls in a sample.
func toolCalls(sample *value.Object) []any {
	calls := lastMessage(sample).At("tool_calls")
	if calls == nil {
		calls = sample.At("output_tools")
	}
	list, _ := calls.([]any)
	return list
}

// lastMessage returns the last assistant message in a sample: of its output, or of
// its first choice.
func lastMessage(sample *value.Object) *value.Object {
	list, _ := sample.At("output").([]any)
	for i := len(list) - 1; i >= 0; i-- {
		if m, ok := list[i].(*value.Object); ok && (m.Text("role") == "assistant" || m.Text("role") == "") {
			return m
		}
	}
	choices, _ := sample.At("choices").([]any)
	if len(choices) > 0 {
		first, _ := choices[0].(*value.Object)
		return first.Object("message")
	}
	return nil
}
