package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v4"
)

// ciSteps is the part of a workflow's job that the tests read.
type ciSteps struct {
	Permissions any      `yaml:"permissions"`
	Steps       []ciStep `yaml:"steps"`
}

type ciStep struct {
	ID    string            `yaml:"id"`
	If    string            `yaml:"if"`
	Uses  string            `yaml:"uses"`
	Run   string            `yaml:"run"`
	Shell string            `yaml:"shell"`
	Env   map[string]string `yaml:"env"`
	With  map[string]string `yaml:"with"`
}

type ciWorkflow struct {
	Name        string             `yaml:"name"`
	On          any                `yaml:"on"`
	Permissions any                `yaml:"permissions"`
	Jobs        map[string]ciSteps `yaml:"jobs"`
}

type ciAction struct {
	Inputs  map[string]struct{ Description, Default string } `yaml:"inputs"`
	Outputs map[string]struct{ Description, Value string }   `yaml:"outputs"`
	Runs    struct {
		Using string   `yaml:"using"`
		Steps []ciStep `yaml:"steps"`
	} `yaml:"runs"`
}

// lintSteps finds what makes a workflow unsafe: an expression in a script, which would execute a
// stranger's text; a checkout in a job that has permissions and was started by a stranger; actions
// without a version.
func lintSteps(steps []ciStep, privileged bool) []string {
	var found []string
	for i, s := range steps {
		name := fmt.Sprintf("step %d (%s)", i+1, s.Uses+s.ID)
		if strings.Contains(s.Run, "${{") {
			found = append(found, name+": an expression in a script: "+s.Run)
		}
		if (s.Run == "") == (s.Uses == "") {
			found = append(found, name+": neither uses nor run, or both")
		}
		if s.Uses != "" && !versioned().MatchString(s.Uses) {
			found = append(found, name+": no version")
		}
		if privileged && (strings.Contains(s.Uses, "checkout") || s.Run != "") {
			found = append(found, name+": a checkout or a script in a privileged job")
		}
		if out, err := exec.Command("bash", "-n", "-c", s.Run).CombinedOutput(); err != nil {
			found = append(found, name+": "+string(out))
		}
	}
	return found
}

var versioned = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w-]+/[\w-]+@v\d+(\.\d+\.\d+)?$`) })

func lintWorkflow(w *ciWorkflow) []string {
	on := fmt.Sprint(w.On)
	var found []string
	if w.Permissions == nil {
		found = append(found, "no permissions: the token has more rights than it needs")
	}
	for name, job := range w.Jobs {
		for _, problem := range lintSteps(job.Steps, strings.Contains(on, "workflow_run")) {
			found = append(found, name+", "+problem)
		}
	}
	if len(w.Jobs) == 0 {
		found = append(found, "no jobs")
	}
	return found
}

// yamlBlocks returns the examples of a page.
func yamlBlocks(page string) []string {
	var list []string
	for i, part := range strings.Split(page, "```") {
		if block, ok := strings.CutPrefix(part, "yaml\n"); ok && i%2 == 1 {
			list = append(list, block)
		}
	}
	return list
}

// TestWorkflowsOfDocs parses the workflows of the manual and checks that they are safe and correct.
func TestWorkflowsOfDocs(t *testing.T) {
	t.Parallel()
	inputs := readAction(t).Inputs
	workflows, gitlab := 0, 0
	for _, page := range []string{"docs/ci.md", "docs/untrusted.md"} {
		for _, block := range yamlBlocks(readDoc(t, page)) {
			if !strings.Contains(block, "jobs:") {
				var jobs map[string]struct{ Script []string }
				if err := yaml.Unmarshal([]byte(block), &jobs); err != nil {
					t.Errorf("%s: %v", page, err)
				}
				for name, job := range jobs {
					gitlab++
					if out, err := exec.Command("bash", "-n", "-c", strings.Join(job.Script, "\n")).CombinedOutput(); err != nil || len(job.Script) == 0 {
						t.Errorf("%s, %s: %v %s", page, name, err, out)
					}
				}
				continue
			}
			workflows++
			var w ciWorkflow
			if err := yaml.Unmarshal([]byte(block), &w); err != nil {
				t.Errorf("%s: %v in\n%s", page, err, block)
			}
			for _, problem := range lintWorkflow(&w) {
				t.Errorf("%s, %s: %s", page, w.Name, problem)
			}
			for _, job := range w.Jobs {
				for _, s := range job.Steps {
					for name := range s.With {
						if _, ok := inputs[name]; !ok && strings.HasPrefix(s.Uses, "proviso-eval/") {
							t.Errorf("%s, %s: the action has no input %q", page, w.Name, name)
						}
					}
				}
			}
		}
	}
	if workflows < 5 || gitlab < 1 {
		t.Errorf("%d workflows and %d jobs of GitLab", workflows, gitlab)
	}
}

func readAction(t *testing.T) ciAction {
	t.Helper()
	var a ciAction
	if err := yaml.Unmarshal([]byte(readDoc(t, "action.yml")), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestActionFile checks action.yml: its inputs are described and used, its steps exist,
// and no script has an expression in it.
func TestActionFile(t *testing.T) {
	t.Parallel()
	text, a := readDoc(t, "action.yml"), readAction(t)
	for _, problem := range lintSteps(a.Runs.Steps, false) {
		t.Error(problem)
	}
	var ids []string
	for _, s := range a.Runs.Steps {
		ids = append(ids, s.ID)
		if s.Run != "" && s.Shell != "bash" {
			t.Errorf("step %s has no shell", s.ID)
		}
		if _, token := s.Env["GITHUB_TOKEN"]; token && strings.Contains(s.Run, "gate.sh") {
			t.Error("the step that runs the suite has the token")
		}
		for _, m := range regexp.MustCompile(`action/(\w+\.sh)`).FindAllStringSubmatch(s.Run, -1) {
			readDoc(t, "action/"+m[1])
		}
	}
	for name, in := range a.Inputs {
		if in.Description == "" || !strings.Contains(text, "inputs."+name) {
			t.Errorf("the input %s is not described or not used", name)
		}
	}
	for _, m := range regexp.MustCompile(`inputs\.([\w-]+)`).FindAllStringSubmatch(text, -1) {
		if _, ok := a.Inputs[m[1]]; !ok {
			t.Errorf("there is no input %s", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`steps\.([\w-]+)\.outputs\.([\w-]+)`).FindAllStringSubmatch(text, -1) {
		script := map[string]string{"plan": "plan.sh", "install": "install.sh", "gate": "gate.sh"}[m[1]]
		if !slices.Contains(ids, m[1]) || !strings.Contains(readDoc(t, "action/"+script), `"`+m[2]+"=") {
			t.Errorf("there is no output %s of a step %s", m[2], m[1])
		}
	}
	if a.Outputs["decision"].Value == "" || a.Outputs["report"].Value == "" || a.Runs.Using != "composite" {
		t.Errorf("the outputs are %v", a.Outputs)
	}
}

// TestLintFinds checks that the lint can fail.
func TestLintFinds(t *testing.T) {
	t.Parallel()
	for bad, want := range map[string]string{
		`{on: pull_request, permissions: {}, jobs: {a: {steps: [{run: 'echo "${{ github.event.pull_request.title }}"'}]}}}`: "an expression in a script",
		`{on: pull_request, permissions: {}, jobs: {a: {steps: [{run: 'if'}]}}}`:                                            "syntax error",
		`{on: pull_request, permissions: {}, jobs: {a: {steps: [{uses: actions/checkout}]}}}`:                               "no version",
		`{on: {workflow_run: {workflows: [x]}}, permissions: {}, jobs: {a: {steps: [{uses: actions/checkout@v4}]}}}`:        "a checkout or a script in a privileged job",
		`{on: push, jobs: {a: {steps: [{run: 'true'}]}}}`:                                                                   "no permissions",
	} {
		var w ciWorkflow
		if err := yaml.Unmarshal([]byte(bad), &w); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(lintWorkflow(&w), "\n"); !strings.Contains(got, want) {
			t.Errorf("%s: found %q, want %s", bad, got, want)
		}
	}
}
