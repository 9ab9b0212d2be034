// Command job runs shell commands as the jobs of a pull request at a forge that it
// starts: the first for its first push, the next for the next. After each it prints the
// exit code and how the pull request looks then. The exit code is 0 if the last command
// wrote the only comment of the pull request. Start at main.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/proviso-eval/proviso/internal/fakeforge"
)

// excerptLines limits the lines shown of a new comment.
const excerptLines = 2

// event is the event that GitHub gives the jobs of the pull request.
const event = `{"pull_request": {"number": 5, "head": {"sha": "0123456789abcdef0123456789abcdef01234567", "repo": {"full_name": "team/shop"}}}}`

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "job:", err)
		os.Exit(1)
	}
}

func run(commands []string, w io.Writer) error {
	dir, err := os.MkdirTemp("", "job")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a leftover temporary folder is no failure
	eventFile := filepath.Join(dir, "event.json")
	if err := os.WriteFile(eventFile, []byte(event), 0o600); err != nil {
		return err
	}
	server := fakeforge.New(fakeforge.Options{Token: "token-of-the-job", Viewer: "github-actions[bot]"})
	defer server.Close()
	env := append(os.Environ(),
		"GITHUB_ACTIONS=true", "GITHUB_REPOSITORY=team/shop", "GITHUB_EVENT_NAME=pull_request", "GITHUB_EVENT_PATH="+eventFile,
		"GITHUB_API_URL="+server.URL, "GITHUB_GRAPHQL_URL="+server.URL+"/graphql", "GITHUB_TOKEN=token-of-the-job",
		"GITHUB_SERVER_URL=", "GITHUB_RUN_ID=", "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary.md"))
	before := ""
	for _, command := range commands {
		cmd := exec.Command("sh", "-c", command)
		cmd.Env, cmd.Stdout, cmd.Stderr = env, w, w
		if err := cmd.Run(); cmd.ProcessState == nil {
			return err
		}
		fmt.Fprintf(w, "The job ends with exit code %d. ", cmd.ProcessState.ExitCode())
		comments := server.Comments()
		switch {
		case len(comments) != 1:
			return fmt.Errorf("the pull request has %d comments, expected 1", len(comments))
		case comments[0].Body == before:
			return fmt.Errorf("the comment of the pull request is the same as before")
		case before == "":
			fmt.Fprintln(w, "The pull request has 1 comment, new:")
		default:
			fmt.Fprintln(w, "The pull request has 1 comment, updated:")
		}
		before = comments[0].Body
		show(w, before)
	}
	return nil
}

// show prints the beginning of a comment as a person sees it, without the mark that
// identifies it to the next job.
func show(w io.Writer, body string) {
	lines := bufio.NewScanner(strings.NewReader(body))
	for n := 0; n < excerptLines && lines.Scan(); {
		if text := lines.Text(); text != "" && !strings.HasPrefix(text, "<!--") {
			fmt.Fprintln(w, "  | "+text)
			n++
		}
	}
}
