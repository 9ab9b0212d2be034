package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/proviso-eval/proviso/internal/fakemodel"
)

// latency is what the model of these workloads needs for an answer.
const latency = 200 * time.Millisecond

// load is a workload that asks a model over HTTP.
type load struct {
	name  string
	calls int
	// promptfoo is how long promptfoo took for it at a concurrency, seconds, at its
	// best.
	promptfoo map[int]float64
}

var (
	asked  = load{"http-500", 500, map[int]float64{4: 37.8, 50: 7.32, 200: 6.50}}
	judged = load{"judge-200", 1000, map[int]float64{50: 24.1}}
)

// models measures a suite that asks a model over HTTP, at several concurrencies,
// beside the time that the model alone needs.
func models(t tool, dir string, runs int) error {
	server := fakemodel.New(fakemodel.Options{Latency: latency, Forget: true, Reply: func(r fakemodel.Request) fakemodel.Reply {
		return fakemodel.Reply{Text: r.Prompt}
	}})
	defer server.Close()
	w := workload{name: asked.name, tests: "tests.jsonl", n: asked.calls, rows: func(i int) string {
		return fmt.Sprintf(`{"vars": {"topic": "item-%05d"}, "assert": [{"type": "contains", "value": "item-%05d"}]}`, i, i)
	}}
	config, err := w.write(dir)
	if err != nil {
		return err
	}
	text := "description: bench http-500\nprompts:\n  - 'Say something about {{topic}}'\nproviders:\n  - id: openai:chat:fake-model\n    config:\n" +
		"      apiBaseUrl: " + server.URL + "/v1\n      apiKey: not-a-key\ntests: file://tests.jsonl\n"
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return err
	}
	for _, j := range []int{4, 50, 200} {
		if err := asked.concurrency(t, config, j, max(1, runs/3)); err != nil {
			return err
		}
	}
	return nil
}

// judges measures a suite whose outputs are there already and are graded by a
// model over HTTP, a call for each.
func judges(t tool, dir string, runs int) error {
	server := fakemodel.New(fakemodel.Options{Latency: latency, Forget: true, Reply: func(fakemodel.Request) fakemodel.Reply {
		return fakemodel.Reply{Text: `{"reason": "it says so", "score": 1, "pass": true}`}
	}})
	defer server.Close()
	w := workload{name: judged.name, tests: "tests.jsonl", n: judged.calls, rows: func(i int) string {
		return fmt.Sprintf(`{"vars": {"topic": "item-%05d"}, "assert": [{"type": "llm-rubric", "value": "is about item-%05d"}]}`, i, i)
	}}
	config, err := w.write(dir)
	if err != nil {
		return err
	}
	text := "description: bench judge-200\nprompts:\n  - 'Something about {{topic}}'\nproviders: [echo]\ndefaultTest:\n  options:\n    provider:\n" +
		"      id: openai:chat:fake-model\n      config:\n        apiBaseUrl: " + server.URL + "/v1\n        apiKey: not-a-key\ntests: file://tests.jsonl\n"
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return err
	}
	return judged.concurrency(t, config, 50, max(1, runs/3))
}

// concurrency runs a load with so many rows at once, beside the time that the
// model alone needs.
func (l load) concurrency(t tool, config string, j, runs int) error {
	var all []figure
	for range runs {
		result := filepath.Join(filepath.Dir(config), "result.json")
		cmd := exec.Command(t.exe, "eval", "-c", config, "--no-table", "--no-progress-bar", "--no-cache", "-j", fmt.Sprint(j), "-o", result)
		cmd.Env = append(os.Environ(), t.env...)
		f, err := run(cmd)
		if err != nil {
			return err
		}
		all = append(all, f)
	}
	m := median(all)
	ideal := math.Ceil(float64(l.calls)/float64(j)) * latency.Seconds()
	_, err := fmt.Printf("%-22s %10.4f %10.4f %9.3f %9.1f           | ideal %.1f s: +%.0f %%; CPU a request %.2f ms | promptfoo %.1f s: %.1f×\n",
		fmt.Sprintf("%s -j %d", l.name, j), m.cpu.Seconds(), least(all).Seconds(), m.wall.Seconds(), m.rss,
		ideal, 100*(m.wall.Seconds()/ideal-1), 1000*m.cpu.Seconds()/float64(l.calls), l.promptfoo[j], l.promptfoo[j]/m.wall.Seconds())
	return err
}
