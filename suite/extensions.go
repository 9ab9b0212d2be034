package suite

import (
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// extensions reads the hooks of a suite: file://hooks.js or file://hooks.py, each
// with an optional function name.
func (r *reading) extensions(doc *document.Document, cfg *value.Object) []*proviso.Generator {
	list, _ := cfg.At("extensions").([]any)
	if r.trust != nil {
		return nil // confineHeader refuses them
	}
	var hooks []*proviso.Generator
	for i, v := range list {
		at := document.Join("/extensions", i)
		ref, ok := v.(string)
		name, isFile := strings.CutPrefix(ref, "file://")
		file, entry := splitScript(name)
		switch {
		case !ok:
			r.mistake(doc, at, proviso.Invalid, nil, "a hook is a script file, such as file://hooks.py:beforeAll, not %s", kind.Shown(v))
		case !isFile || !isHookFile(file):
			r.mistake(doc, at, proviso.Invalid, nil, "a hook is a script file, such as file://hooks.py:beforeAll, not %s", quoteName(ref))
		case r.exists(doc, at, file):
			hooks = append(hooks, &proviso.Generator{File: r.files.Clean(file), Entry: entry, Pointer: r.at(doc, at)})
		}
	}
	return hooks
}

// isHookFile reports whether a file is in a language for hooks.
func isHookFile(name string) bool {
	return isJavaScript(name) || slices.Contains([]string{".py", ".rb"}, strings.ToLower(path.Ext(name)))
}

// sandbox reads limits and permissions for the code of a suite.
func (r *reading) sandbox(doc *document.Document, cfg *value.Object) proviso.Sandbox {
	var s proviso.Sandbox
	o, ok := cfg.At("sandbox").(*value.Object)
	if !ok {
		return s
	}
	r.keys(doc, "/sandbox", o, sandboxKeys())
	if v := o.At("timeout"); v != nil {
		ms, ok := milliseconds(v)
		if !ok {
			r.mistake(doc, "/sandbox/timeout", proviso.Invalid, nil, "timeout is a number of milliseconds above 0, or a text such as 10s, not %s", kind.Shown(v))
		}
		s.TimeoutMS = ms
	}
	s.Network, _ = o.At("network").(bool)
	s.Packages, _ = o.At("packages").(bool)
	s.Env, s.Read = texts(o.At("env")), texts(o.At("read"))
	for i, name := range s.Env {
		if strings.ContainsAny(name, "=* ") || name == "" {
			r.mistake(doc, document.Join("/sandbox/env", i), proviso.Invalid, nil, "expected the name of one variable of the environment, not %s", quoteName(name))
		}
	}
	return s
}

// milliseconds reads a duration.
func milliseconds(v any) (int, bool) {
	switch v := v.(type) {
	case float64:
		return int(v), v >= 1 && v <= math.MaxInt32 && v == math.Trunc(v)
	case string:
		d, err := time.ParseDuration(v)
		return int(d / time.Millisecond), err == nil && d >= time.Millisecond && d <= math.MaxInt32*time.Millisecond
	}
	return 0, false
}

// sandboxKeys are the keys of sandbox, sorted.
func sandboxKeys() []keyRow {
	return []keyRow{
		{Key: "env", Kind: kind.Text | kind.List, Doc: "names of the environment that code sees"},
		{Key: "network", Kind: kind.Boolean, Doc: "whether code may use the network"},
		{Key: "packages", Kind: kind.Boolean, Doc: "whether code may import what is installed for its interpreter"},
		{Key: "read", Kind: kind.Text | kind.List, Doc: "files and folders that code may read, in addition to the suite's"},
		{Key: "timeout", Kind: kind.Number | kind.Text, Doc: "milliseconds for one call, or a text such as 10s"},
		{Key: "timeoutMs", Support: wrong, Right: "timeout", Doc: "milliseconds for one call"},
	}
}
