package forge

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/proviso-eval/proviso/internal/excerpt"
)

// SummaryLimit is the maximum size, in bytes, of the job summary that a GitHub Actions step
// may add. GitHub drops a longer summary entirely.
const SummaryLimit = 1 << 20

// Cut returns a Markdown text unchanged if its size is within limit, otherwise as many
// whole entries as fit, with a note. An entry begins with a heading or a bold line, and
// includes its lists, fences and collapsed parts. size measures a text in the unit of the
// limit: characters or bytes.
func Cut(text string, limit int, size func(string) int) string {
	if size(text) <= limit {
		return text
	}
	const note = "\n… cut here, because the forge limits the length: %d more lines\n"
	room := limit - len(note) - 20 // for the number
	var at, used int               // the end of the kept text, and the size of the lines so far
	best := -1                     // strength of the cut so far
	offset := 0
	s := scan{fenceLine: regexp.MustCompile("^ {0,3}(`{3,}|~{3,})"), entryStart: regexp.MustCompile(`^(#{1,6} |\*\*)`)}
	for line := range strings.SplitAfterSeq(text, "\n") {
		// A stronger boundary before this line counts only if the cut keeps at least half
		// as much.
		if strength := s.boundary(line); strength >= 0 && used <= room && (strength >= best || offset/2 > at) {
			at, best = offset, strength
		}
		used += size(line)
		if used > room {
			break
		}
		offset += len(line)
	}
	kept := strings.TrimRight(text[:at], "\n")
	if kept == "" { // a single line has no boundary
		kept = excerpt.Head(text, max(0, room/4))
	}
	left := strings.Count(text[len(kept):], "\n")
	return kept + "\n" + fmt.Sprintf(note, max(left, 1))
}

// scan follows the fences and the collapsed parts of a text, line by line.
type scan struct {
	fenceLine, entryStart *regexp.Regexp

	fence   string // the open fence
	details int    // number of open collapsed parts
	blank   bool   // the previous line was blank
}

// boundary returns how good the beginning of a line is as a place to cut: 2 before an
// entry, 1 before another block, 0 before a table row, -1 inside an open fence or collapsed
// part.
func (s *scan) boundary(line string) int {
	strength := -1
	if s.fence == "" && s.details == 0 {
		switch {
		case s.entryStart.MatchString(line):
			strength = 2
		case s.blank:
			strength = 1
		case strings.HasPrefix(line, "|"), strings.HasPrefix(line, "- "):
			strength = 0
		}
	}
	trimmed := strings.TrimSpace(line)
	switch m := s.fenceLine.FindStringSubmatch(line); {
	case s.fence != "":
		if m != nil && strings.HasPrefix(m[1], s.fence) && strings.Trim(trimmed, m[1][:1]) == "" {
			s.fence = ""
		}
	case m != nil:
		s.fence = m[1]
	default:
		s.details = max(0, s.details+strings.Count(line, "<details>")-strings.Count(line, "</details>"))
	}
	s.blank = trimmed == ""
	return strength
}

// Footer returns the text below a comment: the evaluated commit, and a link to the job. It
// leaves out an address that is not http:// or https://.
func (p Place) Footer() string {
	var parts []string
	if isCommit(p.Commit) {
		parts = append(parts, "Commit `"+p.Commit[:12]+"`")
	}
	if link := link("job", p.Job); link != "" {
		parts = append(parts, link)
	}
	return strings.Join(parts, " · ")
}

// link returns a Markdown link whose address cannot contain markup.
func link(name, address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return ""
	}
	u.RawQuery, u.Fragment = "", "" // they may contain a key
	// Characters that are valid in an address and that Markdown would interpret.
	markup := strings.NewReplacer("(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "`", "%60", "*", "%2A", "_", "%5F", "@", "%40", "|", "%7C", "\\", "%5C")
	return "[" + name + "](" + markup.Replace(u.String()) + ")"
}
