package propose

import (
	"regexp"
	"strings"

	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/value"
)

// pythonModules are the modules that a model may use without an import.
var pythonModules = []string{"datetime", "json", "math", "re", "string", "unicodedata"}

// imports returns the imports that code uses and lacks. It imports the class in the module
// datetime if the code calls the class's functions on the name.
func imports(code string) string {
	var b strings.Builder
	for _, name := range pythonModules {
		used := regexp.MustCompile(`(?:^|[^\w.])` + name + `\.\w`).MatchString(code)
		bound := regexp.MustCompile(`(?m)\bimport\b[^\n#]*\b` + name + `\b|^\s*` + name + `\s*=|\bfor ` + name + `\b`).MatchString(code)
		switch {
		case !used || bound:
		case name == "datetime" && datetimeClass.Matches(code):
			b.WriteString("from datetime import date, datetime, timedelta\n")
		default:
			b.WriteString("import " + name + "\n")
		}
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

var datetimeClass = pattern.Of(`(?:^|[^\w.])datetime\.(now|today|strptime|fromisoformat|utcnow|fromtimestamp|combine)\b`)

// plainPattern translates what people write in patterns of Python and other languages into
// ECMAScript without flags: leading inline flags, slashes around a pattern, group names, and
// \A and \Z. fold means that case is ignored. It leaves what it does not know, and the
// compiler rejects that.
func plainPattern(o *value.Object) (plain *value.Object, fold bool) {
	text := o.Text("pattern")
	flags := ""
	if m := slashed.Get().FindStringSubmatch(text); m != nil {
		text, flags = m[1], m[2]
	}
	if m := inlineFlags.Get().FindStringSubmatch(text); m != nil {
		text, flags = text[len(m[0]):], flags+m[1]
	}
	text = strings.NewReplacer("(?P<", "(?<", `\\`, `\\`, `\A`, "^", `\Z`, "$", `\z`, "$").Replace(text)
	text = namedReference.Get().ReplaceAllString(text, `\k<$1>`)
	if strings.ContainsAny(flags, "sm") {
		text = withFlags(text, strings.Contains(flags, "s"), strings.Contains(flags, "m"))
	}
	if text == o.Text("pattern") {
		return o, strings.Contains(flags, "i")
	}
	plain = o.Clone()
	plain.Set("pattern", text)
	return plain, strings.Contains(flags, "i")
}

var (
	inlineFlags    = pattern.Of(`^\(\?([imsau]+)\)`)
	slashed        = pattern.Of(`^/((?:[^/\\]|\\.)+)/([gimsuy]*)$`)
	namedReference = pattern.Of(`\(\?P=(\w+)\)`)
)

// withFlags writes a pattern with the same meaning without the flags s (a dot matches line
// breaks) and m (^ and $ match at line ends).
func withFlags(text string, dots, lines bool) string {
	var b strings.Builder
	class := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text):
			b.WriteString(text[i : i+2])
			i++
			continue
		case c == '[':
			class = true
		case c == ']':
			class = false
		case !class && c == '.' && dots:
			b.WriteString(`[\s\S]`)
			continue
		case !class && c == '^' && lines:
			b.WriteString(`(?<![^\n])`)
			continue
		case !class && c == '$' && lines:
			b.WriteString(`(?![^\n])`)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
