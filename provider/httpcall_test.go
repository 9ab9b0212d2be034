package provider_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// mirror answers with the request: [url, content type, body].
func mirror(t *testing.T) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		json.NewEncoder(w).Encode([]string{r.Method, r.URL.String(), r.Header.Get("Content-Type"), string(body)})
	}))
	t.Cleanup(srv.Close)
	return srv
}

// engines are the engines for configurations with scripts and templates.
func engines(t *testing.T) (*script.Engine, *template.Engine) {
	t.Helper()
	code := script.New(script.Options{})
	templates := template.New(template.Options{Env: func() *value.Object { return value.ObjectOf("KEY", "sk-env-secret") }})
	t.Cleanup(func() { code.Close(); templates.Close() })
	return code, templates
}

// config reads a configuration.
func config(t *testing.T, text string) *value.Object {
	t.Helper()
	v, err := value.ParseJSON(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v.(*value.Object)
}

// httpOptions use only the test servers, and do not wait.
func httpOptions(t *testing.T) provider.Options {
	code, templates := engines(t)
	n := &naps{}
	return provider.Options{Code: code, Templates: templates, Env: proviso.EnvMap{}, Sleep: n.sleep, Now: n.clock(nil)}
}

// TestHTTPRequests compares requests with those that promptfoo 0.121.20 makes
// for the same configurations.
func TestHTTPRequests(t *testing.T) {
	t.Parallel()
	o := httpOptions(t)
	o.Files = files{
		"request.txt": "POST /file HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\n\r\n{\"p\":\"{{prompt}}\"}",
		"t.js":        "module.exports = (prompt) => ({text: prompt}); module.exports.other = p => 'other ' + p;",
	}
	const said, chat = "say \"hi\"\nnow", `[{"role":"user","content":"x \"y\""}]`
	for _, tc := range []struct{ name, config, prompt, want string }{
		{"get", `{"method":"GET"}`, said, `GET / `},
		{"structure", `{"body":{"p":"{{prompt}}","v":"{{q}}","n":3,"num":"{{num}}","nested":{"x":["{{prompt}}"]},"t":true}}`, said,
			`POST / application/json {"p":"say \"hi\"\nnow","v":"a \"b\"","n":3,"num":"3","nested":{"x":["say \"hi\"\nnow"]},"t":true}`},
		{"dump", `{"body":{"p":"{{obj | dump}}","l":"{{list|dump}}","lit":"{\"a\":1}","o":"{{obj}}","ls":"{{list}}"}}`, said,
			`POST / application/json {"p":{"a":1},"l":[1,2],"lit":{"a":1},"o":"[object Object]","ls":"1,2"}`},
		{"chat", `{"body":{"p":"{{prompt}}"}}`, chat, `POST / application/json {"p":[{"role":"user","content":"x \"y\""}]}`},
		{"number", `{"body":{"p":"{{prompt}}"}}`, "42", `POST / application/json {"p":"42"}`},
		{"JSON text", `{"headers":{"content-type":"application/json"},"body":"{\"p\":\"{{prompt}}\",\"q\":\"{{q}}\"}"}`, said,
			`POST / application/json {"p":"say \"hi\"\nnow","q":"a \"b\""}`},
		{"JSON text of a chat", `{"headers":{"content-type":"application/json"},"body":"{\"p\":{{prompt}}}"}`, chat,
			`POST / application/json {"p":[{"role":"user","content":"x \"y\""}]}`},
		{"JSON text with a condition", `{"headers":{"content-type":"application/json"},"body":"{ {% if q %}\"p\":\"{{prompt}}\"{% endif %} }"}`, said,
			`POST / application/json {"p":"say \"hi\"\nnow"}`},
		{"text", `{"body":"p={{prompt}}&q={{q}}"}`, said, "POST / application/x-www-form-urlencoded p=say \"hi\"\nnow&q=a \"b\""},
		{"plain", `{"headers":{"Content-Type":"text/plain"},"body":"{{prompt}}"}`, said, "POST / text/plain " + said},
		{"query", `{"url":"URL/x?z=1#f","method":"GET","queryParams":{"p":"{{q}}","n":5}}`, said, `GET /x?z=1&n=5&p=a+%22b%22 `},
		{"URL", `{"url":"URL/u/{{q}}/{{num}}","method":"GET"}`, said, `GET /u/a%20%22b%22/3 `},
		{"put", `{"method":"put","body":{"a":1}}`, said, `PUT / application/json {"a":1}`},
		{"function", `{"body":{"m":"{{prompt}}","k":1},"transformRequest":"(prompt) => ({text: prompt})"}`, said,
			`POST / application/json {"m":"say \"hi\"\nnow","k":1,"text":"say \"hi\"\nnow"}`},
		{"statement", `{"body":{"k":1},"transformRequest":"return {text: prompt + vars.num}"}`, "p", `POST / application/json {"k":1,"text":"p3"}`},
		{"function gives text", `{"body":{"m":"{{prompt}}"},"transformRequest":"(prompt, vars, context) => JSON.stringify([typeof prompt, vars.num, context.vars.q])"}`, said,
			`POST / application/json {"m":["string",3,"a \"b\""]}`},
		{"template", `{"body":{"m":"{{prompt}}"},"transformRequest":"{\"text\":\"{{prompt}}\"}"}`, said, `POST / application/json {"m":{"text":"say \"hi\"\nnow"}}`},
		{"transformed text", `{"headers":{"Content-Type":"text/plain"},"body":"<{{prompt}}>","transformRequest":"({a: prompt})"}`, "p", `POST / text/plain <{"a":"p"}>`},
		{"no body", `{"transformRequest":"[prompt]"}`, "{{p}}", `POST / application/json ["{{p}}"]`},
		{"file", `{"body":{},"transformRequest":"file://t.js"}`, "p", `POST / application/json {"text":"p"}`},
		{"function of a file", `{"body":{"a":"{{prompt}}"},"transformRequest":"file://t.js:other"}`, "p", `POST / application/json {"a":"other p"}`},
		{"raw", `{"request":"POST /r?x={{num}} HTTP/1.1\nHost: HOST\nContent-Type: application/json\nContent-Length: 5\nX-P: {{ num }}\n\n{\"p\":\"{{prompt}}\",\"q\":\"{{q}}\"}"}`, said,
			`POST /r?x=3 application/json {"p":"say \"hi\"\nnow","q":"a \"b\""}`},
		{"raw get", `{"request":"GET /g HTTP/1.1\nHost: HOST"}`, said, `GET /g `},
		{"raw text", `{"request":"POST /g HTTP/1.1\nHost: HOST\nContent-Type: text/plain\n\nhello {{num}}\n"}`, said, `POST /g text/plain hello 3`},
		{"raw file", `{"request":"file://request.txt"}`, said, `POST /file application/json {"p":"say \"hi\"\nnow"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			srv := mirror(t)
			place := strings.NewReplacer("URL", srv.URL, "HOST", strings.TrimPrefix(srv.URL, "http://"))
			o := o
			o.Files = files{"request.txt": place.Replace(o.Files.(files)["request.txt"]), "t.js": o.Files.(files)["t.js"]}
			p, err := provider.Open(proviso.ProviderSpec{ID: srv.URL, Config: config(t, place.Replace(tc.config))}, o)
			if err != nil {
				t.Fatal(err)
			}
			vars := value.ObjectOf("q", `a "b"`, "obj", value.ObjectOf("a", 1.0), "list", []any{1.0, 2.0}, "num", 3.0)
			out, err := p.Answer(t.Context(), proviso.Ask{Prompt: tc.prompt, Vars: vars})
			if err != nil {
				t.Fatal(err)
			}
			got := strings.TrimRight(strings.Join(texts(out.Value), " "), " ")
			if got != strings.TrimRight(tc.want, " ") {
				t.Errorf("sent %s\nwant %s", got, tc.want)
			}
			if out.Latency == nil || out.Usage.Requests != 1 {
				t.Errorf("latency %v, usage %+v", out.Latency, out.Usage)
			}
			if vars.Has("prompt") {
				t.Error("the variables of the case were changed")
			}
		})
	}
}

func texts(v any) []string {
	list, _ := v.([]any)
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = value.ToString(e)
	}
	return out
}

func TestHTTPResponses(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Flag", "on")
		if r.URL.Path == "/text" {
			io.WriteString(w, "plain words here")
			return
		}
		io.WriteString(w, `{"out":"hi","n":null,"usage":{"total":7}}`)
	}))
	defer srv.Close()
	o := httpOptions(t)
	o.Files = files{"p.js": "export default (json, text, context) => json.out + context.response.status;\nexport const f = j => ({output: j.out, guardrails: {flagged: true}});"}
	for _, tc := range []struct{ path, transform, want string }{
		{"", ``, `{"out":"hi","n":null,"usage":{"total":7}}`},
		{"/text", ``, "plain words here"},
		{"", `json.out`, "hi"},
		{"", `json.out;`, "hi"},
		{"", "// the text\njson.out // of it", "hi"},
		{"", `text.slice(0, 6)`, `{"out"`},
		{"", `(json, text) => json.out`, "hi"},
		{"", `function (json) { return json.out }`, "hi"},
		{"", "const x = json.out;\nreturn x", "hi"},
		{"", `{ output: json.out, cost: 0.5, tokenUsage: json.usage }`, "hi"},
		{"", `({foo: 1})`, `{"foo":1}`},
		{"", `5`, "5"},
		{"", `false`, "false"},
		{"", `context.response.headers["x-flag"] + context.response.status + context.vars.v`, "on200v"},
		{"", `Object.keys(context.response.headers).filter(k => k.includes(" ")).length`, "0"},
		{"", `file://p.js`, "hi200"},
		{"", `file://p.js:f`, "hi"},
		{"/text", `json === null ? text : "?"`, "plain words here"},
	} {
		cfg := value.ObjectOf("body", value.ObjectOf("a", 1.0))
		if tc.transform != "" {
			cfg.Set("transformResponse", tc.transform)
		}
		p, err := provider.Open(proviso.ProviderSpec{ID: srv.URL + tc.path, Config: cfg}, o)
		if err != nil {
			t.Errorf("%s: %v", tc.transform, err)
			continue
		}
		out, err := p.Answer(t.Context(), proviso.Ask{Vars: value.ObjectOf("v", "v")})
		if err != nil || out.Text() != tc.want {
			t.Errorf("%s gives %q, %v; want %q", tc.transform, out.Text(), err, tc.want)
		}
		if strings.Contains(tc.transform, "cost") && (out.Cost == nil || *out.Cost != 0.5 || out.Usage.Total != 7) {
			t.Errorf("%s gives %+v", tc.transform, out)
		}
		if strings.HasSuffix(tc.transform, ":f") && out.Guardrails.At("flagged") != true {
			t.Errorf("%s gives %+v", tc.transform, out)
		}
	}
	for _, transform := range []string{`json.a.b`, `json.missing`, `json.n`, `output.text`, `(() => { throw new Error("no") })()`, `() => () => 1`} {
		p, err := provider.Open(proviso.ProviderSpec{ID: srv.URL, Config: value.ObjectOf("body", "x", "transformResponse", transform)}, o)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Answer(t.Context(), proviso.Ask{})
		if codeOf(err) != proviso.Undecided || !strings.Contains(err.Error(), "transformResponse") || !strings.Contains(err.Error(), `"out":"hi"`) {
			t.Errorf("%s gives %v", transform, err)
		}
		if strings.Contains(err.Error(), "(it has json, text, context)") != (transform == `output.text`) {
			t.Errorf("%s gives %v", transform, err)
		}
	}
	p, err := provider.Open(proviso.ProviderSpec{ID: srv.URL, Config: value.ObjectOf("body", "x", "transformResponse", `({error: "overloaded"})`)}, o)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := p.Answer(t.Context(), proviso.Ask{}); err != nil || out.Error != "overloaded" {
		t.Errorf("an error in the response gives %+v, %v", out, err)
	}
}

func codeOf(err error) string {
	var e *proviso.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return fmt.Sprint(err)
}

func TestHTTPStatus(t *testing.T) {
	t.Parallel()
	o := httpOptions(t)
	for _, tc := range []struct {
		status int
		accept string
		ok     bool
		asked  int32
	}{
		{200, "", true, 1}, {204, "", true, 1}, {404, "", false, 1}, {500, "", false, 5}, {429, "", false, 5}, {400, "", false, 1},
		{404, "status < 500", true, 1}, {404, "(status) => status === 404", true, 1}, {200, "status => status === 201", false, 1},
		{429, "true", true, 1}, {500, "status < 500", false, 5},
	} {
		var asked atomic.Int32
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.WriteHeader(tc.status)
			if tc.status != 204 {
				io.WriteString(w, "what happened")
			}
		}))
		cfg := value.ObjectOf("body", "x", "headers", value.ObjectOf("Authorization", "Bearer {{env.KEY}}"))
		if tc.accept != "" {
			cfg.Set("validateStatus", tc.accept)
		}
		p, err := provider.Open(proviso.ProviderSpec{ID: srv.URL + "/{{v}}", Config: cfg}, o)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Answer(t.Context(), proviso.Ask{})
		srv.Close()
		if (err == nil) != tc.ok || asked.Load() != tc.asked {
			t.Errorf("%d with %q: %v, asked %d times", tc.status, tc.accept, err, asked.Load())
		}
		if err != nil && (!strings.Contains(err.Error(), "what happened") || !strings.Contains(err.Error(), fmt.Sprint(tc.status))) {
			t.Errorf("%d: %v", tc.status, err)
		}
	}
}

// TestHTTPStops: if all requests go to one address that rejects them, it is
// called once; a rejection by one of many addresses does not stop the others.
func TestHTTPStops(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, "bad key "+r.Header.Get("Authorization"))
	}))
	defer srv.Close()
	for path, want := range map[string]int32{"/": 1, "/{{v}}": 3} {
		asked.Store(0)
		p, err := provider.Open(proviso.ProviderSpec{ID: srv.URL + path, Config: value.ObjectOf("body", "x", "headers", value.ObjectOf("Authorization", "Bearer {{env.KEY}}"))}, httpOptions(t))
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			_, err := p.Answer(t.Context(), proviso.Ask{})
			if err == nil || strings.Contains(err.Error(), "sk-env-secret") || !strings.Contains(err.Error(), "bad key") {
				t.Errorf("%v", err)
			}
		}
		if asked.Load() != want {
			t.Errorf("%s was asked %d times, want %d", path, asked.Load(), want)
		}
	}
}

func TestHTTPMistakes(t *testing.T) {
	t.Parallel()
	o := httpOptions(t)
	for _, tc := range []struct{ id, config, code, text string }{
		{"https", `{"body":{}}`, proviso.Invalid, "config.url"},
		{"http://x", `{"method":"POST"}`, proviso.Invalid, "config.body"},
		{"http://x", `{"body":{},"method":"PO ST"}`, proviso.Invalid, "method"},
		{"http://x", `{"body":{},"headers":{"a b":"c"}}`, proviso.Invalid, "header"},
		{"http://x", `{"body":{},"headers":{"content-type":"text/plain"}}`, proviso.Invalid, "text/plain"},
		{"http://x", `{"body":{},"sessionParser":"x"}`, proviso.Unsupported, "config.sessionParser"},
		{"http://x", `{"body":{},"tls":{}}`, proviso.Unsupported, "config.tls"},
		{"http://x", `{"body":{},"signatureAuth":{}}`, proviso.Unsupported, "config.signatureAuth"},
		{"http://x", `{"body":{},"transformResponse":"json.("}`, proviso.Invalid, "config.transformResponse"},
		{"http://x", `{"body":{},"transformResponse":"file://no.js"}`, proviso.NotFound, "no.js"},
		{"http://x", `{"body":{},"transformResponse":"file://no.py"}`, proviso.NotFound, "no.py"},
		{"http://x", `{"body":{},"transformResponse":"file://no.txt"}`, proviso.Invalid, "expected a script file"},
		{"http://x", `{"body":{},"validateStatus":5}`, proviso.Invalid, "validateStatus"},
		{"http", `{"request":"hello"}`, proviso.Invalid, "config.request"},
		{"http", `{"request":"GET / HTTP/1.1"}`, proviso.Invalid, "Host"},
		{"http", `{"request":"file://no.txt"}`, proviso.NotFound, "no.txt"},
		{"webhook:nowhere", `{}`, proviso.Invalid, "URL"},
		{"exec:", `{}`, proviso.Invalid, "command"},
	} {
		o.Files = files{}
		_, err := provider.Open(proviso.ProviderSpec{ID: tc.id, Config: config(t, tc.config), Pointer: "/p"}, o)
		var e *proviso.Error
		if !errors.As(err, &e) || e.Code != tc.code || e.Pointer != "/p" || !strings.Contains(e.Error(), tc.text) {
			t.Errorf("%s %s gives %v", tc.id, tc.config, err)
		}
	}
	for _, tc := range []struct{ id, text string }{{"http://{{v}}", "URL"}, {"{{v}}://x", "no"}, {"http://x/{{ v | nofilter }}", "filter"}} {
		p, err := provider.Open(proviso.ProviderSpec{ID: tc.id, Config: value.ObjectOf("body", "x")}, o)
		if err == nil {
			_, err = p.Answer(t.Context(), proviso.Ask{})
		}
		if err == nil || !strings.Contains(err.Error(), tc.text) {
			t.Errorf("%s gives %v", tc.id, err)
		}
	}
}

func TestHTTPFaults(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client is gone
		switch n := asked.Add(1); {
		case r.URL.Path == "/slow":
			<-r.Context().Done()
		case r.URL.Path == "/cut":
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "half")
		case n < 3:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			io.WriteString(w, `"fine"`)
		}
	}))
	defer srv.Close()
	ask := func(path string, timeout time.Duration) (proviso.Output, error) {
		o := httpOptions(t)
		o.Timeout = timeout
		p, err := provider.Open(proviso.ProviderSpec{ID: srv.URL + path, Config: value.ObjectOf("body", "x")}, o)
		if err != nil {
			t.Fatal(err)
		}
		return p.Answer(t.Context(), proviso.Ask{})
	}
	if out, err := ask("/busy", time.Minute); err != nil || out.Value != "fine" {
		t.Errorf("after refusals: %+v, %v", out, err)
	}
	if _, err := ask("/slow", 30*time.Millisecond); codeOf(err) != proviso.Timeout {
		t.Errorf("no answer gives %v", err)
	}
	if _, err := ask("/cut", time.Minute); codeOf(err) != proviso.Unavailable || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("a cut answer gives %v", err)
	}
}

func TestTokenEstimate(t *testing.T) {
	t.Parallel()
	p, err := provider.Open(proviso.ProviderSpec{ID: mirror(t).URL, Config: config(t, `{"method":"GET","tokenEstimation":{"enabled":true}}`)}, httpOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Answer(t.Context(), proviso.Ask{Prompt: "say \"hi\"\nnow"})
	if err != nil || out.Usage.Prompt != 4 || out.Usage.Total != out.Usage.Prompt+out.Usage.Completion {
		t.Errorf("%+v, %v", out.Usage, err)
	}
}

func TestWebhook(t *testing.T) {
	t.Parallel()
	reply := `{"output":"fine","tokenUsage":{"total":3}}`
	var got string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = r.Method + " " + r.Header.Get("Content-Type") + " " + string(body)
		io.WriteString(w, reply)
	}))
	defer srv.Close()
	p, err := provider.Open(proviso.ProviderSpec{ID: "webhook:" + srv.URL + "?key=sk-secret", Config: config(t, `{"foo":"bar"}`)}, httpOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Answer(t.Context(), proviso.Ask{Prompt: "p", Config: config(t, `{"x":1}`)})
	if err != nil || out.Value != "fine" || out.Usage.Total != 3 || out.Latency == nil {
		t.Errorf("%+v, %v", out, err)
	}
	if got != `POST application/json {"prompt":"p","config":{"foo":"bar","x":1}}` {
		t.Errorf("sent %s", got)
	}
	for _, reply = range []string{`{"out":1}`, `"fine"`, `<html>`, ``, `{"error":"broken"}`} {
		_, err := p.Answer(t.Context(), proviso.Ask{})
		if codeOf(err) != proviso.Unavailable || strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("%s gives %v", reply, err)
		}
	}
}

// TestHTTPRedirects follows redirects of any endpoint, without the headers that
// the suite configures.
func TestHTTPRedirects(t *testing.T) {
	t.Parallel()
	var got http.Header
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		fmt.Fprint(w, "there")
	}))
	defer other.Close()
	srv := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer srv.Close()
	for _, id := range []string{srv.URL, "webhook:" + srv.URL + "?key=sekret"} {
		p, err := provider.Open(proviso.ProviderSpec{ID: id, Config: config(t, `{"headers":{"X-Api-Key":"secret","X-Trace":"t"}}`)}, httpOptions(t))
		if err != nil {
			t.Fatal(err)
		}
		got = nil
		_, _ = p.Answer(t.Context(), proviso.Ask{Prompt: "p"}) // the answer does not have a webhook's form
		if got == nil || got.Get("X-Api-Key") != "" || got.Get("X-Trace") != "" || got.Get("Referer") != "" {
			t.Errorf("%s: arrives with %v", id, got)
		}
	}
}

// TestHTTPAnswerThatIsTooLarge: a response has a size limit, whether or not it
// announces its length, and a response beyond it is not retried.
func TestHTTPAnswerThatIsTooLarge(t *testing.T) {
	t.Parallel()
	const most = 16 << 20
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		size := most
		if strings.HasPrefix(r.URL.Path, "/more") {
			size++
		}
		if strings.HasSuffix(r.URL.Path, "-said") {
			w.Header().Set("Content-Length", fmt.Sprint(size))
		}
		_, _ = io.WriteString(w, strings.Repeat("a", size)) // the client may have left
	}))
	t.Cleanup(srv.Close)
	for path, code := range map[string]string{"/full": "", "/full-said": "", "/more": proviso.Limit, "/more-said": proviso.Limit} {
		before := asked.Load()
		p, err := provider.Open(proviso.ProviderSpec{ID: srv.URL + path, Config: config(t, `{"method":"POST","body":"{{prompt}}"}`)}, httpOptions(t))
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Answer(t.Context(), proviso.Ask{Prompt: "x"})
		text, _ := out.Value.(string)
		if code == "" && (err != nil || len(text) != most) || code != "" && codeOf(err) != code || code != "" && !strings.Contains(err.Error(), "more than 16777216 bytes") {
			t.Errorf("%s: %d bytes, %v", path, len(text), err)
		}
		if n := asked.Load() - before; n != 1 {
			t.Errorf("%s was asked %d times", path, n)
		}
	}
}
