package provider

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
)

// TestNamesInPaths: the name of a model cannot lead to another path of its vendor.
func TestNamesInPaths(t *testing.T) {
	t.Parallel()
	env := proviso.EnvMap{"GOOGLE_API_KEY": "k", "AZURE_API_KEY": "k", "AZURE_API_HOST": "x.openai.azure.com", "REPLICATE_API_TOKEN": "k", "HF_TOKEN": "k",
		"AWS_BEARER_TOKEN_BEDROCK": "k", "VERTEX_API_KEY": "k"}
	for _, kind := range []string{"google:", "google:embedding:", "vertex:", "bedrock:", "bedrock:converse:", "azure:chat:", "azure:embedding:",
		"azure:responses:", "replicate:", "huggingface:text-classification:"} {
		for _, name := range []string{"../../../x", "..", "a/../b", "a/./b", "a//b", "a?b=c", "a#b", "a%2e%2e", `a\..\b`, "a\nb"} {
			_, err := Open(proviso.ProviderSpec{ID: kind + name}, Options{Env: env})
			if err == nil || !strings.Contains(err.Error(), "is not the name of a model") {
				t.Errorf("%q: %v", kind+name, err)
			}
		}
		name := "owner.x/model-1.5_b"
		if _, err := Open(proviso.ProviderSpec{ID: kind + name}, Options{Env: env}); err != nil && strings.Contains(err.Error(), "is not the name") {
			t.Errorf("%q: %v", kind+name, err)
		}
	}
}
