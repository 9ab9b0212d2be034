package exported

import (
	"errors"
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// isLangSmithCommit recognises a commit of LangSmith's hub: GET /commits/{owner}/{repo},
// and GET /commits/{owner}/{repo}/{commit}.
func isLangSmithCommit(o *value.Object) bool {
	return o.Text("commit_hash") != "" && (o.Has("manifest") || o.Has("manifest_id") || o.Has("repo_id"))
}

func versionOfLangSmith(o *value.Object) (Version, error) {
	text, ok := PromptText(o.At("manifest"))
	if !ok {
		return Version{}, errors.New("the commit " + o.Text("commit_hash") + " has no manifest with a prompt")
	}
	hash := o.Text("commit_hash")
	v := Version{Prompt: strings.TrimSuffix(o.Text("full_name"), ":"+hash), Name: hash, Text: text, Time: timeOf(o, "created_at", "updated_at")}
	return v, nil
}
