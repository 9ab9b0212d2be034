// Command bench measures proviso as a whole process on the workloads that promptfoo was
// measured on, side by side with the promptfoo on the PATH if there is one, else beside the
// recorded figures. Start at [main]; workloads.go makes the suites, measure.go runs them.
//
//	go run ./bench [-n RUNS] [WORKLOAD...]
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

func main() {
	runs := flag.Int("n", 5, "how often each workload is run")
	flag.Parse()
	if err := bench(*runs, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// row is a workload that prints rows.
type row struct {
	name    string
	needs   string // a program without which it is skipped
	measure func() error
}

// bench builds proviso, writes the workloads and prints a row for each.
func bench(runs int, names []string) error {
	dir, err := os.MkdirTemp(memory(), "proviso-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tools, err := tools(dir)
	if err != nil {
		return err
	}
	ours := tools[0]
	var rows []row
	for _, w := range workloads() {
		rows = append(rows, row{w.name, w.needs, func() error { return w.measure(tools, dir, runs) }})
	}
	for _, l := range loads {
		rows = append(rows, row{l.name, "", func() error { return l.measure(ours, dir, runs) }})
	}
	rows = append(rows,
		row{"serve", "", func() error { return serving(ours, dir) }},
		row{"compare-20000", "", func() error { return comparing(ours, dir, runs) }},
		row{"version", "", func() error { return startup(ours, runs) }},
		row{"select", "", func() error { return selecting(ours, dir, runs) }})
	source := "recorded"
	if len(tools) > 1 {
		source = "beside"
	}
	fmt.Printf("%-30s %10s %10s %9s %9s %9s | promptfoo (%s): CPU and peak ratio | limit, ratio\n", "workload", "CPU s", "(min)", "wall s", "peak MiB", "target s", source)
	for _, r := range rows {
		if len(names) > 0 && !slices.Contains(names, r.name) {
			continue
		}
		if _, err := exec.LookPath(r.needs); r.needs != "" && err != nil {
			fmt.Printf("%-30s skipped: %s is not installed\n", r.name, r.needs)
			continue
		}
		if err := r.measure(); err != nil {
			return err
		}
	}
	return nil
}

// memory returns an in-memory file system, so that the disk does not affect the figures.
func memory() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}

// tool is a program under test.
type tool struct {
	name string
	exe  string
	env  []string
}

func tools(dir string) ([]tool, error) {
	exe := filepath.Join(dir, "proviso")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", exe, "./cmd/proviso")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("build proviso: %w", err)
	}
	list := []tool{{name: "proviso", exe: exe, env: []string{"XDG_STATE_HOME=" + filepath.Join(dir, "state")}}}
	if other, err := exec.LookPath("promptfoo"); err == nil {
		list = append(list, tool{name: "promptfoo", exe: other, env: []string{
			"PROMPTFOO_CONFIG_DIR=" + filepath.Join(dir, "promptfoo"), "PROMPTFOO_DISABLE_TELEMETRY=1", "PROMPTFOO_DISABLE_UPDATE=1",
		}})
	}
	return list, nil
}
