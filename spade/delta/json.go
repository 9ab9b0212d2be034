package delta

import (
	"bytes"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// changeJSON is a version with its changes in JSON. [ReadVersions] reads it too, so that one
// command can read another's output.
type changeJSON struct {
	Version    int         `json:"version"`
	Name       string      `json:"name"`
	Time       *time.Time  `json:"time,omitempty"`
	Template   string      `json:"template"`
	Categories []string    `json:"categories,omitempty"`
	Groups     *groupsJSON `json:"groups,omitempty"`
	Error      string      `json:"error,omitempty"` // why there are no categories
	Changes    []deltaJSON `json:"changes"`
}

// groupsJSON holds the categories of a version by taxonomy group.
type groupsJSON struct {
	Structural []string `json:"structural"`
	Content    []string `json:"content"`
}

type deltaJSON struct {
	Change    string `json:"change"` // added, removed or moved
	Text      string `json:"text"`
	Line      int    `json:"line"`
	Part      string `json:"part,omitempty"` // heading, code, example or markup
	From      int    `json:"from,omitempty"`
	Former    string `json:"former,omitempty"`
	Condition string `json:"condition,omitempty"`
	When      string `json:"when,omitempty"`
	Category  string `json:"category,omitempty"`
	Group     string `json:"group,omitempty"`
}

// Kind returns added, removed or moved.
func Kind(d proviso.Delta) string {
	switch {
	case d.Moved:
		return "moved"
	case d.Added:
		return "added"
	}
	return "removed"
}

func (c *Change) plain() changeJSON {
	j := changeJSON{Version: c.Number, Name: c.Name, Template: c.Text, Changes: make([]deltaJSON, len(c.Deltas))}
	if !c.Time.IsZero() {
		j.Time = &c.Time
	}
	for i, d := range c.Deltas {
		j.Changes[i] = deltaJSON{Change: Kind(d), Text: d.Text, Line: d.Line, Part: d.Part, From: d.From, Former: d.Former, Condition: d.Condition, When: d.When}
	}
	return j
}

// Classes are the categories that a model gave the changes of one version.
type Classes struct {
	Whole  []string // categories of the whole version, in the order of [Categories]
	Deltas []string // category of each delta; "" if the model was not asked
	Err    error    // why there is no answer
}

// classified is plain plus the model's classification of the version.
func (c *Change) classified(list []Classes, i int) changeJSON {
	j := c.plain()
	if i >= len(list) {
		return j
	}
	if j.Categories = list[i].Whole; len(j.Categories) > 0 {
		j.Groups = &groupsJSON{append([]string{}, InGroup(j.Categories, Structural)...), append([]string{}, InGroup(j.Categories, Content)...)}
	}
	if list[i].Err != nil {
		j.Error = list[i].Err.Error()
	}
	for k, category := range list[i].Deltas {
		j.Changes[k].Category, j.Changes[k].Group = category, GroupOf(category)
	}
	return j
}

// JSON returns the history as one indented JSON object, with the categories in list, if any.
func (h *History) JSON(list []Classes) ([]byte, error) {
	out := struct {
		Versions []changeJSON `json:"versions"`
		Skipped  []Skip       `json:"skipped"`
	}{make([]changeJSON, len(h.Changes)), append([]Skip{}, h.Skipped...)}
	for i := range h.Changes {
		out.Versions[i] = h.Changes[i].classified(list, i)
	}
	return value.EncodeJSON(out, "  ")
}

// JSONL returns the versions of the history, one per line, with their categories as in
// [History.JSON].
func (h *History) JSONL(list []Classes) ([]byte, error) {
	var b bytes.Buffer
	for i := range h.Changes {
		line, err := value.EncodeJSON(h.Changes[i].classified(list, i), "")
		if err != nil {
			return nil, err
		}
		b.Write(line)
	}
	return b.Bytes(), nil
}
