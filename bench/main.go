// Command bench measures proviso as a whole process on the workloads that
// promptfoo was measured on, side by side with the promptfoo on the PATH if there
// is one, else beside the recorded figures. Start at [main]; workloads.go makes
// the suites, measure.go runs them.
//
//	go run ./bench [-n RUNS] [WORKLOAD...]
//
// The workload ilp measures the selection of assertions beside the solver CBC;
// ilp.go has its flags.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/proviso-eval/proviso/sandbox"
)

func main() {
	sandbox.Main()
	runs := flag.Int("n", 5, "how often each workload is run")
	var ilp ilpOptions
	ilp.register(flag.CommandLine)
	flag.Parse()
	if err := bench(*runs, ilp, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench builds proviso, writes the workloads and prints a row for each.
func bench(runs int, ilp ilpOptions, names []string) error {
	dir, err := os.MkdirTemp(memory(), "proviso-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tools, err := tools(dir)
	if err != nil {
		return err
	}
	printHeader(len(tools) > 1)
	for _, w := range workloads() {
		if len(names) > 0 && !slices.Contains(names, w.name) {
			continue
		}
		if _, err := exec.LookPath(w.needs); w.needs != "" && err != nil {
			fmt.Printf("%-22s skipped, there is no %s here\n", w.name, w.needs)
			continue
		}
		config, err := w.write(dir)
		if err != nil {
			return err
		}
		if err := measure(&w, config, tools, runs); err != nil {
			return err
		}
	}
	if len(names) == 0 || slices.Contains(names, "code-calls") {
		if err := calls(); err != nil {
			return err
		}
	}
	if len(names) == 0 || slices.Contains(names, "http-500") {
		if err := models(tools[0], dir, runs); err != nil {
			return err
		}
	}
	if len(names) == 0 || slices.Contains(names, "judge-200") {
		if err := judges(tools[0], dir, runs); err != nil {
			return err
		}
	}
	if len(names) == 0 || slices.Contains(names, "serve") {
		if err := serving(tools[0], dir); err != nil {
			return err
		}
	}
	if len(names) == 0 || slices.Contains(names, "compare-20000") {
		if err := comparing(tools[0], dir, runs); err != nil {
			return err
		}
	}
	if err := startup(tools[0], runs); err != nil {
		return err
	}
	if len(names) == 0 || slices.Contains(names, "ilp") { // the last: it makes this process large
		return optimise(tools[0], dir, runs, ilp)
	}
	return nil
}

// memory is a file system in memory, so that the disk stays out of the figures.
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
