package sandbox

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/marked"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/internal/textlist"
	"github.com/proviso-eval/proviso/value"
)

// engineMemory limits the memory of a JavaScript source, in bytes.
const engineMemory = 128 << 20

// askEngine describes the interpreter of JavaScript that does not need Node: this program. In
// the sandbox it is started through the kernel's link to the running program.
func askEngine(_ context.Context, s *Sandbox, _ string, _ bool) (*interpreter, error) {
	exe := s.exe()
	if exe == "" {
		return nil, proviso.Errorf(proviso.Unavailable, "this program cannot start workers: call sandbox.Main first in main, or name a proviso binary in Options.Exe")
	}
	in := &interpreter{version: "ES2023", path: "/proc/self/exe"}
	if runtime.GOOS != "linux" {
		in.path = exe
	}
	in.exec = executed(in.path, exe)
	return in, nil
}

func engineArgv(in *interpreter, _ profile, _, config string) []string {
	return []string{in.path, engineArgument, config}
}

// serveEngine is the worker: it serves one source on an engine of internal/script,
// and does not return.
func serveEngine(config string) {
	v, _ := value.ParseJSON(config)
	request, _ := v.(*value.Object)
	w := engineWorker{in: os.NewFile(uintptr(integer(request, "in")), "channel"), out: os.NewFile(uintptr(integer(request, "out")), "channel")}
	w.reader.src = w.in
	runtime.GOMAXPROCS(1) // calls are sequential, and switching threads would take as long as a call
	w.reply(frame{kind: kindHello, payload: []byte(protocol)})
	for {
		f, err := w.reader.next(maxFrame)
		if err != nil {
			os.Exit(0)
		}
		w.reply(w.serve(f))
	}
}

// engineWorker serves the calls of one source.
type engineWorker struct {
	in, out  *os.File
	reader   frameReader
	buf      []byte
	name     string
	function proviso.Function
	maxReply int
	resident float64 // bytes of memory after which it asks to be replaced
}

func (w *engineWorker) reply(f frame) {
	w.buf = appendFrame(w.buf[:0], f)
	if _, err := w.out.Write(w.buf); err != nil {
		os.Exit(0)
	}
	if cap(w.buf) > bufferKept {
		w.buf = nil
	}
}

// serve answers one frame.
func (w *engineWorker) serve(f frame) frame {
	v, err := value.ParseJSON(string(f.payload))
	if err != nil {
		os.Exit(4)
	}
	r := frame{kind: kindResult, id: f.id, payload: []byte("true")}
	switch request, _ := v.(*value.Object); f.kind {
	case kindLoad:
		err = w.load(request)
	case kindProbe:
		r.payload = value.AppendJSON(nil, textlist.Values(probeEngine(request)))
	case kindCall, kindMarked:
		if f.kind == kindMarked {
			v = marked.Revive(v)
		}
		args, ok := v.([]any)
		if !ok || w.function == nil {
			os.Exit(4)
		}
		r.kind, r.payload, err = w.call(args)
	default:
		os.Exit(4)
	}
	if err != nil {
		r.kind, r.payload = kindError, value.AppendJSON(nil, w.explain(err))
	}
	return r
}

// load compiles the source, which evaluates a module.
func (w *engineWorker) load(request *value.Object) error {
	seconds, _ := request.At("timeout").(float64)
	w.resident, _ = request.At("rss").(float64)
	w.resident += float64(resident()) // a process inherits the peak of its parent
	w.name, w.maxReply = request.Text("name"), integer(request, "reply")
	src := proviso.Source{
		Language: "javascript", Name: w.name, Text: request.Text("text"), Params: texts(request, "params"), Entry: request.Text("entry"),
		Form: map[string]proviso.Form{"expression": proviso.Expression, "body": proviso.Body, "module": proviso.Module}[request.Text("form")],
	}
	if w.maxReply > maxReply {
		src.Purpose = proviso.Acting
	}
	engine := script.New(script.Options{Timeout: time.Duration(seconds * float64(time.Second)), Memory: engineMemory, MaxVMs: 1})
	var err error
	w.function, err = engine.Compile(context.Background(), src)
	return err
}

// call runs the function and encodes its result.
func (w *engineWorker) call(args []any) (byte, []byte, error) {
	v, err := w.function.Call(context.Background(), args...)
	if err != nil {
		return 0, nil, err
	}
	kind, payload, err := encodeResult(v)
	if err == nil && len(payload) > w.maxReply {
		err = errLarge
	}
	if kind == kindResult && float64(resident()) > w.resident {
		kind |= wornBit
	}
	return kind, payload, err
}

// errLarge is the error of a result that exceeds the size limit of replies.
var errLarge = &proviso.Error{Code: proviso.Limit, Message: "the result is too large"}

// explain returns an error frame.
func (w *engineWorker) explain(err error) *value.Object {
	var thrown *proviso.ScriptError
	var e *proviso.Error
	switch {
	case errors.Is(err, errLarge):
		return value.ObjectOf("kind", "large")
	case errors.As(err, &thrown):
		kind := "exception"
		if thrown.Syntax {
			kind = "syntax"
		}
		return value.ObjectOf("kind", kind, "name", thrown.Name, "message", thrown.Message, "stack", thrown.Stack,
			"line", float64(thrown.Line), "column", float64(thrown.Column))
	case errors.As(err, &e) && e.Code == proviso.Timeout && strings.Contains(e.Message, "promise"):
		return value.ObjectOf("kind", "stuck")
	case errors.As(err, &e) && e.Code == proviso.Timeout:
		return value.ObjectOf("kind", "timeout")
	case errors.As(err, &e) && e.Code == proviso.Limit && strings.Contains(e.Message, "result is larger"):
		return value.ObjectOf("kind", "large")
	case errors.As(err, &e) && e.Code == proviso.Limit:
		return value.ObjectOf("kind", "memory", "message", e.Message)
	}
	return value.ObjectOf("kind", "exception", "message", err.Error())
}

// encodeResult returns the kind and the payload of a result in a language that has
// undefined.
func encodeResult(v any) (byte, []byte, error) {
	if o, ok := v.(*value.Opaque); ok {
		return kindOpaque, value.AppendQuoted(nil, o.Kind), nil
	}
	e := marked.Encoder{Plain: true, Opaque: true}
	err := encode(&e, v)
	if err == nil && e.Special {
		e = marked.Encoder{Opaque: true}
		err = encode(&e, v)
		return kindSpecial, e.Buf, err
	}
	return kindResult, e.Buf, err
}
