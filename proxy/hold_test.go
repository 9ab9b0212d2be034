package proxy

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

func plenty() *allowance { return &allowance{from: &budget{limit: 1 << 30}} }

// trimmed passes a text through a trimmer, in pieces of random sizes.
func trimmed(text string, most, long int, seed uint64) *trimmer {
	r := rand.New(rand.NewPCG(seed, 1))
	t := &trimmer{allow: plenty(), most: most, text: long}
	for len(text) > 0 {
		n := 1 + r.IntN(min(len(text), 1+r.IntN(700)))
		t.write([]byte(text[:n]))
		text = text[n:]
	}
	t.close()
	return t
}

// TestTrimmer: input within the limits is copied unchanged, and other input stays valid.
func TestTrimmer(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 400) // 2000 bytes
	for _, c := range []struct {
		in, want string
		cut      bool
	}{
		{`{"a":[1,"x\"y\\",{"b":null}],"c":true}`, "", false},
		{`"text"`, "", false},
		{`[1,2`, `[1]`, true},
		{`{"a":1,"b`, `{"a":1}`, true},
		{`{"a":{"b":[1,2,"x`, `{"a":{"b":[1,2]}}`, true},
		{`{"a":"` + long + `","z":1}`, `{"a":"` + strings.TrimSpace(long[:870]) + `…","z":1}`, true},
		{`{"a":"` + strings.Repeat(`\u00e9`, 400) + `","z":1}`, `{"a":"…","z":1}`, true},
		{`{"a":1,"b":[` + strings.Repeat(`"`+strings.Repeat("x", 900)+`",`, 6) + `1]}`, `{"a":1,"b":["` + strings.Repeat("x", 900) + `","` + strings.Repeat("x", 900) + `","` + strings.Repeat("x", 900) + `","` + strings.Repeat("x", 900) + `"]}`, true},
	} {
		if c.want == "" {
			c.want = c.in
		}
		for seed := range uint64(20) {
			got := trimmed(c.in, 4000, 1000, seed)
			if string(got.buf) != c.want || got.cut != c.cut {
				t.Errorf("%.60s: cut %v\n got %s\nwant %s", c.in, got.cut, got.buf, c.want)
				break
			}
		}
	}
	for n := range 500 { // the limit falls on each position in turn, brackets included
		got := trimmed(`{"a":[`+strings.Repeat(`"`+strings.Repeat("x", 900)+`",`, 4)+`[`+strings.Repeat("2", n+1)+`]]}`, 4000, 1000, 1)
		if !json.Valid(got.buf) {
			t.Fatalf("%d digits: %s", n+1, got.buf[len(got.buf)-20:])
		}
	}
	if got := trimmed(strings.Repeat("[", 100_000), 4000, 1000, 1); len(got.buf) > 2*maxNesting || !got.cut {
		t.Errorf("%d bytes of brackets", len(got.buf))
	}
}

// TestSeam: no part of a secret remains where a text was cut.
func TestSeam(t *testing.T) {
	t.Parallel()
	const secret = "4929123412341234"
	for at := 800; at < 1100; at++ {
		text := strings.Repeat("a b ", 600)
		text = text[:at] + " " + secret + " " + text[at:]
		got := string(trimmed(`{"a":"`+text+`"}`, 4000, 1000, uint64(at)).buf)
		for n := 4; n < len(secret); n++ {
			if strings.Contains(got, secret[:n]) && !strings.Contains(got, secret) {
				t.Fatalf("at %d: %s", at, got[len(got)-200:])
			}
		}
	}
}

// FuzzTrimmer: valid JSON stays valid and within the limit, and is unchanged if it fits.
func FuzzTrimmer(f *testing.F) {
	f.Add(`{"a":[1,"x\"y\\",{"b":null}],"c":"`+strings.Repeat("é ", 100)+`"}`, uint64(1))
	f.Add(`["\ud83d\ude00",{"":""}]`, uint64(2))
	f.Add(`{"a":{"b":{"c":[[[1]]]}}}`, uint64(3))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		got := trimmed(text, 300, 100, seed)
		if len(got.buf) > 300+maxNesting {
			t.Fatalf("%d bytes", len(got.buf))
		}
		if !json.Valid([]byte(text)) || !utf8.ValidString(text) {
			return
		}
		if !got.cut && string(got.buf) != text {
			t.Fatalf("%q became %q", text, got.buf)
		}
		if got.cut && len(got.stack) > 0 && !json.Valid(got.buf) && got.good > 0 {
			t.Fatalf("%q became %q", text, got.buf)
		}
	})
}

// framed passes a stream through frames, in pieces.
func framed(text string, seed uint64) []string {
	r := rand.New(rand.NewPCG(seed, 1))
	var got []string
	f := &frames{allow: plenty(), event: func(data []byte) { got = append(got, string(data)) }}
	for len(text) > 0 {
		n := 1 + r.IntN(min(len(text), 1+r.IntN(40)))
		f.write([]byte(text[:n]))
		text = text[n:]
	}
	f.end()
	return got
}

// TestFrames: events are found whatever ends their lines, and wherever the pieces end.
func TestFrames(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"data: a\n\ndata:b\n\n":                            "a|b",
		"data: a\r\n\r\ndata: b\r\rdata: c\n\n":            "a|b|c",
		"\xef\xbb\xbfdata: a\n\n":                          "a",
		": ping\n\nevent: x\nid: 7\nretry: 1\ndata: a\n\n": "a",
		"data: a\ndata: b\n\n":                             "a\nb",
		"data\n\n":                                         "",
		"data: a":                                          "a",
		"data:  a\n\n\n\n":                                 " a",
		"datax: a\n\n":                                     "",
	} {
		for seed := range uint64(30) {
			if got := strings.Join(framed(in, seed), "|"); got != want {
				t.Errorf("%q: %q, want %q", in, got, want)
				break
			}
		}
	}
	long := "data: " + strings.Repeat("x", maxFrame+10) + "\n\ndata: b\n\n"
	if got := framed(long, 1); len(got) != 1 || got[0] != "b" {
		t.Errorf("%d events", len(got))
	}
}

// FuzzStream: no stream crashes the assembly of any API. The result is bounded, can be read, and
// does not depend on where the pieces end.
func FuzzStream(f *testing.F) {
	for i, text := range []string{
		`data: {"choices":[{"index":0,"delta":{"content":"a","tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{"}}]}}]}`,
		"data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":1}}}\n\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\"}}\n\n" +
			"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
		"data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"message\"}}\n\ndata: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"content_index\":255,\"delta\":\"x\"}\n\n" +
			"data: {\"type\":\"response.completed\",\"response\":{\"output\":[],\"status\":\"completed\"}}\n\n",
		"data: {\"choices\":[{\"text\":\"a\"}]}\n\ndata: [DONE]\n\n",
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1e9},{\"index\":-1},{\"index\":0.5},null,7]}}],\"usage\":[]}\n\n",
		"data: {\"error\":7}\n\n",
	} {
		f.Add(text, uint64(i))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		for _, a := range apis {
			var said [2]string
			for i := range said {
				r := &record{allow: plenty(), api: a, stream: a.stream(pieces{allow: plenty(), left: 2000})}
				fr := &frames{allow: r.allow, event: r.event}
				r.answered = fr
				random := rand.New(rand.NewPCG(seed, uint64(i)))
				for rest := text; len(rest) > 0; {
					n := 1 + random.IntN(len(rest))
					fr.write([]byte(rest[:n]))
					rest = rest[n:]
				}
				_, reply, _ := r.close()
				said[i] = fmt.Sprint(value.Stringify(reply), r.stream.state().failed)
				if reply == nil {
					continue
				}
				if out, err := provider.ReadAnswer(a.form, "openai", "m", reply); err == nil && len(out.Text()) > 20_000+12*len(text) {
					t.Fatalf("%d bytes", len(out.Text()))
				}
			}
			if said[0] != said[1] {
				t.Fatalf("%s: %s or %s", a.name, said[0], said[1])
			}
		}
	})
}

// FuzzAsked: no request crashes its reader.
func FuzzAsked(f *testing.F) {
	for _, text := range []string{
		`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},7,null,{"type":"image_url"}]},{"role":"tool","content":{"type":"x"}},9]}`,
		`{"input":[{"type":"function_call","name":7},{"type":"function_call_output","output":[1]}],"instructions":[]}`,
		`{"system":[{"type":"text","text":"a"}],"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"r"}]}]}],"tools":[{"name":1}],"metadata":[]}`,
		`{"prompt":["a",1]}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o := parse([]byte(text))
		if o == nil {
			return
		}
		for _, a := range apis {
			q := a.read(o)
			kept, left := latest(q.messages, 1000)
			if len(value.AppendJSON(nil, kept)) > 1100 || len(kept)+left > len(q.messages) {
				t.Fatalf("%d of %d messages, %d left out", len(kept), len(q.messages), left)
			}
		}
	})
}

// TestAllowance: an exchange never holds more than the budget, and returns everything.
func TestAllowance(t *testing.T) {
	t.Parallel()
	b := &budget{limit: 10_000}
	one, two := &allowance{from: b}, &allowance{from: b}
	for i := range 100 {
		if one.use(100) != (i < 81) { // in steps of 4 KiB
			t.Fatalf("after %d", i)
		}
	}
	if two.use(5000) || !two.denied {
		t.Error("more than the budget")
	}
	one.end()
	two.end()
	if b.used.Load() != 0 {
		t.Error(b.used.Load())
	}
}
