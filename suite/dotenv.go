package suite

import (
	"strings"

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
		name, rest, ok := dotenvName(first)
		used := len(first)
		switch {
		case ok:
			value, n := dotenvValue(text[len(first)-len(rest):])
			used = len(first) - len(rest) + n
			names.Set(name, value)
		case strings.TrimSpace(first) != "" && !strings.HasPrefix(strings.TrimSpace(first), "#"):
			broken = append(broken, line)
		}
		end := strings.IndexByte(text[used:], '\n')
		if end < 0 {
			break
		}
		line += strings.Count(text[:used+end+1], "\n")
		text = text[used+end+1:]
	}
	return names, broken
}

// dotenvName reads NAME= and returns what follows.
func dotenvName(line string) (name, rest string, ok bool) {
	s := strings.TrimLeft(line, " \t")
	if after, found := strings.CutPrefix(s, "export"); found && strings.TrimLeft(after, " \t") != after {
		s = strings.TrimLeft(after, " \t")
	}
	n := 0
	for n < len(s) && (s[n] == '_' || s[n] == '.' || s[n] == '-' || s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z' || s[n] >= '0' && s[n] <= '9') {
		n++
	}
	if n == 0 {
		return "", "", false
	}
	name, s = s[:n], s[n:]
	if after, found := strings.CutPrefix(strings.TrimLeft(s, " \t"), "="); found {
		return name, after, true
	}
	if strings.HasPrefix(s, ": ") {
		return name, s[1:], true
	}
	return "", "", false
}

// dotenvValue reads a value and returns how many bytes it took.
func dotenvValue(s string) (string, int) {
	trimmed := strings.TrimLeft(s, " \t")
	if trimmed != "" && strings.IndexByte("'\"`", trimmed[0]) >= 0 {
		if inner, ok := quoted(trimmed); ok && nothingAfter(trimmed[len(inner)+2:]) {
			value := inner
			if trimmed[0] == '"' {
				value = strings.ReplaceAll(strings.ReplaceAll(value, `\n`, "\n"), `\r`, "\r")
			}
			return value, len(s) - len(trimmed) + len(inner) + 2
		}
	}
	line, _, _ := strings.Cut(s, "\n")
	value, _, _ := strings.Cut(line, "#")
	value = strings.TrimSpace(value)
	if n := len(value); n > 1 && value[0] == value[n-1] && strings.IndexByte("'\"`", value[0]) >= 0 {
		value = value[1 : n-1]
	}
	return value, len(line)
}

// nothingAfter reports whether the rest of a line is only blanks or a comment.
func nothingAfter(s string) bool {
	line, _, _ := strings.Cut(s, "\n")
	line = strings.TrimLeft(line, " \t")
	return line == "" || line[0] == '#'
}

// quoted returns the text between the quote at the beginning of s and the next quote
// without a backslash before it.
func quoted(s string) (string, bool) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return s[1:i], true
		}
	}
	return "", false
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
