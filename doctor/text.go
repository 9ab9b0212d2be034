package doctor

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/report"
)

// view prints a diagnosis for a person.
type view struct {
	bytes.Buffer
	o report.TerminalOptions
}

// The marks of a line: present, wrong, and absent but possibly not needed.
const (
	markGood    = "✓"
	markWrong   = "✗"
	markMissing = "–"
)

// mark returns markGood if there is set, and otherwise if not.
func mark(there bool, otherwise string) string {
	if there {
		return markGood
	}
	return otherwise
}

func (t *view) title(name string) {
	fmt.Fprintf(t, "\n%s\n", t.o.Paint(report.Bold, name))
}

// row prints a mark, a subject and a text.
func (t *view) row(mark, name, format string, args ...any) {
	color := map[string]string{markGood: "32", markWrong: "31", markMissing: "2"}[mark]
	text := fmt.Sprintf("%-12s %s", name, report.Message(fmt.Sprintf(format, args...)))
	fmt.Fprintf(t, "  %s %s\n", t.o.Paint(color, mark), strings.TrimRight(text, " "))
}

// Text formats a diagnosis for a person.
func (d *Diagnosis) Text(o report.TerminalOptions) []byte {
	t := &view{o: o}
	fmt.Fprintf(t, "proviso %s (%s, %s, %s)\n", d.Version, d.Go, d.System, plural.Of(d.CPUs, "CPU"))
	t.sandbox(&d.Sandbox)
	t.interpreters(d)
	t.network(&d.Network)
	t.title("Judge")
	switch j := &d.Judge; {
	case j.Provider == "":
		t.row(markMissing, "none", "%s", j.Problem)
	case j.Problem != "":
		t.row(markWrong, j.Provider, "by %s: %s", j.By, j.Problem)
	default:
		t.row(markGood, j.Provider, "by %s", j.By)
	}
	t.models(d.Models)
	t.title("Folders")
	for _, f := range d.Folders {
		t.folder(&f)
	}
	t.title("Terminal")
	if x := d.Terminal; x.Terminal {
		t.row(markGood, "columns", "%d%s", x.Width, map[bool]string{true: ", in colours"}[x.Color])
	} else {
		t.row(markMissing, "none", "what is printed goes to a file or a program")
	}
	if s := d.Suite; s != nil {
		t.title("Suite " + report.Message(strings.Join(s.Files, ", ")))
		if s.Ready {
			t.row(markGood, "ready", "everything that it needs is available")
		} else {
			t.row(markWrong, "not ready", "it cannot be run on this machine")
		}
		for _, line := range s.Problems {
			fmt.Fprintf(t, "    %s\n", report.Message(line))
		}
	}
	return t.Bytes()
}

// models lists models that their vendors retire.
func (t *view) models(list []Retirement) {
	if len(list) == 0 {
		return
	}
	t.title("Models")
	for _, r := range list {
		if r.Retired {
			t.row(markWrong, r.Use, "%s was retired on %s: %s", r.Provider, r.Date, r.Source)
		} else {
			t.row(markMissing, r.Use, "%s retires on %s: %s", r.Provider, r.Date, r.Source)
		}
	}
}

func (t *view) sandbox(s *Sandbox) {
	t.title("Sandbox")
	if s.Missing != "" {
		t.row(markWrong, "none", "%s", s.Missing)
	}
	if s.Kernel == "" {
		return
	}
	t.row(mark(s.Landlock > 0 && s.Seccomp, markWrong), "kernel", "%s", s.Kernel)
	if s.Landlock > 0 {
		t.row(markGood, "Landlock", "version %d", s.Landlock)
	} else {
		t.row(markWrong, "Landlock", "not there: a kernel from 5.13 on has it, if it was built and booted with it")
	}
	t.row(mark(s.Seccomp, markWrong), "seccomp", "%s", map[bool]string{false: "not there"}[s.Seccomp])
	switch {
	case s.Namespaces:
		t.row(markGood, "namespaces", "code gets some of its own")
	case s.SelfTest == SelfTestPassed:
		t.row(markMissing, "namespaces", "not permitted; the sandbox holds without, but code sees that files exist, and their size")
	}
	switch s.SelfTest {
	case SelfTestPassed:
		t.row(markGood, "self-test", "what must be refused is refused")
	case SelfTestFailed:
		t.row(markWrong, "self-test", "something gets through, so no code is run; see below")
	default:
		t.row(markMissing, "self-test", "not run: no interpreter could be started in the sandbox")
	}
}

func (t *view) interpreters(d *Diagnosis) {
	t.title("Code")
	t.row(markGood, "JavaScript", "within proviso, for what imports nothing")
	for _, i := range d.Interpreters {
		what := strings.TrimPrefix(strings.Join([]string{i.Version, i.Path}, ", "), ", ")
		switch {
		case i.Path == "":
			t.row(markMissing, i.Program, "%s", i.Problem)
		case i.Sandbox && i.Namespaces:
			t.row(markGood, i.Program, "%s, in the sandbox", what)
		case i.Sandbox:
			t.row(markGood, i.Program, "%s, in the sandbox, without namespaces", what)
		default:
			t.row(markWrong, i.Program, "%s: %s", what, i.Problem)
		}
	}
}

func (t *view) network(n *Network) {
	t.title("Network")
	for _, row := range []struct {
		name, none string
		list       []string
	}{
		{"keys", "none of a vendor is set", n.Keys},
		{"addresses", "those of the vendors", n.Addresses},
		{"proxy", "none", n.Proxies},
	} {
		if len(row.list) == 0 {
			t.row(markMissing, row.name, "%s", row.none)
			continue
		}
		t.row(markGood, row.name, "%s", strings.Join(row.list, ", "))
	}
}

func (t *view) folder(f *Folder) {
	about := ""
	switch {
	case !f.Writable:
		about = ", cannot be written"
	case !f.Exists:
		about = ", made when it is needed"
	case f.AtLeast:
		about = ", more than " + sizeText(f.Bytes)
	case f.Bytes > 0:
		about = ", " + sizeText(f.Bytes)
	}
	t.row(mark(f.Writable, markWrong), f.Holds, "%s%s", f.Path, about)
}

// sizeText formats a size with a suitable unit.
func sizeText(n int64) string {
	size, unit := float64(n), "bytes"
	for _, larger := range []string{"KB", "MB", "GB", "TB"} {
		if size < 1000 {
			break
		}
		size, unit = size/1000, larger
	}
	return fmt.Sprintf("%.3g %s", size, unit)
}
