package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/spade"
)

// ticketsSelected is the assertion set in the suite of examples/spade.
const ticketsSelected = "selected.yaml"

// inTickets copies examples/spade to a folder, where the test continues with its own
// caches, and edits its suite. It returns the folder of the example.
func inTickets(t *testing.T, edit *strings.Replacer) (example string) {
	t.Helper()
	example, err := filepath.Abs(filepath.Join(repository, "examples", "spade"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(example)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, ".cache"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, ".state"))
	writeText(t, "proviso.yaml", edit.Replace(textOf(t, "proviso.yaml")))
	return example
}

func textOf(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")))
}

func writeText(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// ticketRun is the command of examples/spade that runs every step.
func ticketRun(more ...string) []string {
	return append([]string{
		"spade", "run", "prompts", "--examples", "outputs.jsonl", "--tau", "0",
		"--model", "openai:chat:gpt-4.1", "--judge", "openai:chat:gpt-4.1",
	}, more...)
}

// TestSpadeDemo compares the recorded exchanges of examples/spade, and the assertions in its suite,
// with the results of its commands with a scripted model: see ticketReply.
func TestSpadeDemo(t *testing.T) {
	server := fakemodel.New(fakemodel.Options{Reply: ticketReply})
	t.Cleanup(server.Close)
	example := inTickets(t, strings.NewReplacer("https://api.openai.com", server.URL))
	t.Setenv("OPENAI_API_KEY", "sk-made-up-for-tests")
	t.Setenv("OPENAI_BASE_URL", server.URL+"/v1")
	done := func(want int, args ...string) {
		t.Helper()
		if code, out := printed(t, args...); code != want {
			t.Fatalf("%s: exit code %d\n%s", strings.Join(args, " "), code, out)
		}
	}
	done(exitOK, ticketRun("--record", "live")...)
	selected := textOf(t, filepath.Join("spade", spade.SuiteFile))
	writeText(t, ticketsSelected, selected)
	done(exitFailed, "eval", "-c", "proviso.yaml", "--record", "live")
	done(exitOK, "spade", "label", "--examples", "outputs.jsonl", "--labels", "spade/labels.jsonl", "--set", "o31=bad")
	done(exitOK, ticketRun("--record", "live")...)

	edit(t, "live", "edited", strings.NewReplacer(server.URL, "https://api.openai.com"))
	tape := filepath.Join(example, "tape")
	if *updateDemo {
		writeText(t, filepath.Join(example, ticketsSelected), selected)
		if err := os.RemoveAll(tape); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(tape, os.DirFS("edited")); err != nil {
			t.Fatal(err)
		}
	}
	const again = "run go test ./cmd/proviso -run TestSpadeDemo -update-demo"
	if textOf(t, filepath.Join(example, ticketsSelected)) != selected {
		t.Errorf("examples/spade/%s is not what is selected today; %s\n%s", ticketsSelected, again, selected)
	}
	got, want := tree(t, "edited"), tree(t, tape)
	for name := range got {
		if want[name] != got[name] {
			t.Errorf("examples/spade/tape/%s is not what is recorded today; %s", name, again)
		}
	}
	if len(want) != len(got) {
		t.Errorf("%d exchanges in examples/spade/tape, %d recorded; %s", len(want), len(got), again)
	}
}

// TestSpadeDemoReplays replays examples/spade without a key, first completely and then from the
// cache, with equal results.
func TestSpadeDemoReplays(t *testing.T) {
	inTickets(t, strings.NewReplacer())
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("PROVISO_JUDGE", "openai:nobody")
	code, out := printed(t, ticketRun("--replay", "tape")...)
	if code != exitOK {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	if got := textOf(t, filepath.Join("spade", spade.SuiteFile)); got != textOf(t, ticketsSelected) {
		t.Errorf("%s\n%s", out, got)
	}
	if code, out = printed(t, ticketRun("--replay", "tape")...); code != exitOK || !strings.Contains(out, "The selection is that of the last time.") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if code, out = printed(t, "eval", "-c", "proviso.yaml", "--replay", "tape"); code != exitFailed || !strings.HasSuffix(out, "2 passed, 2 failed, 0 errors\n") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// TestSpadeDemoPrints compares the output of examples/spade/demo.sh with
// testdata/spadedemo/printed.txt, and what the manual shows with that and with
// scripts in testdata.
func TestSpadeDemoPrints(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("the demo is for a shell, and prints paths with slashes")
	}
	cmd := exec.Command(shell, filepath.Join(repository, "examples", "spade", "demo.sh"), "proviso")
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "OPENAI_API_KEY=", "OPENAI_BASE_URL=http://localhost:1/v1", "OPENAI_TEMPERATURE=1", "PROVISO_JUDGE=openai:nobody")
	data, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	text := regexp.MustCompile(`(rows?), [0-9.]+ m?s`).ReplaceAllString(string(data), "$1, 5 ms")
	text = regexp.MustCompile(`(?m)Kept in .*$`).ReplaceAllString(text, "Kept in …")
	golden := filepath.Join("testdata", "spadedemo", "printed.txt")
	if *updateDemo {
		writeText(t, golden, text)
	}
	if want := textOf(t, golden); text != want {
		t.Errorf("the demo prints something else than %s (-update-demo):\n%s", golden, text)
	}
	real := text
	for _, script := range []string{"spadegit.txtar", "spadeupdate.txtar", "spadefrontier.txtar"} {
		real += strings.NewReplacer(`\(`, "(", `\)`, ")").Replace(textOf(t, filepath.Join("testdata", script))) // escapes in patterns
	}
	for _, block := range shownOfDemo(textOf(t, filepath.Join(repository, "docs", "spade.md"))) {
		for _, part := range block {
			if !strings.Contains(real, part) {
				t.Errorf("docs/spade.md shows what is not printed:\n%s", part)
			}
		}
	}
}

// shownOfDemo returns the blocks of a page between <!-- begin printed --> and <!-- end
// printed -->, without the command: the standard output of each, and every line of
// standard error.
func shownOfDemo(page string) (blocks [][]string) {
	for _, part := range strings.Split(page, "<!-- begin printed -->\n")[1:] {
		part, _, _ = strings.Cut(part, "```\n<!-- end printed -->")
		_, part, _ = strings.Cut(part, "\n$ proviso ")
		_, part, _ = strings.Cut(part, "\n")
		out, block := "", []string{}
		for line := range strings.Lines(part) {
			if strings.HasPrefix(line, "proviso: ") {
				block = append(block, strings.TrimSpace(line))
			} else {
				out += line
			}
		}
		blocks = append(blocks, append(block, out))
	}
	return blocks
}
