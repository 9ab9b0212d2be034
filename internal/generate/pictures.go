package main

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
)

// pictures are the pictures of docs/gate.md. The packages that they explain compute them,
// so the pictures cannot contradict the code.
var pictures = []struct {
	file string
	draw func(root string) ([]byte, error)
}{
	{"docs/gate-pairs.svg", drawPairs},
	{"docs/gate-intervals.svg", drawIntervals},
	{"docs/gate-cases.svg", drawCases},
}

// writePictures writes the pictures, or compares them with the committed ones.
func writePictures(root string, check bool) error {
	var mistakes []error
	for _, p := range pictures {
		data, err := p.draw(root)
		name := filepath.Join(root, filepath.FromSlash(p.file))
		switch {
		case err != nil:
			err = fmt.Errorf("%s: %w", p.file, err)
		case check:
			err = compare(name, data)
		default:
			err = os.WriteFile(name, data, 0o644)
		}
		mistakes = append(mistakes, err)
	}
	return errors.Join(mistakes...)
}

// canvas is a picture under construction. A text's position is the start of its baseline,
// unless its class changes that.
type canvas struct{ bytes.Buffer }

// newCanvas starts a picture with its own background, because a picture in a page follows
// the colours of the browser and not those of the page.
func newCanvas(width, height int, label string) *canvas {
	c := &canvas{}
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s">
<style>
text{fill:#1f2328;font:14px system-ui,-apple-system,"Segoe UI",sans-serif}.h{font-weight:600}.s{fill:#59636e;font-size:13px}.m{text-anchor:middle}.e{text-anchor:end}
.p{fill:#fff;stroke:#d0d7de}.n{fill:#d8dee4}.g{fill:#1a7f37}.r{fill:#cf222e}.y{fill:#9a6700}.w{fill:none;stroke:#fff;stroke-width:1.6}
.a{stroke:#d0d7de}.d{stroke:#59636e;stroke-dasharray:4 4}.lg{stroke:#1a7f37}.lr{stroke:#cf222e}.ly{stroke:#9a6700}.k{fill:none;stroke-width:2.5}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.s{fill:#9198a1}.p{fill:#0d1117;stroke:#3d444d}.n{fill:#2f353d}.g{fill:#3fb950}.r{fill:#ff7b72}.y{fill:#d29922}.w{stroke:#0d1117}
.a{stroke:#3d444d}.d{stroke:#9198a1}.lg{stroke:#3fb950}.lr{stroke:#ff7b72}.ly{stroke:#d29922}}
</style>
<rect class="p" x="0.5" y="0.5" width="%d" height="%d" rx="8"/>
`, width, height, width, height, html.EscapeString(label), width-1, height-1)
	return c
}

func (c *canvas) text(class string, x, y float64, format string, args ...any) {
	fmt.Fprintf(c, "<text class=%q x=\"%g\" y=\"%g\">%s</text>\n", class, x, y, html.EscapeString(fmt.Sprintf(format, args...)))
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(c, "<path class=%q d=\"M%.5g %.5gL%.5g %.5g\"/>\n", class, x1, y1, x2, y2)
}

func (c *canvas) end() []byte { c.WriteString("</svg>\n"); return c.Bytes() }
