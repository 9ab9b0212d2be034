package spade_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/value"
)

// TestListIn reads replies as models write them.
func TestListIn(t *testing.T) {
	t.Parallel()
	const want = `[{"a":"x","n":1}]`
	for name, x := range map[string]struct{ reply, want string }{
		"JSON":              {`{"list":[{"a":"x","n":1}]}`, want},
		"a fence":           {"Here it is:\n```json\n{\"list\": [{\"a\": \"x\", \"n\": 1}]}\n```\nThat's all.", want},
		"trailing commas":   {`{"list":[{"a":"x","n":1,},],}`, want},
		"single quotes":     {`{'list': [{'a': 'x', 'n': 1}]}`, want},
		"an apostrophe":     {`{'list': [{'a': 'it's'}]}`, `[{"a":"it's"}]`},
		"names":             {`{list: [{a: "x", n: 1}]}`, want},
		"comments":          {"{\"list\": [ // one\n{\"a\": \"x\", /* two */ \"n\": 1}]}", want},
		"Python":            {`{"list": [{"a": True, "b": None, 'c': False, "d": 1.5e3}]}`, `[{"a":true,"b":null,"c":false,"d":1500}]`},
		"thoughts":          {"<think>\nFirst {\"list\": []}.\n</think>\n" + `{"list":[{"a":"x","n":1}]}`, want},
		"a list alone":      {"```\n" + `[{"a":"x","n":1}]` + "\n```", want},
		"inside":            {`{"answer": {"list":[{"a":"x","n":1}]}}`, want},
		"a pattern":         {`{"list": [{"a": "^\d+\s\"?$\u12"}]}`, `[{"a":"^\\d+\\s\"?$\\u12"}]`},
		"a line break":      {"{\"list\": [{\"a\": \"x\ny\"}]}", `[{"a":"x\ny"}]`},
		"an open quote":     {`{"list": [{"a": "say "hello" twice"}]}`, `[{"a":"say \"hello\" twice"}]`},
		"braces":            {`{"list": [{"a": "{{ name }} }", 'b': "]"},]}`, `[{"a":"{{ name }} }","b":"]"}]`},
		"twice the same":    {`{"list":[{"a":"x","n":1}]} {"list":[{"a":"x","n":1}]}`, want},
		"empty":             {`{"list":[]}`, `[]`},
		"two":               {`{"list":[]} {"list":[1]}`, `it holds several JSON objects with "list" that differ`},
		"cut off":           {`{"list":[{"a":"x"}`, `it holds no complete JSON object with a list under "list"`},
		"cut off in a text": {`{'list':[{'a':'x`, `it holds no complete JSON object with a list under "list"`},
		"only thoughts":     {`<think>{"list":[]}`, "it holds thoughts that do not end, and no answer"},
		"a key twice":       {`{'list':[{'a':1,'a':2}]}`, `an object has the key "a" more than once`},
		"prose":             {"I'd rather [not] {do} that.", `it holds no complete JSON object with a list under "list"`},
		"numbers":           {`[1, 2]`, `it holds no complete JSON object with a list under "list"`},
	} {
		_, list, err := ask.ListIn(x.reply, "list")
		got := value.Stringify(list)
		if err != nil {
			got = err.Error()
		}
		if got != x.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, x.want)
		}
	}
}

func FuzzListIn(f *testing.F) {
	for _, s := range []string{`{'list': [{a: "x\d", /* y */}]}`, "[{", `{"list":["`, "<think>{", strings.Repeat("[{'", 50)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		o, list, err := ask.ListIn(reply, "list")
		if (err == nil) != (o != nil) || err == nil && list == nil {
			t.Errorf("%v %v %v", o, list, err)
		}
	})
}
