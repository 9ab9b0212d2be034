package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// figure is the measurement of one process.
type figure struct {
	cpu, wall time.Duration
	rss       float64 // peak MiB
	out       []byte
}

// recorded are the medians of promptfoo 0.121.20: CPU seconds and peak MiB on a machine with
// two cores and Node 20.
var recorded = map[string][2]float64{
	"det5-1": {2.30, 197}, "det5-100": {3.32, 215}, "det5-1000": {9.44, 359}, "det5-5000": {32.5, 1030}, "det5-20000": {163, 2831},
	"noassert-1000": {5.96, 268}, "csv5-1000": {7.93, 306}, "metrics-1000": {7.79, 401}, "meteor-1000": {8.72, 388},
	"js-1000": {7.71, 269}, "sql-1000": {9.76, 356}, "python-50": {7.77, 190},
}

// limits are the CPU seconds that hard-coded programs need for the same work.
var limits = map[string]float64{
	"det5-1000": 0.0158, "det5-5000": 0.0604, "det5-20000": 0.2687, "csv5-1000": 0.0119, "metrics-1000": 0.032,
}

// targets are upper limits in CPU seconds. Workloads that start an interpreter have one without
// the first row.
var targets = map[string]float64{
	"det5-1000": 0.08, "det5-5000": 0.25, "det5-20000": 0.8, "csv5-1000": 0.06, "metrics-1000": 0.12, "js-1000": 0.3, "sql-1000": 2.0,
	"compare-20000 txt": 1.5, "compare-20000 json": 1.5, "python-50 beyond the first": 0.15, "javascript-50 beyond the first": 0.15,
}

// measure runs a workload alternately with every tool, and prints a row.
func (w *workload) measure(tools []tool, dir string, runs int) error {
	config, err := w.write(dir)
	if err != nil {
		return err
	}
	all := make([][]figure, len(tools))
	for t, tool := range tools {
		n := runs
		if t > 0 {
			n = min(runs, 2) // promptfoo takes minutes on the large workloads
		}
		if all[t], err = repeat(n, func() (figure, error) { return tool.eval(config) }); err != nil {
			return fmt.Errorf("%s on %s: %w", tool.name, w.name, err)
		}
	}
	ours, note := median(all[0]), ""
	other, ok := recorded[w.name]
	if len(tools) > 1 {
		m := median(all[1])
		other, ok = [2]float64{m.cpu.Seconds(), m.rss}, true
	}
	if ok {
		note = fmt.Sprintf(" | %8.2f s, %5.0f MiB: %5.0f×, %4.0f×", other[0], other[1], other[0]/ours.cpu.Seconds(), other[1]/ours.rss)
	}
	if l, ok := limits[w.name]; ok {
		note += fmt.Sprintf(" | %.4f s, %.1f×", l, ours.cpu.Seconds()/l)
	}
	ours.print(w.name, all[0], note)
	if !w.start {
		return nil
	}
	one := *w
	one.name, one.n = w.name+"-first", 1
	if config, err = one.write(dir); err != nil {
		return err
	}
	first, err := repeat(runs, func() (figure, error) { return tools[0].eval(config) })
	if err != nil {
		return err
	}
	rest := figure{cpu: ours.cpu - median(first).cpu}
	rest.print(w.name+" beyond the first", []figure{rest}, "")
	return nil
}

// print prints a row: the median of all figures, and a note.
func (f figure) print(name string, all []figure, note string) {
	target := ""
	if want, ok := targets[name]; ok {
		target = fmt.Sprintf("%g %s", want, verdict(f.cpu.Seconds() <= want))
	}
	fmt.Printf("%-30s %10.4f %10.4f %9.3f %9.1f %9s%s\n", name, f.cpu.Seconds(), least(all).Seconds(), f.wall.Seconds(), f.rss, target, note)
}

func verdict(ok bool) string {
	if ok {
		return "ok"
	}
	return "MISS"
}

// repeat repeats a measurement, at least once. The first run is a warm-up and does not count.
func repeat(runs int, once func() (figure, error)) ([]figure, error) {
	var all []figure
	for range max(runs, 1) + 1 {
		f, err := once()
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all[1:], nil
}

// eval runs the tool on a suite; a run that prints failures is not a measurement.
func (t tool) eval(config string, more ...string) (figure, error) {
	result := filepath.Join(filepath.Dir(config), "result.json")
	defer os.Remove(result)
	return t.run(append([]string{"eval", "-c", config, "--no-table", "--no-progress-bar", "--no-cache", "-o", result}, more...)...)
}

// run runs the tool with arguments.
func (t tool) run(args ...string) (figure, error) {
	cmd := exec.Command(t.exe, args...)
	cmd.Env = append(os.Environ(), t.env...)
	start := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return figure{}, errors.Join(err, fmt.Errorf("%.500s", out))
	}
	return figure{wall: time.Since(start), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), rss: peak(cmd.ProcessState), out: out}, nil
}

// comparing measures `proviso compare` on two runs of 20,000 rows with five assertions each, in
// the text format and in the largest one.
func comparing(t tool, dir string, runs int) error {
	w := workload{name: "compare-20000", tests: "tests.jsonl", rows: newWriter().det5, n: 20000}
	config, err := w.write(dir)
	if err != nil {
		return err
	}
	var kept []string
	for _, suffix := range []string{"", "."} { // the second run has other outputs
		folder := filepath.Join(dir, w.name, "runs"+suffix)
		var exit *exec.ExitError
		if _, err := t.run("eval", "-c", config, "--no-table", "--no-progress-bar", "--run-dir", folder, "--prompt-suffix", suffix); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
			return err
		}
		found, err := filepath.Glob(filepath.Join(folder, "*", "run.jsonl"))
		if err != nil || len(found) != 1 {
			return fmt.Errorf("%s holds %d runs: %w", folder, len(found), err)
		}
		kept = append(kept, found[0])
	}
	for _, suffix := range []string{"txt", "json"} {
		all, err := repeat(runs, func() (figure, error) {
			return t.run("compare", kept[0], kept[1], "-o", filepath.Join(dir, "result."+suffix))
		})
		if err != nil {
			return err
		}
		median(all).print(w.name+" "+suffix, all, "")
	}
	return nil
}

// startup measures a command that does nothing.
func startup(t tool, runs int) error {
	all, err := repeat(runs, func() (figure, error) { return t.run("version") })
	if err == nil {
		median(all).print("version", all, "")
	}
	return err
}

func median(list []figure) figure {
	by := slices.SortedFunc(slices.Values(list), func(a, b figure) int { return cmp.Compare(a.cpu, b.cpu) })
	m := by[len(by)/2]
	slices.SortFunc(by, func(a, b figure) int { return cmp.Compare(a.wall, b.wall) })
	m.wall = by[len(by)/2].wall
	for _, f := range by {
		m.rss = max(m.rss, f.rss)
	}
	return m
}

func least(list []figure) time.Duration {
	return slices.MinFunc(list, func(a, b figure) int { return cmp.Compare(a.cpu, b.cpu) }).cpu
}
