package delta

import (
	"context"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/githistory"
)

// ReadGit reads the history of a file from the git repository around it, through renames.
// The notes are for the user. Mistakes are a [proviso.Mistakes].
func ReadGit(ctx context.Context, file string) (list []Version, notes []string, err error) {
	h, err := githistory.Of(ctx, file)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range h.Revisions {
		name := r.Subject
		if r.Commit != "" {
			name = strings.TrimSpace(r.Commit[:8] + " " + r.Subject)
		}
		versions, mistakes := ReadVersions(r.Path, r.Text)
		if err := mistakes.Err(); err != nil {
			return nil, h.Notes, err
		}
		for _, v := range versions {
			v.Name, v.Time = name, r.Time
			list = append(list, v)
		}
	}
	return list, h.Notes, nil
}

// OfSuite takes the prompts of a suite as versions, the oldest first. A prompt that code
// generates has no text, and is left out with a note.
func OfSuite(s *proviso.Suite) (list []Version, notes []string) {
	for i, p := range s.Prompts {
		name := p.Label
		if name == "" || name == p.Raw {
			name = fmt.Sprintf("prompt %d", i+1)
		}
		if p.Script != nil {
			notes = append(notes, name+" is written by code and left out")
			continue
		}
		ending := ".txt"
		if strings.HasPrefix(strings.TrimSpace(p.Raw), "[") {
			ending = ".json" // possibly a chat
		}
		versions, wrong := ReadVersions(name+ending, []byte(p.Raw))
		if wrong.Err() != nil || len(versions) != 1 {
			versions = []Version{{Text: p.Raw}}
		}
		versions[0].Name = name
		list = append(list, versions[0])
	}
	return list, notes
}
