package delta

import (
	"context"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/githistory"
)

// ReadGit reads the history of a file from the git repository around it, through renames,
// or of a part of the file ([ReadPart]); the part "" is the whole file. Commits in which
// the file does not have the part yet, or the part is as before, are no versions.
// The notes are for the user. Mistakes are a [proviso.Mistakes].
func ReadGit(ctx context.Context, file, part string) (list []Version, notes []string, err error) {
	h, err := githistory.Of(ctx, file)
	if err != nil {
		return nil, nil, err
	}
	var missing proviso.Mistakes // of the latest commit without the part
	without := 0
	for _, r := range h.Revisions {
		name := r.Subject
		if r.Commit != "" {
			name = strings.TrimSpace(r.Commit[:8] + " " + r.Subject)
		}
		versions, more, mistakes := ReadPart(r.Path, part, r.Text)
		h.Notes = append(h.Notes, more...)
		switch err := mistakes.Err(); {
		case err != nil && part != "":
			missing = mistakes
			without++
			continue
		case err != nil:
			return nil, h.Notes, err
		}
		for _, v := range versions {
			v.Name, v.Time = name, r.Time
			if n := len(list); part != "" && n > 0 && list[n-1].Text == v.Text {
				continue // the rest of the file changed
			}
			list = append(list, v)
		}
	}
	switch {
	case part != "" && len(list) == 0:
		return nil, h.Notes, missing
	case without > 0:
		h.Notes = append(h.Notes, fmt.Sprintf("%d of %d commits of %s do not have %s and are left out", without, len(h.Revisions), file, part))
	}
	return list, h.Notes, nil
}

// SplitPart splits FILE:NAME. A name of a file that exists, or that has no colon behind its
// ending, is whole. Exists reports whether there is a file.
func SplitPart(name string, exists func(string) bool) (file, part string) {
	i := strings.LastIndexByte(name, ':')
	if i < 2 || i == len(name)-1 || strings.ContainsAny(name[i:], `/\`) || exists(name) { // 1 is a drive of Windows
		return name, ""
	}
	return name[:i], name[i+1:]
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
