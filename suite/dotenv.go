package suite

import (
	"regexp"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// parseDotenv reads a .env file like the npm package dotenv: NAME=value, optionally
// after export; values in single, double or back quotes may span lines; \n and \r are
// line ends in double quotes only; an unquoted value ends at a #. Other lines are
// returned by number. Messages never contain their text, because it may be a secret.
func parseDotenv(text string) (names *value.Object, broken []int) {
	names = &value.Object{}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	for line := 1; text != ""; {
		first, _, _ := strings.Cut(text, "\n")
		used := len(first)
		if m := dotenvLine().FindStringSubmatch(text); m != nil {
			used = len(strings.TrimSuffix(m[0], "\n"))
			names.Set(m[1], dotenvValue(m[2], m[3]))
		} else if trimmed := strings.TrimSpace(first); trimmed != "" && trimmed[0] != '#' {
			broken = append(broken, line)
		}
		if used == len(text) {
			break
		}
		line += strings.Count(text[:used+1], "\n")
		text = text[used+1:]
	}
	return names, broken
}

// dotenvLine matches NAME=value: the name, then the value, which is in quotes if nothing but
// a comment follows them, or ends with the line.
var dotenvLine = sync.OnceValue(func() *regexp.Regexp {
	quoted := func(quote string) string { return quote + `(?s:\\.|[^\\` + quote + `])*` + quote }
	return regexp.MustCompile(`^[ \t]*(?:export[ \t]+)?([\w.-]+)(?:[ \t]*=|: )[ \t]*(?:(` +
		quoted(`'`) + `|` + quoted(`"`) + `|` + quoted("`") + `)[ \t]*(?:#[^\n]*)?(?:\n|$)|([^\n]*))`)
})

// dotenvValue returns the text of a value. It is in quoted, or in plain if quoted
// is "".
func dotenvValue(quoted, plain string) string {
	if quoted != "" {
		if quoted[0] == '"' {
			quoted = strings.NewReplacer(`\n`, "\n", `\r`, "\r").Replace(quoted)
		}
		return quoted[1 : len(quoted)-1]
	}
	plain, _, _ = strings.Cut(plain, "#")
	plain = strings.TrimSpace(plain)
	if n := len(plain); n > 1 && plain[0] == plain[n-1] && strings.IndexByte("'\"`", plain[0]) >= 0 {
		plain = plain[1 : n-1]
	}
	return plain
}

// WithEnvFiles returns an environment in which .env files of the user override env.
// Names are relative to dir; later files win.
func WithEnvFiles(env proviso.Env, dir string, names []string) (proviso.Env, error) {
	added := &value.Object{}
	files := NewFiles(dir, FilesOptions{Shown: "."})
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			return env, err
		}
		text, err := document.Text(files.Show(name), data)
		if err != nil {
			return env, err
		}
		own, _ := parseDotenv(text)
		for key, v := range own.All() {
			added.Set(key, v)
		}
	}
	return Environment(added, env), nil
}
