package notify

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// Targets are the places to which a server can report alarms, by name, such as
// slack:oncall.
type Targets struct {
	byName map[string]*target
}

// target is one entry of the targets file.
type target struct {
	open       opener
	urlEnv     string // variable that holds the address
	secretEnv  string // variable that holds the signing secret
	tokenEnv   string // variable that holds the token
	repository string // owner/name
	api        string // base address of GitHub's API
	labels     []string
	quiet      quietHours
	hosts      []string // set by open
}

// targetKind is a row of the table of target kinds.
type targetKind struct {
	name string
	need []string // required keys
	may  []string
	open opener
}

// opener prepares a target for sending.
type opener func(t *target, o Options, c *http.Client, now func() time.Time) (sender, error)

var targetKinds = []targetKind{
	{"webhook", []string{"url_env", "secret_env"}, nil, openWebhook},
	{"slack", []string{"url_env"}, nil, openSlack},
	{"github", []string{"repository", "token_env"}, []string{"api", "labels"}, openIssues},
}

// address reads a target's address from the environment. It is a secret and appears in no
// message.
func (t *target) address(env proviso.Env) (*url.URL, error) {
	text, err := variable(env, t.urlEnv)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return nil, proviso.Errorf(proviso.Invalid, "the variable %s holds no address that begins with https://", t.urlEnv)
	}
	t.hosts = []string{strings.ToLower(u.Hostname())}
	return u, nil
}

// variable reads a required environment variable.
func variable(env proviso.Env, name string) (string, error) {
	if env != nil {
		if text, ok := env.Lookup(name); ok && strings.TrimSpace(text) != "" {
			return strings.TrimSpace(text), nil
		}
	}
	return "", proviso.UnsetVariable(name)
}

// Names returns the names of all targets, sorted.
func (t *Targets) Names() []string {
	if t == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(t.byName))
}

// Allows reports whether a host belongs to a target; the transport uses it. No host is
// allowed before [Open].
func (t *Targets) Allows(host string) bool {
	for _, one := range t.byName {
		if slices.Contains(one.hosts, host) {
			return true
		}
	}
	return false
}

// maxTargets limits the entries of the targets file.
const maxTargets = 100

// Read reads a targets file in YAML or JSON. Every mistake has its place.
func Read(file string, data []byte) (*Targets, error) {
	doc, err := document.Parse(file, data)
	if err != nil {
		return nil, proviso.Errorf(proviso.Invalid, "%w", err)
	}
	r := reader{doc: doc}
	o, ok := doc.Root.(*value.Object)
	if !ok {
		r.wrong("", "a file of targets is an object: name → kind and the rest")
	}
	t := &Targets{byName: map[string]*target{}}
	if o.Len() > maxTargets {
		r.wrong("", "there are %d targets, more than %d", o.Len(), maxTargets)
		o = nil
	}
	for name, v := range o.All() {
		at := document.Join("", name)
		if !tidyName(name) {
			r.wrong(at, "the name of a target has 1 to 100 letters, digits, dots, dashes, underscores and colons")
			continue
		}
		t.byName[name] = r.target(at, name, v)
	}
	return t, r.mistakes.Err()
}

func tidyName(name string) bool {
	return name != "" && len(name) <= 100 && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.:", r))
	})
}

// reader collects mistakes.
type reader struct {
	doc      *document.Document
	mistakes proviso.Mistakes
}

func (r *reader) wrong(pointer, format string, args ...any) *proviso.Mistake {
	m := proviso.Mistake{Place: r.doc.Place(pointer)}
	m.Code, m.Message = proviso.Invalid, fmt.Sprintf(format, args...)
	r.mistakes = append(r.mistakes, m)
	return &r.mistakes[len(r.mistakes)-1]
}

// target reads one target. Its kind is the member kind, or else the part of its name before
// a colon.
func (r *reader) target(at, name string, v any) *target {
	t := &target{}
	o, ok := v.(*value.Object)
	if !ok {
		r.wrong(at, "a target is an object, such as {kind: slack, url_env: SLACK_ONCALL_URL}")
		return t
	}
	kind, _, _ := strings.Cut(name, ":")
	if o.Has("kind") {
		kind = r.text(at, o, "kind")
	}
	i := slices.IndexFunc(targetKinds, func(k targetKind) bool { return k.name == kind })
	if i < 0 {
		r.wrong(at, "the kind of a target is webhook, slack, github, not %q", short(kind))
		return t
	}
	k := &targetKinds[i]
	t.open = k.open
	known := slices.Concat([]string{"kind", "quiet"}, k.need, k.may)
	for key, v := range o.All() {
		place := document.Join(at, key)
		switch {
		case !slices.Contains(known, key):
			m := r.wrong(place, "a target of kind %s has no key %q", k.name, short(key))
			m.Nearest = document.Nearest(key, known)
		case key == "quiet":
			t.quiet = r.quiet(place, v)
		case key == "labels":
			t.labels = r.texts(place, v)
		}
	}
	for _, key := range k.need {
		if !o.Has(key) {
			r.wrong(at, "a target of kind %s needs %s", k.name, strings.Join(k.need, " and "))
			break
		}
	}
	for key, to := range map[string]*string{"url_env": &t.urlEnv, "secret_env": &t.secretEnv, "token_env": &t.tokenEnv, "repository": &t.repository, "api": &t.api} {
		if o.Has(key) && slices.Contains(known, key) {
			*to = r.text(at, o, key)
		}
	}
	return t
}

// text reads a text member.
func (r *reader) text(at string, o *value.Object, key string) string {
	text, ok := o.At(key).(string)
	if !ok || text == "" || len(text) > 500 {
		r.wrong(document.Join(at, key), "%s is a text", key)
	}
	return text
}

// texts reads a list of texts.
func (r *reader) texts(at string, v any) []string {
	list, ok := v.([]any)
	var out []string
	for _, item := range list {
		text, is := item.(string)
		ok = ok && is && text != "" && len(text) <= 100
		out = append(out, text)
	}
	if !ok || len(list) > 20 {
		r.wrong(at, "a list of texts is expected")
		return nil
	}
	return out
}

// quiet reads quiet hours: an object or a list of objects.
func (r *reader) quiet(at string, v any) quietHours {
	list, ok := v.([]any)
	if !ok {
		return quietHours{r.hours(at, v)}
	}
	var q quietHours
	for i, item := range list[:min(len(list), 20)] {
		q = append(q, r.hours(document.Join(at, i), item))
	}
	return q
}

var weekdays = map[string]time.Weekday{"sun": time.Sunday, "mon": time.Monday, "tue": time.Tuesday, "wed": time.Wednesday, "thu": time.Thursday, "fri": time.Friday, "sat": time.Saturday}

func (r *reader) hours(at string, v any) hours {
	h := hours{zone: time.UTC}
	o, ok := v.(*value.Object)
	if !ok || !o.Has("from") || !o.Has("to") {
		r.wrong(at, `quiet hours are {from: "22:00", to: "07:00", zone: Europe/Berlin, days: [mon, tue]}; zone and days may be missing`)
		return h
	}
	for key, v := range o.All() {
		place := document.Join(at, key)
		switch key {
		case "from", "to":
			text, _ := v.(string)
			clock, err := time.Parse("15:04", text)
			if err != nil {
				r.wrong(place, `%s is a time of the day in quotation marks, such as "22:00"`, key)
			}
			minutes := clock.Hour()*60 + clock.Minute()
			if key == "from" {
				h.from = minutes
			} else {
				h.to = minutes
			}
		case "zone":
			text, _ := v.(string)
			zone, err := time.LoadLocation(text)
			if err != nil || text == "" || text == "Local" {
				r.wrong(place, "this machine knows no time zone %q; one is named as Europe/Berlin", short(text))
				continue
			}
			h.zone = zone
		case "days":
			for i, name := range r.texts(place, v) {
				day, known := weekdays[name]
				if !known {
					r.wrong(document.Join(place, i), "a day is sun, mon, tue, wed, thu, fri or sat, not %q", short(name))
				}
				h.days = append(h.days, day)
			}
		default:
			r.wrong(place, "quiet hours have no key %q, but from, to, zone and days", short(key))
		}
	}
	return h
}

// short shortens a text for a message.
func short(text string) string { return excerpt.Plain(excerpt.Line(text, 80)) }
