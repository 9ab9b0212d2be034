package suite

import (
	"path"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// maxVarCache limits the text of variable files that one pass keeps, in bytes.
const maxVarCache = 8 << 20

// binaryKinds are the files, except pictures, that promptfoo turns into base64 or
// extracts text from.
var binaryKinds = []string{
	".3gp", ".3gpp", ".aac", ".aif", ".aifc", ".aiff", ".avi", ".flac", ".flv", ".ico", ".m4a", ".m4v", ".mkv", ".mov", ".mp3", ".mp4",
	".mpeg", ".mpg", ".ogg", ".opus", ".pdf", ".wav", ".webm", ".wma", ".wmv", ".xls", ".xlsx",
}

// fileVars replaces each variable that refers to a file by the content of the file.
// Variables that code computes keep their reference and are listed in the case. If no
// variable refers to a file, it returns vars itself.
func (p *pass) fileVars(c *proviso.Case, vars *value.Object) *value.Object {
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

// unsupported reports an unsupported feature. If such cases are skipped, it is a
// warning and the case holds the reason why it cannot run.
func (p *pass) unsupported(c *proviso.Case, at, message string) {
	e := proviso.Errorf(proviso.Unsupported, "%s", message)
	e.Pointer, e.Warning = at, p.source.skipUnsupported
	c.Unsupported = message
	p.fail(e)
}

// varText returns the content of a file as a variable. It is cached for the following
// cases.
func (p *pass) varText(name string) (string, error) {
	if text, ok := p.varCache[name]; ok {
		return text, nil
	}
	text, err := p.readVar(name)
	if err != nil {
		return "", err
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

// readVar reads a file: a picture becomes a data URL, YAML becomes JSON text, and
// other text is trimmed.
func (p *pass) readVar(name string) (string, error) {
	switch ext := strings.ToLower(path.Ext(name)); {
	case pictureType(ext) != "" && !p.source.plainPictures:
		return p.pictureURL(name, ext)
	case ext == ".yaml" || ext == ".yml":
		d, err := p.source.load(name)
		if err != nil {
			return "", err
		}
		return value.Stringify(d.Root), nil
	}
	data, err := p.source.files.ReadFile(name)
	if err != nil {
		return "", err
	}
	return value.TrimSpace(strings.ToValidUTF8(string(data), "\ufffd")), nil
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
