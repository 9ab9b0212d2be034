package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// comparing measures `proviso compare` on two runs of 20,000 rows with five assertions
// each, in the format for people and in the largest one. What is wanted is 1.5 s and
// 150 MiB.
func comparing(t tool, dir string, runs int) error {
	list := workloads()
	w := list[slices.IndexFunc(list, func(w workload) bool { return w.name == "det5-20000" })]
	w.name = "compare-20000"
	config, err := w.write(dir)
	if err != nil {
		return err
	}
	var kept []string
	for _, suffix := range []string{"", "."} { // the second run has other outputs
		folder := filepath.Join(dir, w.name, "runs"+suffix)
		cmd := exec.Command(t.exe, "eval", "-c", config, "--no-table", "--no-progress-bar", "--run-dir", folder, "--prompt-suffix", suffix)
		cmd.Env = append(os.Environ(), t.env...)
		var exit *exec.ExitError
		if out, err := cmd.CombinedOutput(); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
			return errors.Join(err, fmt.Errorf("%.500s", out))
		}
		found, err := filepath.Glob(filepath.Join(folder, "*", "run.jsonl"))
		if err != nil || len(found) != 1 {
			return fmt.Errorf("%s holds %d runs: %w", folder, len(found), err)
		}
		kept = append(kept, found[0])
	}
	for _, suffix := range []string{"txt", "json"} {
		var all []figure
		for i := range runs + 1 {
			f, err := run(exec.Command(t.exe, "compare", kept[0], kept[1], "-o", filepath.Join(dir, "result."+suffix)))
			if err != nil {
				return err
			}
			if i > 0 {
				all = append(all, f)
			}
		}
		m := median(all)
		if _, err := fmt.Printf("%-22s %10.4f %10.4f %9.3f %9.1f %9s\n", w.name+" "+suffix, m.cpu.Seconds(), least(all).Seconds(), m.wall.Seconds(), m.rss, against(1.5, m)); err != nil {
			return err
		}
	}
	return nil
}
