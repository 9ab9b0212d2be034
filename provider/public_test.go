package provider_test

import (
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/provider"
)

// TestPublic: provider ids are shown without possible secrets.
func TestPublic(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"openai:chat:gpt-5":                      "openai:chat:gpt-5",
		"vertex:claude@20260101":                 "vertex:claude@20260101",
		"echo":                                   "echo",
		"http":                                   "http",
		"x:y":                                    "x:y",
		"":                                       "",
		"webhook:https://u:pw@h.example/p?a=1#f": "webhook:https://h.example/p",
		"webhook:https://h.example/a%2Fb?":       "webhook:https://h.example/a%2Fb",
		"webhook:https://u:p%w@h.example/p":      "webhook:",
		"webhook:u:pw@h.example":                 "webhook:",
		"https://u:pw@h.example/p?key=x":         "https://h.example/p",
		"webhok:https://u:pw@h.example/p?key=x":  "webhok:https://h.example/p",
		"exec: ./bin/judge --token x":            "exec:judge",
		`exec:"/opt/my judge/run.sh" x`:          "exec:run.sh",
		`exec:C:\bin\judge.exe x`:                "exec:judge.exe",
		"exec:":                                  "exec:",
		"exec:curl https://u:pw@h.example":       "exec:curl",
		"python:/srv/judge.py:grade":             "python:judge.py:grade",
		"file:///srv/judge.js":                   "file:judge.js",
	} {
		if got := provider.Facts().Public(id); got != want {
			t.Errorf("Public(%q) = %q, want %q", id, got, want)
		}
	}
	if got := proviso.Providers(nil).Public("webhook:https://u:pw@h.example/p?a=1"); got != "webhook:https://h.example/p" {
		t.Errorf("without a table: %q", got)
	}
}
