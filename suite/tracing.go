package suite

import (
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/value"
)

// tracingKeys are the keys of tracing, sorted.
func tracingKeys() []keyRow {
	return []keyRow{
		{Key: "commandToolNames", Kind: kind.List, Doc: "names of tools that run commands, in addition to shell, exec_command and local_shell"},
		{Key: "emit", Kind: kind.Object, Own: true, Doc: "where verdicts are sent to, as gen_ai.evaluation.result events: {endpoint, headers}"},
		{Key: "enabled", Kind: kind.Boolean, Doc: "whether spans are received while the suite runs"},
		{Key: "failOnReceiverStartFailure", Kind: kind.Boolean, Doc: "whether nothing is run if spans cannot be received"},
		{Key: "file", Kind: kind.Text | kind.List, Own: true, Doc: "recorded traces: OTLP as JSON or JSON Lines"},
		{Key: "forwarding", Kind: kind.Object, Doc: "where spans are sent on to: {enabled, endpoint, headers}"},
		{Key: "otlp", Kind: kind.Object, Doc: "how spans are received: {http: {port, host, acceptFormats, redactAttributes}}"},
		{Key: "provider", Kind: kind.Object, Support: unsupported, Doc: "fetching traces from Tempo, Langfuse or Braintrust (tracing.provider)"},
		{Key: "queryDelay", Kind: kind.Number, Support: ignored, Doc: "it belongs to provider; see waitMs"},
		{Key: "storage", Kind: kind.Object, Support: ignored, Doc: "spans are kept until their row is decided"},
		{Key: "waitMs", Kind: kind.Number, Own: true, Doc: "milliseconds that spans are waited for, once a row asks for them; 3000 by default"},
	}
}

// receiverKeys are the keys of tracing.otlp.http, sorted.
func receiverKeys() []keyRow {
	return []keyRow{
		{Key: "acceptFormats", Kind: kind.List, Doc: "json, protobuf or both, which is the default"},
		{Key: "enabled", Kind: kind.Boolean, Doc: "false receives nothing"},
		{Key: "host", Kind: kind.Text, Doc: "the address that is listened on, 127.0.0.1 by default"},
		{Key: "port", Kind: kind.Number, Doc: "the port, 0 for a free one; by default 4318, or a free one if that is taken"},
		{Key: "redactAttributes", Kind: kind.List, Doc: "parts of names of attributes whose values are removed as they come"},
	}
}

// otlpKeys are the keys of tracing.otlp, sorted.
func otlpKeys() []keyRow {
	return []keyRow{
		{Key: "grpc", Kind: kind.Object, Support: ignored, Doc: "spans are received over HTTP alone: set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf in the agent"},
		{Key: "http", Kind: kind.Object, Doc: "the receiver"},
	}
}

// endpointKeys are the keys of tracing.forwarding and tracing.emit, sorted.
func endpointKeys() []keyRow {
	return []keyRow{
		{Key: "enabled", Kind: kind.Boolean, Doc: "false sends nothing"},
		{Key: "endpoint", Kind: kind.Text, Doc: "base URL of what takes OTLP over HTTP"},
		{Key: "headers", Kind: kind.Object, Doc: "headers that are sent along, such as a key"},
	}
}

var traceFormats = []string{"json", "protobuf"}

// tracing reads the suite's settings for traces.
func (r *reading) tracing(doc *document.Document, cfg *value.Object) proviso.Tracing {
	var t proviso.Tracing
	o, ok := cfg.At("tracing").(*value.Object)
	if !ok {
		return t
	}
	r.keys(doc, "/tracing", o, tracingKeys())
	t.Enabled, _ = o.At("enabled").(bool)
	t.MustReceive, _ = o.At("failOnReceiverStartFailure").(bool)
	t.CommandTools = r.names(doc, "/tracing/commandToolNames", o.At("commandToolNames"))
	r.wholeNumber(doc, "/tracing/waitMs", o.At("waitMs"), 600_000, &t.WaitMS)
	for i, name := range texts(o.At("file")) {
		name = strings.TrimPrefix(name, "file://")
		at := "/tracing/file"
		if _, several := o.At("file").([]any); several {
			at = document.Join(at, i)
		}
		r.exists(doc, at, name)
		t.Files = append(t.Files, name)
	}
	if otlp, ok := o.At("otlp").(*value.Object); ok {
		r.keys(doc, "/tracing/otlp", otlp, otlpKeys())
		if http, ok := otlp.At("http").(*value.Object); ok {
			r.receiver(doc, &t, http)
		}
	}
	t.Forward = r.endpoint(doc, "/tracing/forwarding", o.At("forwarding"))
	t.Emit = r.endpoint(doc, "/tracing/emit", o.At("emit"))
	return t
}

// receiver reads how spans are received.
func (r *reading) receiver(doc *document.Document, t *proviso.Tracing, o *value.Object) {
	const at = "/tracing/otlp/http"
	r.keys(doc, at, o, receiverKeys())
	if o.At("enabled") == false {
		t.Enabled = false
	}
	t.Host, _ = o.At("host").(string)
	if r.trust != nil && t.Host != "" && !transport.ThisMachine(t.Host) {
		r.refuse(doc, at+"/host", "an untrusted suite listens on the loopback address alone")
		t.Host = ""
	}
	r.wholeNumber(doc, at+"/port", o.At("port"), 65535, &t.Port)
	t.Redact = r.names(doc, at+"/redactAttributes", o.At("redactAttributes"))
	t.Formats = r.names(doc, at+"/acceptFormats", o.At("acceptFormats"))
	for i, f := range t.Formats {
		if !slices.Contains(traceFormats, f) {
			r.mistake(doc, document.Join(at+"/acceptFormats", i), proviso.Invalid, document.Suggest(f, traceFormats), "a format is json or protobuf, not %s", quoteName(f))
		}
	}
}

// wholeNumber reads a whole number from 0 to most.
func (r *reading) wholeNumber(doc *document.Document, at string, v any, most float64, to **int) {
	f, ok := v.(float64)
	if !ok {
		return
	}
	if f != math.Trunc(f) || f < 0 || f > most {
		r.mistake(doc, at, proviso.Invalid, nil, "expected a whole number from 0 to %s, not %s", value.FormatNumber(most), value.FormatNumber(f))
		return
	}
	n := int(f)
	*to = &n
}

// names reads a list of texts that are not empty.
func (r *reading) names(doc *document.Document, at string, v any) []string {
	list, _ := v.([]any)
	var names []string
	for i, e := range list {
		name, ok := e.(string)
		if name = strings.TrimSpace(name); !ok || name == "" {
			r.mistake(doc, document.Join(at, i), proviso.Invalid, nil, "expected a name, not %s", kind.Shown(e))
			continue
		}
		names = append(names, name)
	}
	return names
}

// endpoint reads a receiver of telemetry; nil if there is none.
func (r *reading) endpoint(doc *document.Document, at string, v any) *proviso.Endpoint {
	o, ok := v.(*value.Object)
	if !ok {
		return nil
	}
	r.keys(doc, at, o, endpointKeys())
	if o.At("enabled") == false {
		return nil
	}
	e := &proviso.Endpoint{Headers: &value.Object{}, Pointer: r.at(doc, at)}
	e.URL, _ = o.At("endpoint").(string)
	u, err := url.Parse(e.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		r.mistake(doc, at, proviso.Invalid, nil, "endpoint must be a URL of http or https, such as http://localhost:4318")
		return nil
	}
	if r.trust != nil {
		r.guard(doc).address(at+"/endpoint", e.URL)
	}
	headers, _ := o.At("headers").(*value.Object)
	for name, v := range headers.All() {
		text, ok := v.(string)
		if !ok || strings.ContainsAny(text, "\r\n") || name == "" || strings.ContainsAny(name, " :\r\n") {
			r.mistake(doc, document.Join(at+"/headers", name), proviso.Invalid, nil, "a header is a name and a text of one line")
			continue
		}
		e.Headers.Set(name, text)
	}
	return e
}
