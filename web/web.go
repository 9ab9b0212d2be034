// Package web holds the built front end: the scripts and styles of the report and the
// app. Their sources are in src, in TypeScript; `make web` bundles them into dist, which
// is committed, so that building proviso needs no Node. Start at [Report] and [File].
package web

import (
	"embed"
	"io/fs"
	"path"
)

//go:embed dist
var dist embed.FS

// Report returns the script and the style that a report holds inline.
func Report() (script, style string) {
	return text("report.js"), text("report.css")
}

// File returns a built file of the app by its name, such as app.js.
func File(name string) ([]byte, bool) {
	if name != path.Base(name) {
		return nil, false
	}
	data, err := dist.ReadFile("dist/" + name)
	return data, err == nil
}

// Names returns the names of all built files.
func Names() []string {
	entries, _ := fs.ReadDir(dist, "dist") // the folder is embedded
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func text(name string) string {
	data, ok := File(name)
	if !ok {
		panic("web: " + name + " is not built") // the build would not have compiled without dist
	}
	return string(data)
}
