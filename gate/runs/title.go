package runs

import (
	"strings"

	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// Limits of a case title.
const (
	titleVars  = 3   // variables
	titleRunes = 100 // runes in total
	titleValue = 40  // runes per variable
	titleBytes = 4 << 10
)

// title returns the display title of a case without an id: its description, otherwise its
// first variables. Rows of the same case share it.
func (d *reader) title(id string, description []byte) string {
	if title, ok := d.titles[id]; ok {
		return title
	}
	title := excerpt.Line(textOf(description), titleRunes)
	if title == "" {
		var list []string
		for _, v := range d.few {
			if text := excerpt.Line(textOf(v.value), titleValue); text != "" {
				list = append(list, excerpt.Line(string(v.key), titleValue)+"="+text)
			}
		}
		title = excerpt.Line(strings.Join(list, ", "), titleRunes)
	}
	d.titles[id] = title
	return title
}

// textOf returns a JSON value as text; "" if it is null, missing or too long for a title.
func textOf(raw []byte) string {
	if len(raw) == 0 || len(raw) > titleBytes {
		return ""
	}
	v, err := value.ParseJSON(string(raw))
	if err != nil || v == nil {
		return ""
	}
	if text, ok := v.(string); ok {
		return text
	}
	return value.Stringify(v)
}
