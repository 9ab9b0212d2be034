package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// figure is what one run of a process took.
type figure struct {
	cpu, wall time.Duration
	rss       float64 // MiB, at its peak
	bytes     int64   // of the JSON report
}

// recorded are promptfoo 0.121.20's medians: CPU seconds and peak MiB on a
// machine of two cores, Node 20.
var recorded = map[string][2]float64{
	"det5-1": {2.30, 197}, "det5-100": {3.32, 215}, "det5-1000": {9.44, 359}, "det5-5000": {32.5, 1030}, "det5-20000": {163, 2831},
	"noassert-1000": {5.96, 268}, "csv5-1000": {7.93, 306}, "metrics-1000": {7.79, 401}, "meteor-1000": {8.72, 388},
	"js-1000": {7.71, 269}, "sql-1000": {9.76, 356}, "python-50": {7.77, 190},
}

// limits are what hard-coded programs need for the same work, CPU seconds.
var limits = map[string]float64{
	"det5-1000": 0.0158, "det5-5000": 0.0604, "det5-20000": 0.2687, "csv5-1000": 0.0119, "metrics-1000": 0.032,
}

// targets are CPU seconds to stay below.
var targets = map[string]float64{
	"det5-1000": 0.08, "det5-5000": 0.25, "det5-20000": 0.8, "csv5-1000": 0.06, "metrics-1000": 0.12, "js-1000": 0.3, "sql-1000": 2.0,
}

// beyond are CPU seconds to stay below beside those of the first row.
var beyond = map[string]float64{"python-50": 0.15, "javascript-50": 0.15}

func printHeader(both bool) {
	source := "recorded"
	if both {
		source = "beside"
	}
	fmt.Printf("%-22s %10s %10s %9s %9s %9s | promptfoo (%s): CPU and peak ratio | limit, ratio\n", "workload", "CPU s", "(min)", "wall s", "peak MiB", "target s", source)
}

// measure runs a workload with every tool, in turns, and prints a row.
func measure(w *workload, config string, tools []tool, runs int) error {
	all := make([][]figure, len(tools))
	for i := range runs + 1 { // the first run warms up and does not count
		for t, tool := range tools {
			if t > 0 && i > 2 {
				continue // promptfoo takes minutes on the large ones
			}
			f, err := once(tool, config)
			if err != nil {
				return fmt.Errorf("%s on %s: %w", tool.name, w.name, err)
			}
			if i > 0 {
				all[t] = append(all[t], f)
			}
		}
	}
	ours := median(all[0])
	fmt.Printf("%-22s %10.4f %10.4f %9.3f %9.1f %9s", w.name, ours.cpu.Seconds(), least(all[0]).Seconds(), ours.wall.Seconds(), ours.rss, target(w.name, ours))
	other, ok := recorded[w.name]
	if len(tools) > 1 {
		m := median(all[1])
		other, ok = [2]float64{m.cpu.Seconds(), m.rss}, true
	}
	if ok {
		fmt.Printf(" | %8.2f s, %5.0f MiB: %5.0f×, %4.0f×", other[0], other[1], other[0]/ours.cpu.Seconds(), other[1]/ours.rss)
	}
	if l, ok := limits[w.name]; ok {
		fmt.Printf(" | %.4f s, %.1f×", l, ours.cpu.Seconds()/l)
	}
	fmt.Println()
	if w.start {
		return measureBeyond(w, ours, tools[0], filepath.Dir(filepath.Dir(config)), runs)
	}
	return nil
}

// measureBeyond prints what all rows but the first take: without the start of the
// process and of an interpreter.
func measureBeyond(w *workload, all figure, t tool, dir string, runs int) error {
	one := *w
	one.name, one.n = w.name+"-first", 1
	config, err := one.write(dir)
	if err != nil {
		return err
	}
	var list []figure
	for i := range runs + 1 {
		f, err := once(t, config)
		if err != nil {
			return fmt.Errorf("%s on %s: %w", t.name, one.name, err)
		}
		if i > 0 {
			list = append(list, f)
		}
	}
	rest := figure{cpu: all.cpu - median(list).cpu}
	fmt.Printf("%-22s %10.4f %41s\n", "  beyond the first row", rest.cpu.Seconds(), against(beyond[w.name], rest))
	return nil
}

func target(name string, f figure) string {
	want, ok := targets[name]
	if !ok {
		return ""
	}
	return against(want, f)
}

// against says whether a figure stays below what is wanted.
func against(want float64, f figure) string {
	if f.cpu.Seconds() <= want {
		return fmt.Sprintf("%g ok", want)
	}
	return fmt.Sprintf("%g MISS", want)
}

// once runs a tool on a suite; a run that prints failures is no measurement.
func once(t tool, config string) (figure, error) {
	result := filepath.Join(filepath.Dir(config), "result.json")
	defer os.Remove(result)
	cmd := exec.Command(t.exe, "eval", "-c", config, "--no-table", "--no-progress-bar", "--no-cache", "-o", result)
	cmd.Env = append(os.Environ(), t.env...)
	f, err := run(cmd)
	if err != nil {
		return f, err
	}
	info, err := os.Stat(result)
	if err != nil {
		return f, err
	}
	f.bytes = info.Size()
	return f, nil
}

func run(cmd *exec.Cmd) (figure, error) {
	start := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return figure{}, errors.Join(err, fmt.Errorf("%.500s", out))
	}
	return figure{
		wall: time.Since(start), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), rss: peak(cmd.ProcessState),
	}, nil
}

// startup measures a command that does nothing.
func startup(t tool, runs int) error {
	var all []figure
	for range runs + 1 {
		f, err := run(exec.Command(t.exe, "version"))
		if err != nil {
			return err
		}
		all = append(all, f)
	}
	m := median(all)
	_, err := fmt.Printf("%-22s %10.4f %10.4f %9.3f %9.1f\n", "version", m.cpu.Seconds(), least(all).Seconds(), m.wall.Seconds(), m.rss)
	return err
}

func median(list []figure) figure {
	by := slices.Clone(list)
	slices.SortFunc(by, func(a, b figure) int { return int(a.cpu - b.cpu) })
	m := by[len(by)/2]
	slices.SortFunc(by, func(a, b figure) int { return int(a.wall - b.wall) })
	m.wall = by[len(by)/2].wall
	for _, f := range by {
		m.rss = max(m.rss, f.rss)
	}
	return m
}

func least(list []figure) time.Duration {
	return slices.MinFunc(list, func(a, b figure) int { return int(a.cpu - b.cpu) }).cpu
}
