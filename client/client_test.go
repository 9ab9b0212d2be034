package client_test

import (
	"testing"

	"github.com/proviso-eval/proviso/client"
)

// TestRunAddress reads the addresses of runs.
func TestRunAddress(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"https://h/v1/runs/run_1":                   "https://h/v1/runs/run_1",
		"https://h/v1/runs/run_1/":                  "https://h/v1/runs/run_1",
		"https://h/v1/runs/run_1/file":              "https://h/v1/runs/run_1",
		"http://h:8/base/v1/runs/run_1?project=a#x": "http://h:8/base/v1/runs/run_1?project=a",
		"https://u:p@h/v1/runs/run_1":               "https://h/v1/runs/run_1",
		"https://h/runs/run_1":                      "https://h/v1/runs/run_1",
		"https://h/runs/run_1/?status=fail#row-3":   "https://h/v1/runs/run_1",
		"http://h:8/base/runs/run_1?project=a":      "http://h:8/base/v1/runs/run_1?project=a",
		"https://h/runs/":                           "",
		"https://h/v1/runs/":                        "",
		"https://h/v1/suites/x":                     "",
		"https://h/v1/runs/a/b":                     "",
		"https:///v1/runs/a":                        "",
		"https://h:x/v1/runs/a":                     "",
	} {
		u, err := client.RunAddress(name)
		if err != nil && want != "" || err == nil && u.String() != want {
			t.Errorf("%s: %v, %v", name, u, err)
		}
	}
}
