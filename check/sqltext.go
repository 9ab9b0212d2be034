package check

import (
	"slices"
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// lacksComma reports whether sql selects two names in a row, as in `select a b from`.
// It is legal, because b may be an alias, but in statements by models a comma is
// missing.
func lacksComma(sql, dialect string) bool {
	words := sqlWords(sql, dialect)
	for i := range words {
		if words[i] != "select" {
			continue
		}
		at := i + 1
		for at < len(words) && isSelectModifier(words[at], dialect) {
			at++
		}
		if at+2 < len(words) && words[at] != "" && words[at+1] != "" && words[at+1] != "from" && words[at+2] == "from" {
			return true
		}
	}
	return false
}

// isSelectModifier reports whether a word may stand between select and the columns.
func isSelectModifier(word, dialect string) bool {
	switch word {
	case "all", "distinct":
		return true
	case "distinctrow", "high_priority", "straight_join", "sql_calc_found_rows", "sql_cache",
		"sql_no_cache", "sql_small_result", "sql_big_result", "sql_buffer_result":
		return strings.EqualFold(dialect, "MySQL") || strings.EqualFold(dialect, "MariaDB")
	}
	return false
}

// sqlWords splits sql into its words, in lower case. Other tokens, such as a quoted
// text or an operator, are "". White space and comments are left out.
func sqlWords(sql, dialect string) []string {
	var l sqlLexer
	l.brackets = strings.EqualFold(dialect, "TransactSQL") || strings.EqualFold(dialect, "Sqlite")
	var words []string
	for sql != "" {
		n := l.comment(sql)
		switch c := sql[0]; {
		case n > 0:
		case strings.IndexByte(" \t\r\n\f\v", c) >= 0:
			n = 1
		case isWordByte(c) && !strings.HasPrefix(sql, "$$"):
			for n < len(sql) && isWordByte(sql[n]) {
				n++
			}
			word := strings.ToLower(sql[:n])
			if c >= '0' && c <= '9' {
				word = ""
			}
			words = append(words, word)
		default:
			n = l.quoted(sql)
			words = append(words, "")
		}
		sql = sql[n:]
	}
	return words
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

// sqlLexer finds the ends of comments and quoted texts.
type sqlLexer struct {
	brackets bool // [name] is quoted
	// open marks an unclosed comment or quote, by its first byte. Searching for its
	// end each time would take quadratic time.
	open [256]bool
}

// comment returns the length of the comment that sql begins with, or 0.
func (l *sqlLexer) comment(sql string) int {
	switch {
	case strings.HasPrefix(sql, "--"), sql[0] == '#':
		if i := strings.IndexByte(sql, '\n'); i >= 0 {
			return i + 1
		}
		return len(sql)
	case strings.HasPrefix(sql, "/*") && !l.open['/']:
		if i := strings.Index(sql[2:], "*/"); i >= 0 {
			return i + len("/**/")
		}
		l.open['/'] = true
	}
	return 0
}

// quoted returns the length of the quoted text that sql begins with, or 1.
func (l *sqlLexer) quoted(sql string) int {
	first := sql[0]
	switch {
	case l.open[first]:
		return 1
	case strings.HasPrefix(sql, "$$"):
		if end := strings.Index(sql[2:], "$$"); end >= 0 {
			return end + len("$$$$")
		}
	case first == '\'', first == '"', first == '`':
		if end := quoteEnd(sql, first); end > 0 {
			return end
		}
	case first == '[' && l.brackets:
		if end := strings.IndexByte(sql, ']'); end > 0 {
			return end + 1
		}
	default:
		return 1
	}
	l.open[first] = true
	return 1
}

// quoteEnd returns the offset after the closing quote, or 0. Doubled quotes and
// quotes after a backslash are part of the text; a name in backticks has no backslash
// escapes.
func quoteEnd(sql string, quote byte) int {
	for i := 1; i < len(sql); i++ {
		switch {
		case sql[i] == '\\' && quote != '`':
			i++
		case sql[i] != quote:
		case i+1 < len(sql) && sql[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return 0
}

// sqlBlocks returns the content of fenced code blocks that are marked as SQL or have
// no mark. It returns nil if there is none.
func sqlBlocks(text string) []string {
	var blocks []string
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < len(lines); i++ {
		fence, info := openingFence(lines[i])
		if fence == "" {
			continue
		}
		n := slices.IndexFunc(lines[i+1:], func(line string) bool { return closesFence(line, fence) })
		if n < 0 {
			break
		}
		if info == "" || strings.EqualFold(info, "sql") {
			blocks = append(blocks, strings.Join(lines[i+1:i+1+n], ""))
		}
		i += 1 + n
	}
	return blocks
}

// openingFence returns the fence that a line begins with and its info string.
func openingFence(line string) (fence, info string) {
	rest := fenceStart(line)
	if rest == "" || rest[0] != '`' && rest[0] != '~' {
		return "", ""
	}
	info = strings.TrimLeft(rest, rest[:1])
	if fence = rest[:len(rest)-len(info)]; len(fence) < 3 || fence[0] == '`' && strings.Contains(info, "`") {
		return "", ""
	}
	return fence, value.TrimSpace(info)
}

// closesFence reports whether a line is only a fence of the same kind and at least
// the same length.
func closesFence(line, fence string) bool {
	rest := strings.TrimLeft(fenceStart(line), fence[:1])
	return len(fenceStart(line))-len(rest) >= len(fence) && value.TrimSpace(rest) == ""
}

// fenceStart removes up to three blanks from the beginning of a line.
func fenceStart(line string) string {
	n := 0
	for n < len(line) && n < 3 && (line[n] == ' ' || line[n] == '\t') {
		n++
	}
	return line[n:]
}
