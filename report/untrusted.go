package report

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/internal/excerpt"
)

// UntrustedMarkdown returns Markdown that a stranger may have written, such as a file of an
// unprivileged CI job, in a form that a privileged job may show. Headings, lists, quotes,
// tables, emphasis, code and collapsed parts stay; everything else is shown literally. The
// result has no links, images, HTML, mentions or references. Its fences and collapsed parts
// are closed, and its lines are cut at 8 KiB. The output of [MarkdownCode] and of this
// module's reports looks the same, except that links become text.
func UntrustedMarkdown(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	u := untrusted{
		anyFence:   regexp.MustCompile("^ {0,3}(`{3,}|~{3,})[ \t]*([a-z]*)[^`]*$"),
		summary:    regexp.MustCompile(`^<details><summary>(.{0,200})</summary>$`),
		delimiters: regexp.MustCompile(`^[ \t>:|-]*-[ \t:|-]*$`),
		lineStart:  regexp.MustCompile(`^ *(?:(?:>|-|#{1,6})(?: +|$))*`),
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for from, to := 0, 0; from < len(lines); from = to {
		table := false
		for to = from; to == from || to < len(lines) && strings.TrimSpace(lines[to]) != ""; to++ {
			table = table || u.delimiters.MatchString(lines[to])
		}
		for _, line := range lines[from:to] {
			u.line(excerpt.Bytes(line, maxLine), table)
		}
	}
	if u.fence != "" {
		u.endFence()
	}
	u.b.WriteString(strings.Repeat("\n</details>\n", u.details))
	return u.b.String()
}

// untrusted writes a text line by line.
type untrusted struct {
	anyFence, summary, lineStart *regexp.Regexp
	delimiters                   *regexp.Regexp // the line between head and rows of a table

	b       strings.Builder
	fence   string   // the open fence, as written
	info    string   // its language
	content []string // its lines
	details int      // open collapsed parts
	tag     bool     // the previous line was HTML, which only an empty line ends
}

const (
	maxDetails = 3       // nested collapsed parts
	maxLine    = 8 << 10 // bytes
)

// line writes a line. table is true if it may be a table row, where a bar ends a cell even
// within code.
func (u *untrusted) line(line string, table bool) {
	m := u.anyFence.FindStringSubmatch(line)
	if u.fence != "" {
		if m != nil && strings.HasPrefix(m[1], u.fence) && strings.Trim(line, " \t"+m[1][:1]) == "" {
			u.endFence()
			return
		}
		u.content = append(u.content, clean(line))
		return
	}
	if u.tag && strings.TrimSpace(line) != "" {
		u.b.WriteByte('\n')
	}
	u.tag = false
	opens := u.summary.FindStringSubmatch(line)
	switch {
	case m != nil:
		u.fence, u.info, u.content = m[1], m[2], nil
		return
	case opens != nil && u.details < maxDetails:
		u.details++
		u.tag = true
		line = "<details><summary>" + htmlText(opens[1]) + "</summary>"
	case line == "</details>" && u.details > 0:
		u.details--
		u.tag = true
	default:
		start := u.lineStart.FindString(line)
		line = start + markdownText(line[len(start):], table)
	}
	u.b.WriteString(line + "\n")
}

// endFence writes a fence at the beginning of a line, where no list or quote contains it.
// The fence is longer than any run of backticks in its content.
func (u *untrusted) endFence() {
	if !slices.Contains([]string{"diff", "json", "sh"}, u.info) { // GitHub renders some other languages as drawings, with links
		u.info = "text"
	}
	u.b.WriteString(fenced(u.info, u.content))
	u.fence = ""
}

// joiner is invisible and breaks words. Mentions, references and addresses are recognised
// in the text that a reader sees, where a backslash does not help.
const joiner = '\u2060'

// htmlText escapes the text of an HTML element, in which Markdown is not interpreted.
func htmlText(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "@"+string(joiner), "#", "#"+string(joiner), "://", ":"+string(joiner)+"//").Replace(clean(s))
}

// markdownText escapes one line of text, without the marks at its beginning. Code spans
// must end on the line.
func markdownText(s string, table bool) string {
	last := map[int]int{} // where the last run of backticks of each length begins
	for i := 0; i < len(s); i++ {
		if n := backticks(s[i:]); n > 0 {
			last[n] = i
			i += n
		}
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if n := backticks(s[i:]); n > 0 {
			shown, end := strings.Repeat("\\`", n), i+n
			if last[n] > i {
				for backticks(s[end:]) != n {
					end += max(1, backticks(s[end:]))
				}
				inner := clean(s[i+n : end])
				if table {
					inner = strings.ReplaceAll(inner, "|", `\x7c`)
				}
				shown = s[i:i+n] + inner + s[i:i+n]
				end += n
			}
			b.WriteString(shown)
			i = end
			continue
		}
		escaped := s[i] == '\\' && i+1 < len(s) && punctuation(s[i+1])
		if escaped {
			i++
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		b.WriteString(escapedRune(r, s[i:i+size], escaped))
		i += size
		if breaks(s[:i], s[i:]) {
			b.WriteRune(joiner)
		}
	}
	return b.String()
}

// backticks returns the length of the run of backticks at the beginning of s.
func backticks(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }

func punctuation(c byte) bool {
	return c > ' ' && c < 0x7f && !alphanumeric(c)
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// escapedRune returns a character as Markdown shows it. escaped means that a backslash
// precedes it.
func escapedRune(r rune, raw string, escaped bool) string {
	switch {
	case escaped:
		return `\` + raw
	case strings.ContainsRune(`\<&[]~`, r):
		return `\` + raw
	case r == '\t':
		return " "
	case r == joiner:
		return raw // a word joiner of breaks
	}
	if shown := escape(r, raw); shown != "" {
		return shown
	}
	return raw
}

// breaks reports whether before and after must be separated, because together they would
// form a mention, a reference or an address.
func breaks(before, after string) bool {
	if after == "" || strings.HasPrefix(after, string(joiner)) {
		return false
	}
	lower := strings.ToLower(before[max(0, len(before)-4):])
	switch c := before[len(before)-1]; c {
	case '@', '#', '!':
		return alphanumeric(after[0]) || after[0] == '_' || after[0] == '\\'
	case ':':
		return after[0] == '/' || after[0] == '\\'
	case '.':
		return strings.HasSuffix(lower, "www.")
	case '-':
		return strings.HasSuffix(lower, "gh-")
	}
	return false
}
