package suite

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// Trust restricts an untrusted suite, such as one from a pull request: it cannot run
// code, and it cannot read files outside its folder or files whose name begins with a
// dot. It can use only the environment variables and hosts listed here. Everything
// else is a mistake with the code Refused at its place.
type Trust struct {
	// Env are the environment variables that templates may use, in addition to those
	// that the suite sets itself.
	Env []string
	// Host reports whether the suite may name a host, which is in lower case and has
	// no port; nil permits none. internal/transport checks hosts that templates make,
	// and the addresses that names resolve to.
	Host func(host string) bool
	// Uses is called with each environment variable that the suite uses but does not
	// set itself, and whether the suite may use it. It may be nil.
	Uses func(name string, may bool)
}

// mayUse reports whether the suite may use an environment variable of the user.
func (t *Trust) mayUse(name string) bool {
	may := slices.Contains(t.Env, name)
	if t.Uses != nil {
		t.Uses(name, may)
	}
	return may
}

// Restrict returns an environment with only the given names of env.
func Restrict(env proviso.Env, names []string) proviso.Env {
	only := proviso.EnvMap{}
	for _, name := range names {
		if v, ok := env.Lookup(name); ok {
			only[name] = v
		}
	}
	return only
}

// confine restricts the reading of an untrusted suite.
func (r *reading) confine() {
	r.trust = r.options.Trust
	if r.trust == nil {
		return
	}
	r.options.Files.Confine, r.options.Files.Home = true, ""
	around, err := WithEnvFiles(r.options.Env, r.options.Dir, r.options.EnvFiles)
	if err != nil {
		r.append(mistakeOf(err))
	}
	r.options.Env, r.options.EnvFiles = around, nil // those of the user, without what the suite adds
	r.env = Restrict(r.options.Env, r.trust.Env)
}

// setting looks up a variable that controls how proviso reads suites. For these the
// user's own settings count in an untrusted suite too.
func (r *reading) setting(name string) string {
	if v, ok := r.env.Lookup(name); ok {
		return v
	}
	v, _ := r.options.Env.Lookup(name)
	return v
}

// refuse records that an untrusted suite must not do what the value at pointer
// requests.
func (r *reading) refuse(d *document.Document, pointer, format string, args ...any) {
	r.mistake(d, pointer, proviso.Refused, nil, format, args...)
}

// refusesCode refuses the code at pointer if the suite is untrusted.
func (r *reading) refusesCode(d *document.Document, pointer, what string) bool {
	if r.trust != nil {
		r.refuse(d, pointer, "%s", codeRefused(what))
	}
	return r.trust != nil
}

// codeRefused returns the message about refused code.
func codeRefused(what string) string { return what + " is code, which an untrusted suite may not run" }

// refuseEnv refuses forbidden environment variables in a text.
func (r *reading) refuseEnv(d *document.Document, pointer, text string) {
	if r.trust == nil || r.envLater {
		return
	}
	for _, name := range r.trust.forbidden(text, r.env) {
		r.refuse(d, pointer, "%s", envRefused(name))
	}
}

func envRefused(name string) string {
	return "the environment variable " + name + " may not be used by an untrusted suite; --allow-env " + name + " allows it"
}

// forbidden returns the environment variables in the templates of text that the user
// does not permit and the suite does not set.
func (t *Trust) forbidden(text string, env proviso.Env) []string {
	if !strings.Contains(text, "{{") && !strings.Contains(text, "{%") {
		return nil
	}
	return slices.DeleteFunc(envNames(text), func(name string) bool {
		_, set := env.Lookup(name)
		return set && !slices.Contains(t.Env, name) || t.mayUse(name)
	})
}

// envUse finds env.NAME and env['NAME'] inside of a tag.
var envUse = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^\w.$'"])env\s*(?:\.\s*([A-Za-z_]\w*)|\[\s*["']([^"']*)["']\s*\])`)
})

// envNames returns the environment variables that the tags of a template name
// literally. A template that computes a name finds only what [Restrict] left.
func envNames(text string) []string {
	var names []string
	for {
		start := strings.IndexByte(text, '{')
		if start < 0 || start+1 >= len(text) {
			return names
		}
		end := map[byte]string{'{': "}}", '%': "%}"}[text[start+1]]
		text = text[start+1:]
		if end == "" {
			continue
		}
		tag, rest, _ := strings.Cut(text[1:], end)
		for _, m := range envUse().FindAllStringSubmatch(tag, -1) {
			if name := m[1] + m[2]; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		text = rest
	}
}

// runsCode reports whether a provider is a program or a script. Without a table every
// provider may be one.
func runsCode(providers proviso.Providers, id string) bool {
	if name, isFile := strings.CutPrefix(id, "file://"); isFile {
		return script(name) || !slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(path.Ext(name)))
	}
	facts, _ := providers.Of(id)
	return len(providers) == 0 || facts != nil && facts.Code || script(id)
}

// script reports whether a file name, with an optional function, is that of code.
func script(name string) bool {
	file, _ := splitScript(strings.TrimPrefix(name, "file://"))
	file, _ = splitEntry(file)
	return slices.Contains(scriptKinds(), strings.ToLower(path.Ext(file))) || strings.EqualFold(path.Ext(file), ".go")
}

// scriptFile reports whether a text refers to a file of code.
func scriptFile(v any) bool {
	s, ok := v.(string)
	return ok && (strings.HasPrefix(s, "file://") && script(s) || strings.HasPrefix(s, "package:"))
}

// hostIn returns the host of an http or https URL; "" if the text is not one or a
// template makes the host.
func hostIn(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return ""
	}
	if i := strings.IndexAny(rest, `/?#\`); i >= 0 {
		rest = rest[:i]
	}
	if strings.Contains(rest, "{{") || strings.Contains(rest, "{%") {
		return ""
	}
	return bareHost(rest[strings.LastIndexByte(rest, '@')+1:])
}

// bareHost returns a host without its port and brackets, in lower case.
func bareHost(host string) string {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		host, _, _ = strings.Cut(inner, "]")
	} else {
		host, _, _ = strings.Cut(host, ":")
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// refusedHost returns the host of an address if it is forbidden, "" otherwise.
func (t *Trust) refusedHost(address string) string {
	host := hostIn(address)
	if host == "" || t.Host != nil && t.Host(host) {
		return ""
	}
	return host
}

func hostRefused(host string) string {
	return "the host " + host + " may not be asked by an untrusted suite; --allow-host " + host + " allows it"
}

// confineHeader removes settings about the user's own files from a suite, and checks
// the providers that grade.
func (r *reading) confineHeader(s *proviso.Suite, doc *document.Document, cfg *value.Object) {
	if r.trust == nil {
		return
	}
	flags, _ := cfg.At("commandLineOptions").(*value.Object)
	for at, v := range map[string]any{"/outputPath": cfg.At("outputPath"), "/commandLineOptions/output": flags.At("output")} {
		if len(texts(v)) > 0 {
			r.warn(doc, at, "an untrusted suite writes no report; name it with -o")
		}
	}
	s.Outputs, s.Options.Write = nil, nil
	if !asksNothing(cfg.At("extensions")) {
		r.refusesCode(doc, "/extensions", "a hook")
	}
	g := r.guard(doc)
	g.provider("/commandLineOptions/grader", flags.At("grader"))
}

// confineProvider checks an entry of the providers. A refused one is replaced by
// echo, so that it is not called and causes no further mistakes.
func (p *providerReader) confineProvider(doc *document.Document, at string, o *value.Object, spec *proviso.ProviderSpec) {
	if p.trust == nil {
		return
	}
	refused := p.guard(doc).refuses(func(g guard) {
		if o.Has("id") {
			g.providerID(document.Join(at, "id"), spec.ID)
		} else { // {"the id": {…}}, or the id alone
			g.providerID(at, spec.ID)
		}
		g.providerSettings(at, o)
	})
	spec.Env = p.ownEnv(spec.Env)
	if refused {
		*spec = proviso.ProviderSpec{ID: "echo", Label: spec.Name(), Prompts: spec.Prompts, Pointer: spec.Pointer}
	}
}

// ownEnv marks what an untrusted suite adds to the environment as the provider's own,
// so that it cannot be mistaken for the user's environment.
func (p *providerReader) ownEnv(env *value.Object) *value.Object {
	if p.trust == nil || p.added.Len() == 0 {
		return env
	}
	all := p.added.Clone()
	for name, v := range env.All() {
		all.Set(name, v)
	}
	return all
}

// confinePrompt checks a prompt that may come from a file.
func (r *reading) confinePrompt(prompt proviso.Prompt) {
	if r.trust == nil || prompt.Pointer == "" {
		return
	}
	for _, name := range r.trust.forbidden(prompt.Raw, r.env) {
		r.append(proviso.Mistake{Place: r.places.Place(prompt.Pointer), Code: proviso.Refused, Message: envRefused(name)})
	}
}
