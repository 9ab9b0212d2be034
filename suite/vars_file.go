package suite

import (
	"path"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
)

// maxVarCache bounds the text of variable files that one pass keeps, in bytes.
const maxVarCache = 8 << 20

// binaryKinds are the files that promptfoo turns into data URIs or extracts text
// from.
var binaryKinds = []string{
	".aac", ".avi", ".avif", ".bmp", ".flac", ".gif", ".ico", ".jpeg", ".jpg", ".m4a", ".mkv", ".mov", ".mp3", ".mp4",
	".ogg", ".pdf", ".png", ".svg", ".tif", ".tiff", ".wav", ".webm", ".webp", ".xls", ".xlsx",
}

// fileVars replaces each variable that refers to a file by what the file holds.
// Variables that code computes keep their reference and are listed in the case.
// It returns vars itself if none refers to a file.
func (p *pass) fileVars(c *proviso.Case, vars *proviso.Object) *proviso.Object {
	out := vars
	if p.source.literal || p.remote {
		return out
	}
	for key, v := range vars.All() {
		ref, ok := v.(string)
		if !ok || !isReference(ref) {
			continue
		}
		at := document.Join(c.Pointer+"/vars", key)
		file, entry := splitEntry(strings.TrimPrefix(ref, "file://"))
		switch ext := strings.ToLower(path.Ext(file)); {
		case strings.HasPrefix(ref, "package:"):
			p.unsupported(c, at, "variables from npm packages are not supported")
		case p.trust != nil && script(file):
			p.fail(&proviso.Error{Code: proviso.Refused, Pointer: at, Message: codeRefused("the variable " + quoteName(key))})
		case isJavaScript(file) || ext == ".py":
			if c.Scripts == nil {
				c.Scripts = map[string]*proviso.Generator{}
			}
			c.Scripts[key] = &proviso.Generator{File: p.source.files.Clean(file), Entry: entry, Pointer: at}
		case slices.Contains(binaryKinds, ext):
			p.unsupported(c, at, "variables from "+ext+" files are not supported")
		default:
			text, err := p.varText(strings.TrimPrefix(ref, "file://"))
			if err != nil {
				p.fileError(at, err)
				continue
			}
			if out == vars {
				out = vars.Clone()
			}
			out.Set(key, text)
		}
	}
	return out
}

func isReference(s string) bool {
	return strings.HasPrefix(s, "file://") || strings.HasPrefix(s, "package:")
}

// unsupported reports what proviso does not do; where such cases are skipped it
// is a warning and the case says why it cannot run.
func (p *pass) unsupported(c *proviso.Case, at, message string) {
	e := proviso.Errorf(proviso.Unsupported, "%s", message)
	e.Pointer, e.Warning = at, p.source.skipUnsupported
	c.Unsupported = message
	p.fail(e)
}

// varText returns a file's text without white space around it; YAML becomes JSON
// text.
func (p *pass) varText(name string) (string, error) {
	if text, ok := p.varCache[name]; ok {
		return text, nil
	}
	text := ""
	if ext := strings.ToLower(path.Ext(name)); ext == ".yaml" || ext == ".yml" {
		d, err := p.source.load(name)
		if err != nil {
			return "", err
		}
		text = proviso.Stringify(d.Root)
	} else {
		data, err := p.source.files.ReadFile(name)
		if err != nil {
			return "", err
		}
		text = proviso.TrimSpace(strings.ToValidUTF8(string(data), "\ufffd"))
	}
	if p.varBytes+len(text) <= maxVarCache {
		if p.varCache == nil {
			p.varCache = map[string]string{}
		}
		p.varCache[name] = text
		p.varBytes += len(text)
	}
	return text, nil
}

// splitEntry splits "file.js:name" into the file and the exported function.
func splitEntry(name string) (file, entry string) {
	i := strings.LastIndexByte(name, ':')
	if i < 0 {
		return name, ""
	}
	if file := name[:i]; isJavaScript(file) || strings.HasSuffix(file, ".py") {
		return file, name[i+1:]
	}
	return name, ""
}
