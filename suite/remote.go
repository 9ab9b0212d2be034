package suite

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/dataset"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// remoteStreams returns the cases of a remote reference. The caller of Read fetches
// them; this package reads only the copy.
func (r *reading) remoteStreams(doc *document.Document, pointer, ref, prefix string) []stream {
	host := dataset.Host(ref)
	switch {
	case prefix == "http://" && host == "":
		r.mistake(doc, pointer, proviso.Invalid, nil, "cases cannot be fetched over http, where anyone can change them; use https://")
		return nil
	case host == "" || r.options.Fetch == nil:
		r.unsupported(doc, pointer, "cases from %s… are not supported; save them as a CSV or JSON Lines file", prefix)
		return nil
	case r.trust != nil && (r.trust.Host == nil || !r.trust.Host(host)):
		r.refuse(doc, pointer, "%s", hostRefused(host))
		return nil
	}
	shown := dataset.Show(ref)
	name, err := r.options.Fetch(ref, r.env)
	switch {
	case errors.Is(err, dataset.ErrNoCopy):
		r.unseen++
		r.warn(doc, pointer, "the cases of %s were not checked: this command does not use the network, and there is no local copy", shown)
		return nil
	case err != nil:
		m := mistakeOf(err)
		m.Message = "the cases of " + shown + " cannot be fetched: " + m.Message
		r.record(doc, pointer, m, nil)
		return nil
	}
	files := NewFiles(filepath.Dir(name), FilesOptions{Confine: true})
	files.shown = shown
	f := &caseFile{files: files, name: filepath.Base(name), convert: Cells(r.options.Facts.Types).member, rowTitles: !strings.HasPrefix(ref, dataset.Prefix)}
	if ext := filepath.Ext(name); ext != ".jsonl" {
		return []stream{{remote: true, each: r.csvCases(f, ext)}}
	}
	return []stream{{remote: true, each: r.jsonLines(f)}}
}

// enter sets whether the following cases came over the network. They are restricted
// like those of an untrusted suite: they cannot run code, read files, use environment
// variables or name hosts.
func (p *pass) enter(remote bool) {
	if p.remote = remote; !remote {
		p.trust = p.source.trust
		return
	}
	p.trust = &Trust{}
}

// guardCase reports what an untrusted case must not contain. Variables from the
// network are never templates, so they cannot read the environment.
func (p *pass) guardCase(at string, o *value.Object, own *ownParts) {
	if p.remote {
		p.guard().testCase(at, withoutKeys(o, "vars"), &ownParts{}, proviso.EnvMap{})
		return
	}
	p.guard().testCase(at, o, own, p.source.env)
}

// refuseFiles reports references to files in a case from the network, and returns
// whether there are any. Variables of such a case are data, regardless of their
// content.
func (p *pass) refuseFiles(at string, o *value.Object) bool {
	before := p.Failed
	p.Failed = false
	for key, v := range o.All() {
		_, data := v.(*value.Object)
		switch {
		case key != "vars":
			p.refuseFile(document.Join(at, key), v)
		case v != nil && !data:
			p.fail(&proviso.Error{Code: proviso.Refused, Pointer: at + "/vars", Message: fileRefused})
		}
	}
	refused := p.Failed
	p.Failed = before || refused
	return refused
}

const fileRefused = "a remote case must not name a file"

func (p *pass) refuseFile(at string, v any) {
	for at, text := range document.Texts(at, v) {
		if isReference(text) || strings.Contains(text, "file://") {
			p.fail(&proviso.Error{Code: proviso.Refused, Pointer: at, Message: fileRefused})
		}
	}
}
