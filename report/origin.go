package report

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Revision is the repository state that a run was made from. Unknown fields are "".
type Revision struct {
	Commit      string `json:"commit,omitempty" doc:"In full"`
	Branch      string `json:"branch,omitempty"`
	Dirty       *bool  `json:"dirty,omitempty" doc:"Whether files differed from the commit; missing if it is not known"`
	PullRequest string `json:"pull_request,omitempty" doc:"Its number"`
	Base        bool   `json:"base,omitempty" doc:"Whether a gate ran this commit as the base of another run"`
}

// Hashes identify the parts of a run's input: SHA-256 in hexadecimal, "" if unknown.
type Hashes struct {
	Prompts string `json:"prompts,omitempty"`
	Suite   string `json:"suite,omitempty"`
	Judge   string `json:"judge,omitempty"`
	Cases   string `json:"cases,omitempty"`
}

// SetColumn adds the column of a stored row, as far as the row describes it.
func (m *Meta) SetColumn(row *value.Object) {
	i := integer(row, "promptIdx")
	if i < 0 || i >= maxColumns {
		return
	}
	for len(m.Columns) <= i {
		m.Columns = append(m.Columns, Column{})
	}
	if m.Columns[i].shared != nil {
		return
	}
	provider := row.Object("provider")
	m.Columns[i] = NewColumn(&proviso.Prompt{ID: row.Text("promptId"), Label: row.Object("prompt").Text("label")},
		&proviso.ProviderSpec{ID: provider.Text("id"), Label: provider.Text("label")})
}

// setOrigin adds the revision and the hashes to the metadata of a run file.
func (m *Meta) setOrigin(o *value.Object) {
	texts := func(pairs ...string) *value.Object {
		list := value.ObjectOf()
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i+1] != "" {
				list.Set(pairs[i], pairs[i+1])
			}
		}
		return list
	}
	r, h := &m.Revision, &m.Hashes
	revision := texts("commit", r.Commit, "branch", r.Branch, "pullRequest", r.PullRequest)
	if r.Dirty != nil {
		revision.Set("dirty", *r.Dirty)
	}
	if r.Base {
		revision.Set("base", true)
	}
	if revision.Len() > 0 {
		o.Set("revision", revision)
	}
	if hashes := texts("prompts", h.Prompts, "suite", h.Suite, "judge", h.Judge, "cases", h.Cases); hashes.Len() > 0 {
		o.Set("hashes", hashes)
	}
}

// OriginOf reads the revision and the hashes from [runfile.Header.Meta]. They are empty for
// runs of earlier versions.
func OriginOf(meta *value.Object) (Revision, Hashes) {
	o, h := meta.Object("revision"), meta.Object("hashes")
	r := Revision{Commit: o.Text("commit"), Branch: o.Text("branch"), PullRequest: o.Text("pullRequest")}
	if dirty, ok := o.At("dirty").(bool); ok {
		r.Dirty = &dirty
	}
	r.Base = o.At("base") == true
	return r, Hashes{Prompts: h.Text("prompts"), Suite: h.Text("suite"), Judge: h.Text("judge"), Cases: h.Text("cases")}
}
