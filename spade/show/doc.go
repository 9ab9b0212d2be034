// Package show renders the results of spade's steps: as text for a terminal, as Markdown
// and as SVG. Untrusted text is escaped for where it is shown.
package show
