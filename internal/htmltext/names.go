package htmltext

import (
	"strings"
	"sync"
)

func setOf(names string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		set := map[string]bool{}
		for n := range strings.FieldsSeq(names) {
			set[n] = true
		}
		return set
	})
}

// commonTags are tags that rarely occur in other texts.
var commonTags = setOf(`html head body div span p a img h1 h2 h3 h4 h5 h6 ul ol li table tr td th
	form input button script style link meta br hr`)

// knownElements are the elements of HTML (the living standard's index, without
// html, head and body), and the roots of SVG and MathML.
var knownElements = setOf(`a abbr address area article aside audio b base bdi bdo blockquote br button
	canvas caption cite code col colgroup data datalist dd del details dfn dialog div dl dt em embed
	fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr i iframe img input ins kbd
	label legend li link main map mark math menu meta meter nav noscript object ol optgroup option
	output p param picture pre progress q rp rt ruby s samp script section select slot small source
	span strong style sub summary sup svg table tbody td template textarea tfoot th thead time title
	tr track u ul var video wbr`)
