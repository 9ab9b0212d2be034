package provider_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/provider"
)

// TestMistakesWithoutKeys: a message about a wrong id does not show the keys in it.
func TestMistakesWithoutKeys(t *testing.T) {
	t.Parallel()
	for _, id := range []string{
		"webhook:somebody:hunter2@h.example", "webhook:https://somebody:hunter2%zz@h.example", "webhook:ftp://somebody:hunter2@h.example/?key=hunter2",
		"webhok:https://somebody:hunter2@h.example/?key=hunter2",
	} {
		_, err := provider.Open(proviso.ProviderSpec{ID: id}, provider.Options{})
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "webho") {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// TestPublicIdentity: it equals the identity if there are no keys, and does not depend on the keys.
func TestPublicIdentity(t *testing.T) {
	t.Parallel()
	of := func(id, base string) string {
		o := provider.Options{Env: proviso.EnvMap{"OPENAI_BASE_URL": base}}
		spec := proviso.ProviderSpec{ID: id}
		got := provider.PublicIdentity(spec, o)
		if without := !strings.Contains(id+base, "hunter2"); (got == provider.Identity(spec, o)) != without {
			t.Errorf("%s, %s: equal to the identity: %v", id, base, !without)
		}
		return got
	}
	for _, equal := range [][2]string{
		{of("webhook:https://h.example/a", ""), of("webhook:https://somebody:hunter2@h.example/a?api_key=hunter2#x", "")},
		{of("openai:a", "https://h.example/v1"), of("openai:a", "https://hunter2@h.example/v1")},
		{of("exec:./a --key hunter2x -v", ""), of("exec:./a --key hunter2 -v", "")},
	} {
		if equal[0] != equal[1] {
			t.Errorf("keys make a difference: %q", equal)
		}
	}
	if of("webhook:https://h.example/a?b=c d", "") == of("webhook:https://h.example/a?b=e", "") || of("python:monkey.py:a", "") == of("python:monkey.py:b", "") || of("exec: a  b", "") == of("exec: a c", "") {
		t.Error("what is no key makes no difference")
	}
}
