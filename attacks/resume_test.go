package attacks

import (
	"strings"
	"testing"
)

// TestResumeWithAnotherText: a run whose prompt includes a file that has changed since is
// not resumed, because the run would contain answers to two different texts.
func TestResumeWithAnotherText(t *testing.T) {
	t.Parallel()
	for name, suite := range map[string]string{
		"prompt":         "prompts: [\"{% include 'part.txt' %} {{n}}\"]\nproviders: [echo]\ntests: [{vars: {n: [a, b]}}]\n",
		"file of a file": "prompts: [\"{% include 'whole.txt' %} {{n}}\"]\nproviders: [echo]\ntests: [{vars: {n: [a, b]}}]\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, map[string]string{"proviso.yaml": suite, "part.txt": "one", "whole.txt": "{% include 'part.txt' %}"})
			if out, err := command(t, dir, "eval", "--run-dir", "runs").CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			resume := func() string {
				out, _ := command(t, dir, "eval", "--run-dir", "runs", "--resume").CombinedOutput() // the text shows the result
				return string(out)
			}
			if out := resume(); strings.Contains(out, "has changed since") || !strings.Contains(out, "2 passed") {
				t.Errorf("with the same text: %s", out)
			}
			write(t, dir, map[string]string{"part.txt": "two"})
			if out := resume(); !strings.Contains(out, "or the suite has changed since: name the suite of that run with -c, or run this one again without --resume") {
				t.Errorf("with another text: %s", out)
			}
		})
	}
}
