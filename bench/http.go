package main

import (
	"fmt"
	"math"
	"os"
	"time"

	"github.com/proviso-eval/proviso/internal/fakemodel"
)

// latency is the time that the fake model takes for an answer.
const latency = 200 * time.Millisecond

// load is a workload that calls a model over HTTP, once per row.
type load struct {
	name      string
	calls     int
	reply     string // the model's answer; "" means the prompt
	assertion string // assertion of a row, with a placeholder for its number
	suite     string // with a placeholder for the model's address
	// promptfoo is promptfoo's best time, in seconds, by concurrency.
	promptfoo map[int]float64
}

var loads = []load{
	{name: "http-500", calls: 500, assertion: `{"type": "contains", "value": "item-%05d"}`, promptfoo: map[int]float64{4: 37.8, 50: 7.32, 200: 6.50},
		suite: "prompts:\n  - 'Say something about {{topic}}'\nproviders:\n  - id: openai:chat:fake-model\n    config:\n      apiBaseUrl: %s/v1\n      apiKey: not-a-key\n"},
	{name: "judge-200", calls: 1000, assertion: `{"type": "llm-rubric", "value": "is about item-%05d"}`, promptfoo: map[int]float64{50: 24.1},
		reply: `{"reason": "it says so", "score": 1, "pass": true}`,
		suite: "prompts:\n  - 'Something about {{topic}}'\nproviders: [echo]\ndefaultTest:\n  options:\n    provider:\n      id: openai:chat:fake-model\n      config:\n        apiBaseUrl: %s/v1\n        apiKey: not-a-key\n"},
}

// measure measures a load at several concurrencies, compared with the time of the model alone.
func (l load) measure(t tool, dir string, runs int) error {
	server := fakemodel.New(fakemodel.Options{Latency: latency, Forget: true, Reply: func(r fakemodel.Request) fakemodel.Reply {
		if l.reply != "" {
			return fakemodel.Reply{Text: l.reply}
		}
		return fakemodel.Reply{Text: r.Prompt}
	}})
	defer server.Close()
	w := workload{name: l.name, tests: "tests.jsonl", n: l.calls, rows: func(i int) string {
		return fmt.Sprintf(`{"vars": {"topic": "item-%05d"}, "assert": [`+l.assertion+`]}`, i, i)
	}}
	config, err := w.write(dir)
	if err != nil {
		return err
	}
	if err := os.WriteFile(config, fmt.Appendf(nil, l.suite+"tests: file://tests.jsonl\n", server.URL), 0o644); err != nil {
		return err
	}
	for _, j := range []int{4, 50, 200} {
		if l.promptfoo[j] == 0 {
			continue
		}
		all, err := repeat(runs/3, func() (figure, error) { return t.eval(config, "-j", fmt.Sprint(j)) })
		if err != nil {
			return err
		}
		m := median(all)
		ideal := math.Ceil(float64(l.calls)/float64(j)) * latency.Seconds()
		m.print(fmt.Sprintf("%s -j %d", l.name, j), all, fmt.Sprintf("          | ideal %.1f s: +%.0f %%; CPU a request %.2f ms | promptfoo %.1f s: %.1f×",
			ideal, 100*(m.wall.Seconds()/ideal-1), 1000*m.cpu.Seconds()/float64(l.calls), l.promptfoo[j], l.promptfoo[j]/m.wall.Seconds()))
	}
	return nil
}
