package rules

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/spade/delta"
)

// standing is the context of a sentence in its prompt: what the headings, tags and lines above
// say about it.
type standing struct {
	role
	under string // words above it that are not neutral
	after string // words after it that take something back
	near  string // words in or near it that narrow it
}

// role is the effect of the words above a list or a section on its content.
type role uint8

const (
	plainRole     role = iota // rules, requirements and the like
	forbiddenRole             // forbidden things
	unreadRole                // a condition, a permission, a part of the output, or unknown
	commentRole               // inside a comment
)

// standings returns the contexts of a prompt's sentences by key. A sentence that occurs in
// different contexts is unread.
func standings(prompt string) map[string]standing {
	w := &walk{prompt: prompt, units: delta.Split(prompt), found: map[string]standing{}, roles: map[string]role{}}
	w.around = surroundingsOf(w.units)
	for i := range w.units {
		w.unit(i)
	}
	return w.found
}

// Apart returns the keys of a prompt's sentences that apply only sometimes, or are under words
// that forbid, allow or narrow them, or that the rules do not understand.
func Apart(prompt string) map[string]bool {
	apart := map[string]bool{}
	for key, s := range standings(prompt) {
		if s.role != plainRole || s.after != "" || s.near != "" {
			apart[key] = true
		}
	}
	return apart
}

// level is a heading, a tag or an item above a sentence.
type level struct {
	depth int
	text  string
}

// walk reads a prompt from start to end.
type walk struct {
	prompt         string
	units          []delta.Unit
	headings, tags []level
	items          []level // the last item and the items above it
	lead           string  // lead-in of the following list or lines; "" for none
	listed         bool    // the lead-in has items
	around         surroundings
	found          map[string]standing
	roles          map[string]role // roles of words already read
	comment        int             // end of the last comment that starts before the last sentence
	searched       int             // comments were searched up to here
}

// roleOf reads the words above a sentence, with a cache.
func (w *walk) roleOf(text string) role {
	r, ok := w.roles[text]
	if !ok {
		r = roleOf(text)
		w.roles[text] = r
	}
	return r
}

// inComment reports whether an offset is in a comment. Offsets must ascend from call to call.
func (w *walk) inComment(at int) bool {
	for w.comment <= at {
		i := strings.Index(w.prompt[w.searched:at], "<!--")
		if i < 0 {
			w.searched = max(w.searched, at-3)
			return false
		}
		start := w.searched + i
		end := strings.Index(w.prompt[start:], "-->")
		if end < 0 {
			w.comment = len(w.prompt) + 1
			return true
		}
		w.comment = start + end
		w.searched = w.comment
	}
	return true
}

func (w *walk) unit(i int) {
	u := &w.units[i]
	gap := 0 // line breaks before the unit
	if i > 0 {
		gap = strings.Count(w.prompt[w.units[i-1].End:u.Start], "\n")
	}
	switch u.Part {
	case delta.Heading:
		w.items, w.lead = nil, ""
		w.heading(u)
	case delta.Markup:
		w.items = nil
		w.tag(u.Text)
	case delta.Sentence:
		if bracketed.Get().MatchString(u.Text) { // a heading with another marker
			w.items, w.lead = nil, ""
			w.headings = append(w.headings[:0:0], level{2, strings.Trim(u.Text, "[]")})
			return
		}
		w.sentence(i, gap)
	default:
		w.items, w.lead = nil, ""
	}
}

// heading enters a section. A table header starts none.
func (w *walk) heading(u *delta.Unit) {
	if strings.Contains(u.Text, "|") {
		return
	}
	depth := len(u.Text) - len(strings.TrimLeft(u.Text, "#"))
	if depth == 0 {
		depth = 1
	}
	for n := len(w.headings); n > 0 && w.headings[n-1].depth >= depth; n-- {
		w.headings = w.headings[:n-1]
	}
	w.headings = append(w.headings, level{depth, u.Text})
}

// tag enters or leaves a tag, which governs its content.
func (w *walk) tag(text string) {
	name, closing := strings.CutPrefix(strings.TrimPrefix(text, "<"), "/")
	if !strings.HasPrefix(text, "<") {
		if strings.HasPrefix(text, "{") {
			return
		}
		w.lead = ""
		return
	}
	attributes := strings.Contains(name, "=")
	if end := strings.IndexAny(name, " \t>/"); end > 0 {
		name = name[:end]
	}
	w.lead = ""
	switch {
	case closing:
		for n := len(w.tags) - 1; n >= 0; n-- {
			if w.tags[n].text == name {
				w.tags = w.tags[:n]
				break
			}
		}
	case !strings.HasSuffix(strings.TrimSpace(text), "/>"):
		depth := 0
		if attributes {
			depth = 1 // the attributes restrict it to someone or something
		}
		w.tags = append(w.tags, level{depth, name})
	}
}

// sentence finds what governs a sentence, an item or a line.
func (w *walk) sentence(i, gap int) {
	u := &w.units[i]
	marker := delta.MarkerLength(u.Text)
	if i > 0 && gap == 0 && w.units[i-1].Part == delta.Sentence { // on the same line as the previous sentence
		w.keep(i)
		return
	}
	column := w.column(u)
	if marker > 0 {
		for n := len(w.items); n > 0 && w.items[n-1].depth >= column; n-- {
			w.items = w.items[:n-1]
		}
		w.listed = true
		w.keep(i)
		w.items = append(w.items, level{column, u.Text[marker:]})
		return
	}
	inItem := len(w.items) > 0 && column > w.items[len(w.items)-1].depth
	if !inItem {
		w.items = nil
		if gap > 1 && w.lead != "" && (w.listed || roleOf(w.lead) != forbiddenRole) || w.listed && gap > 0 {
			w.lead = ""
		}
	}
	if w.leads(i) {
		w.lead, w.listed = u.Text, false
		return
	}
	w.keep(i)
}

// column returns where a sentence starts in its line, in bytes.
func (w *walk) column(u *delta.Unit) int {
	return u.Start - 1 - strings.LastIndexByte(w.prompt[:u.Start], '\n')
}

// leads reports whether a line introduces the following text: it ends with a colon, or ends
// without punctuation before an item, or refers to the following text.
func (w *walk) leads(i int) bool {
	text := strings.TrimRight(w.units[i].Text, " *_")
	if strings.HasSuffix(text, ":") {
		return true
	}
	if i+1 == len(w.units) || delta.MarkerLength(w.units[i+1].Text) == 0 || w.units[i+1].Part != delta.Sentence {
		return strings.HasSuffix(strings.TrimSpace(w.units[i].Text), "**") && roleOf(text) == forbiddenRole
	}
	return !strings.ContainsAny(text[max(0, len(text)-1):], ".!?") || pointing.Get().MatchString(text)
}

// pointing matches a sentence that refers to the following text.
var pointing = pattern.Of(`(?i)\b(?:following|these|below|this|things|folgende\w*|diese\w*|suivant\w*|siguiente\w*|seguent\w*|seguinte\w*|volgende)\b`)

// keep records the context of a sentence.
func (w *walk) keep(i int) {
	u := &w.units[i]
	var s standing
	add := func(text string) {
		r := w.roleOf(text)
		switch {
		case r == plainRole:
		case s.role == plainRole:
			s.role, s.under = r, text
		default:
			s.role, s.under = unreadRole, s.under+" … "+text
		}
	}
	for n, h := range w.headings {
		if n == 0 && h.depth == 1 && w.roleOf(h.text) == unreadRole && !hinders.Get().MatchString(h.text) {
			continue // the title of the prompt
		}
		add(h.text)
	}
	for _, t := range w.tags {
		if t.depth > 0 {
			s.role, s.under = unreadRole, t.text
		}
		add(strings.NewReplacer("_", " ", "-", " ").Replace(t.text))
	}
	if w.lead != "" {
		add(w.lead)
	}
	for _, item := range w.items {
		if delta.MarkerLength(u.Text) == 0 && item.text != "" && strings.HasPrefix(u.Text, item.text) {
			continue
		}
		if item == w.items[len(w.items)-1] && delta.MarkerLength(u.Text) == 0 && !strings.HasSuffix(strings.TrimRight(item.text, "*_ "), ":") {
			continue // a further sentence of the item
		}
		add(item.text)
	}
	if w.inComment(u.Start) {
		s.role = commentRole
	}
	if i+1 < len(w.units) && w.units[i+1].Part == delta.Sentence {
		next := &w.units[i+1]
		nested := w.column(next) > w.column(u) && delta.MarkerLength(next.Text) > 0
		if takesBack.Get().MatchString(next.Text) || nested && turns.Get().MatchString(next.Text) || narrows.Get().MatchString(next.Text) && (nested || numeral.Get().MatchString(next.Text)) {
			s.after = next.Text
		}
	}
	gap := 0
	if i > 0 {
		gap = strings.Count(w.prompt[w.units[i-1].End:u.Start], "\n")
	}
	s.near = w.around.narrowed(w.units, i, gap)
	if old, twice := w.found[u.Key]; twice && old.role != s.role {
		s.role = max(unreadRole, old.role, s.role)
	} else if twice {
		s.after, s.near = cmp.Or(s.after, old.after), cmp.Or(s.near, old.near)
	}
	w.found[u.Key] = s
}

// takesBack matches a sentence or item that says when the previous one does not apply. narrows
// matches one that may say so, if it is nested below the previous one or has a number.
var (
	takesBack = pattern.Of(`(?i)^[-*+•\s\d.)(]*(?:except|unless|exceptions?\b|only (?:for|in|if|when|where|with)\b|but (?:not|only)\b|however|save for|apart from|other than|not (?:for|in|if|when)\b|(?:this|that) (?:rule )?(?:does not|only)|außer|ausgenommen|ausnahme|es sei denn|nur (?:in|bei|für)\b|sauf|excepté|hormis|seulement (?:pour|dans|si)\b|salvo|excepto|menos en|solo (?:en|si|para)\b|tranne|eccetto|exceto|behalve|tenzij)`)
	narrows   = pattern.Of(`(?i)^[-*+•\s\d.)(]*(?:if|when|for|in|where|wenn|falls|bei|für|si|pour|para|se|per|als|voor)\b`)
	turns     = pattern.Of(`(?i)^[-*+•\s\d.)(]*(?:never|not|no|only|nie|nicht|nur|jamais|pas|nunca|no|solo|mai|non|nooit|niet)\b`)
	numeral   = pattern.Of(`(?i)\d|\b(?:` + wordsPart + `)\b`)
)

var bracketed = pattern.Of(`^\[[^\]\n]{1,60}\]$`)

var hinders = pattern.Of(`(?i)\b(?:not|never|no|don['’]?ts?|avoid\w*|forbid\w*|forbidden|prohibit\w*|bann?ed|without|if|when|unless|only|for|may|can|optional\w*|bad|wrong|except\w*|examples?|nicht|nie|kein\w*|verboten|vermeide\w*|wenn|ne|pas|jamais|évite\w*|interdit\w*|si|no|nunca|evita\w*|prohibid\w*|non|mai|não|niet|nooit|geen)\b|❌|🚫|✗`)

// roles are the patterns for the words above a list or a section.
type roles struct{ plain, forbidden *regexp.Regexp }

var roleWords = sync.OnceValue(func() roles {
	kind := `(?:rules?|requirements?|guidelines?|instructions?|constraints?|formats?|formatting|styles?|tone|voice|length|structure|outputs?|answers?|responses?|repl(?:y|ies)|language|notes?|important|tasks?|goals?|objectives?|steps?|process|workflow|content|forms?|limits?|polic(?:y|ies)|standards?|expectations?|criteria|conventions?|role|context|background|identity|persona|personality|purpose|overview|wording|writing|behaviou?r|conduct|reminders?|directives?|principles?|quality|basics|general|communication|system|prompt|job|mission|do|do's|dos|always|must|must do|musts?|required|mandatory|remember|specifications?|checklist|do this|how to (?:answer|respond|reply|write)|what to do)`
	about := `(?: (?:for|of|to|about|on|in) (?:(?:the|your|all|every|each|an?|any|our|this) )*(?:answers?|responses?|repl(?:y|ies)|outputs?|assistant|bot|model|follow|messages?|task|writing|e-?mails?))?`
	subject := `(?:(?:you|it|we|(?:the|your|every|each|all) (?:final )?(?:answers?|responses?|repl(?:y|ies)|outputs?|messages?|assistant|bot|model)) )`
	plain := []string{
		`(?:(?:the|your|our|my|here|are|is|general|basic|important|additional|more|other|some|key|strict|main|following|these|core|final|hard|global|style|and|&|,|/|tone|format|output|response|answer|writing|communication|formatting|language|content|length|please|specific|critical|overall) )*` + kind + about,
		`(?:please )?(?:always )?(?:follow|obey|observe|respect|apply|adhere to|stick to|comply with|keep to)(?: (?:all|each|of|the|these|following|below|strict))* (?:rules|guidelines|instructions|requirements|constraints|steps|conventions|principles|standards)(?: (?:below|strictly|carefully|exactly|at all times))?`,
		subject + `(?:must|should|shall|has to|have to|needs to|need to|will)(?: always)?`, `always`, `(?:please )?(?:make sure|be sure|ensure|remember)(?: (?:that|to))?(?: you)?`,
		`when (?:you )?(?:answer|answering|respond|responding|reply|replying|write|writing)(?: (?:the|your|a|an) (?:answer|response|reply|message|question))?`,
		`(?:regeln|anforderungen|vorgaben|anweisungen|format|stil|ton|länge|aufgabe|aufgaben|wichtig|hinweise|richtlinien|immer|ausgabe|antwort|antworten|sprache|rolle|kontext)`,
		`(?:(?:les|le|la|l'|tes|vos) )?(?:règles|consignes|exigences|instructions|contraintes|format|style|ton|longueur|tâche|important|toujours|réponse|rôle|contexte|langue)`,
		`(?:(?:las|los|el|la|tus|sus) )?(?:reglas|instrucciones|requisitos|normas|formato|estilo|tono|longitud|tarea|importante|siempre|respuesta|rol|contexto|idioma)`,
		`(?:(?:le|i|il|la|o|os|as|de|het) )?(?:regole|istruzioni|requisiti|formato|stile|tono|lunghezza|compito|importante|sempre|regras|instruções|requisitos|estilo|tom|tarefa|regels|instructies|vereisten|stijl|toon|lengte|taak|belangrijk|altijd)`,
	}
	lists := `(?: ?(?:the following|any of the following|these|these things|the following things|any of these|such things|following|this|that|to|do|do this|do any of the following|do the following|do any of these|the following words|the following phrases))?`
	forbidden := []string{
		`(?:please )?(?:do not|never|must not|should not|may not|can not|shall not|avoid|refrain from|not|never ever)` + lists,
		subject + `(?:must not|should not|may not|can not|shall not|do not|does not|must never|should never|never|will not|will never|must avoid|should avoid|are not allowed to|is not allowed to)` + lists,
		`(?:strictly |absolutely )?(?:forbidden|prohibited|not allowed|banned|disallowed|not permitted)(?: (?:words?|phrases?|terms?|things|content|expressions?|topics?))?`,
		`(?:words?|phrases?|terms?|things|expressions?) (?:to avoid|you must not use|that are (?:forbidden|not allowed|banned)|not to (?:use|say)|you must never use)`,
		`(?:it is |what is )?(?:strictly )?(?:forbidden|prohibited|not allowed)(?: to)?`, `don'?ts`, `do nots`, `donts?`, `don't`, `(?:things|what) (?:to avoid|not to do|you must not do|you must never do|never to do)`, `no-?gos?`,
		`(?:things )?(?:the|you|this) ?(?:bot|assistant|model)? (?:never does|must never do|never do|must not do)`,
		`(?:nicht|niemals|nie|vermeide|vermeiden|verboten|verboten ist|nicht erlaubt|verbote|tabu|no-gos)`,
		`(?:à ne pas faire|ne jamais|ne pas|évite|évitez|à éviter|interdit|interdits|jamais)`, `(?:no hagas lo siguiente|nunca|evita|evite|prohibido|no)`, `(?:mai|evita|vietato|non|nunca|evite|proibido|nooit|vermijd|verboden|niet)`,
	}
	whole := func(list []string) *regexp.Regexp { return regexp.MustCompile(`^(?:` + strings.Join(list, `|`) + `)$`) }
	return roles{whole(plain), whole(forbidden)}
})

// roleOf reads the words above a list or a section. Unknown words are unread.
func roleOf(text string) role {
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.So, r) || strings.ContainsRune("#*_`<>\uFE0F✗✘", r) {
			return ' '
		}
		return r
	}, text[delta.MarkerLength(text):])
	text = strings.Trim(normal(strings.Trim(text, " :.!?–—-1234567890)")), " ,:.!–")
	text = strings.ReplaceAll(text, "' ", "'")
	words := roleWords()
	switch {
	case text == "":
		return plainRole
	case words.forbidden.MatchString(text):
		return forbiddenRole
	case words.plain.MatchString(text):
		return plainRole
	}
	return unreadRole
}

// forbiddenAs writes an item of a forbidding list as a sentence; "" if the rules do not know
// what kind of words it has.
func forbiddenAs(item string) string {
	item = strings.TrimSpace(strings.TrimRight(item, " .;!,"))
	first := strings.ToLower(strings.TrimRight(firstField(item), ",:"))
	switch {
	case item == "" || negatesItself.Get().MatchString(item):
		return ""
	case slices.Contains(itemVerbs(), first):
		return "Do not " + strings.ToLower(item[:1]) + item[1:] + "."
	case strings.HasSuffix(first, "ing") || strings.Contains(item, ":"):
		return ""
	}
	return "Avoid " + item + "."
}

func firstField(text string) string {
	if f := strings.Fields(text); len(f) > 0 {
		return f[0]
	}
	return ""
}

var (
	negatesItself = pattern.Of(`(?i)\b(?:not|never|no|avoid\w*|without|refrain\w*|omit\w*|\w+n['’]t|kein\w*|nicht|nie|ne|pas|jamais|sans|nunca|sin|don['’]?t)\b`)
	itemVerbs     = sync.OnceValue(func() []string {
		return strings.Fields("use say write include mention exceed start begin end close finish ask answer respond reply return output add give provide produce print state contain open go put create generate send make list")
	})
)
