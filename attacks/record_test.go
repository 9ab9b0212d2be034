package attacks

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/fakemodel"
)

// smallDisk mounts a disk of the given size in KiB, or skips the test.
func smallDisk(t *testing.T, kib int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "full")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dk", kib), "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a small disk: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", dir).Run() })
	return dir
}

// TestFullDiskEndsRecording records commands that make many model calls to a disk that
// fills up: each command ends at once, reports why, and makes no further call.
func TestFullDiskEndsRecording(t *testing.T) {
	t.Parallel()
	command(t, "") // build the binary before the time counts
	var candidates, examples strings.Builder
	for i := range 24 {
		fmt.Fprintf(&candidates, "- {id: c%d, type: llm-rubric, value: 'It mentions item %d.'}\n", i, i)
	}
	for i := range 100 {
		fmt.Fprintf(&examples, `{"id":"e%d","output":"Example %d mentions nothing."}`+"\n", i, i)
	}
	files := map[string]string{"candidates.yaml": candidates.String(), "one.yaml": "- {id: c, type: llm-rubric, value: It is kind.}\n", "examples.jsonl": examples.String()}
	prompt := "You are a teacher.\n"
	for i := range 60 {
		prompt += fmt.Sprintf("Rule %d: never mention the number %d.\n", i, i)
		files[fmt.Sprintf("prompts/v%03d.txt", i)] = prompt
	}
	for _, test := range []struct {
		name string
		args []string
		says string
	}{
		{"judge --attack", []string{"judge", "--attack", "--judge", "openai:chat:fake"}, "no report"},
		{"spade matrix", []string{"spade", "matrix", "--candidates", "one.yaml", "--examples", "examples.jsonl", "--judge", "openai:chat:fake"}, "no matrix was written; what models answered is in "},
		{"spade subsume", []string{"spade", "subsume", "--candidates", "candidates.yaml", "--judge", "openai:chat:fake", "-o", "sub.csv"}, ""},
		{"spade propose", []string{"spade", "propose", "prompts", "--model", "openai:chat:fake", "-o", "proposed.yaml"}, ""},
		{"spade deltas", []string{"spade", "deltas", "prompts", "--classify", "--model", "openai:chat:fake"}, ""},
		{"spade run", []string{"spade", "run", "prompts", "--model", "openai:chat:fake", "--judge", "openai:chat:fake", "--examples", "examples.jsonl", "-o", "out"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := &counter{asked: map[string]int{}}
			model := fakemodel.New(fakemodel.Options{Forget: true, Latency: time.Millisecond, Reply: func(r fakemodel.Request) fakemodel.Reply {
				c.reply(r)
				return fakemodel.Reply{Text: `{"reason": "` + strings.Repeat("so it is ", 1000) + `", "pass": true, "score": 1}`}
			}})
			t.Cleanup(model.Close)
			full, dir := smallDisk(t, 16), t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "prompts"), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, dir, files)
			run := func(record string) (string, int) {
				cmd := command(t, dir, append(test.args[:len(test.args):len(test.args)], "-j", "4", "--record", record)...)
				cmd.Env = append(cmd.Env, "OPENAI_API_KEY=not-a-key", "OPENAI_BASE_URL="+model.URL+"/v1")
				var out bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &out
				err := cmd.Run()
				var exit *exec.ExitError
				if err != nil && !errors.As(err, &exit) {
					t.Fatal(err)
				}
				return out.String(), cmd.ProcessState.ExitCode()
			}
			started := time.Now()
			out, exit := run(filepath.Join(full, "tape"))
			want := "proviso: record: write to " + filepath.Join(full, "tape") + ": no space left on device"
			if exit != 3 || !strings.Contains(out, want) || !strings.Contains(out, test.says) || strings.Contains(out, "interrupted") {
				t.Errorf("exit code %d: %s", exit, tail(out))
			}
			if took := time.Since(started); took > 5*time.Second {
				t.Errorf("it took %v to end", took)
			}
			asked := 0
			for _, n := range c.all() {
				asked += n
			}
			if asked < 1 || asked > 12 {
				t.Errorf("%d questions were asked before it ended", asked)
			}
			if test.name == "spade matrix" { // for the other commands the replies are not valid answers
				if out, exit := run("tape"); exit != 0 || strings.Count(out, ",1\n") != 100 {
					t.Errorf("with room: exit code %d: %s", exit, tail(out))
				}
			}
		})
	}
}
