package provider

import (
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// googlePictures replaces text with pictures: a line that consists only of the
// value of a variable that is a picture becomes a picture, as in promptfoo.
// Other text stays text, so that untrusted input cannot add a picture.
func googlePictures(contents []any, vars *value.Object) {
	known := picturesIn(vars)
	if len(known) == 0 {
		return
	}
	for i, c := range contents {
		o := object(c)
		var parts []any
		changed := false
		for _, p := range list(o.At("parts")) {
			text, ok := object(p).At("text").(string)
			split := splitPictures(text, known)
			if !ok || split == nil {
				parts = append(parts, p)
				continue
			}
			changed = true
			parts = append(parts, split...)
		}
		if changed {
			o = o.Clone() // it may be a part of the prompt
			o.Set("parts", parts)
			contents[i] = o
		}
	}
}

// picturesRead lists the variables that become pictures in a prompt, for the
// cache key: the same prompt without these variables is a different request.
func picturesRead(ask *proviso.Ask) string {
	var used []string
	for text := range picturesIn(ask.Vars) {
		if strings.Contains(ask.Prompt, text) {
			used = append(used, text)
		}
	}
	slices.Sort(used)
	return strings.Join(used, "\n")
}

// picturesIn finds the variables that are pictures: data URLs, or base64 of a
// JPEG or a PNG.
func picturesIn(vars *value.Object) map[string]*image {
	var known map[string]*image
	for _, v := range vars.All() {
		text, _ := v.(string)
		var p *image
		switch {
		case strings.HasPrefix(text, "data:image/"):
			p = imageOf(text)
		case strings.HasPrefix(text, "iVBORw0KGgo"):
			p = &image{mediaType: "image/png", data: text}
		case strings.HasPrefix(text, "/9j/"):
			p = &image{mediaType: "image/jpeg", data: text}
		}
		if p == nil || p.data == "" || !isBase64(p.data) {
			continue
		}
		if known == nil {
			known = map[string]*image{}
		}
		known[text] = p
	}
	return known
}

// isBase64 reports whether a text is long enough for a picture and is valid
// base64.
func isBase64(s string) bool {
	return len(s) >= 20 && strings.IndexFunc(strings.TrimRight(s, "="), func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '+' && c != '/'
	}) < 0
}

// splitPictures splits a text at the lines that are pictures; nil if there are
// none.
func splitPictures(text string, known map[string]*image) []any {
	var parts []any
	var lines []string
	found := false
	flush := func() {
		if text := strings.Join(lines, "\n"); text != "" {
			parts = append(parts, value.ObjectOf("text", text))
		}
		lines = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		p := known[value.TrimSpace(line)]
		if p == nil {
			lines = append(lines, line)
			continue
		}
		found = true
		flush()
		parts = append(parts, value.ObjectOf("inlineData", value.ObjectOf("mimeType", p.mediaType, "data", p.data)))
	}
	if !found {
		return nil
	}
	flush()
	return parts
}

// inlinedContents returns a copy of the contents in which pictures hold only
// their data.
func inlinedContents(contents []any) []any {
	out := make([]any, len(contents))
	for i, c := range contents {
		out[i] = c
		if o := object(c); o != nil && o.At("parts") != nil {
			o = o.Clone()
			if parts, ok := o.At("parts").([]any); ok {
				o.Set("parts", inlinedAll(parts))
			}
			out[i] = o
		}
	}
	return out
}

// inlinedAll applies [inlined] to all parts.
func inlinedAll(parts []any) []any {
	out := make([]any, len(parts))
	for i, p := range parts {
		if out[i] = p; object(p) != nil {
			out[i] = inlined(object(p))
		}
	}
	return out
}
