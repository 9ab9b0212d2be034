package forge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
)

// ErrNoToken means that the environment has no token for the forge, as in a job for a pull
// request from a fork.
var ErrNoToken = errors.New("there is no token")

// ErrMoved means that the commit of a job is no longer the head of an open change request,
// so there is nothing to comment on.
var ErrMoved = errors.New("this commit is not the head of an open pull request or merge request; a newer commit gets its own comment")

// Options configure access to a forge.
type Options struct {
	Network http.RoundTripper // a Transport of internal/transport
	Token   string            // sent only to the host of [Place.API]

	// Now and Sleep are the clock; nil means the system clock. Sleep returns early with an
	// error if its context ends.
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
}

// Forge writes comments on one change request. It is not safe for concurrent use.
type Forge struct {
	client client
	place  Place
}

// Open returns the forge of a place. It sends nothing.
func Open(p Place, o Options) (*Forge, error) {
	k, err := kindOf(p.Forge)
	if err != nil {
		return nil, err
	}
	base, err := p.complete(&k)
	if err != nil {
		return nil, err
	}
	f := &Forge{place: p}
	f.client = client{kind: &k, place: &f.place, base: base, token: o.Token, now: o.Now, sleep: o.Sleep}
	f.client.network = &http.Client{Transport: o.Network, CheckRedirect: f.client.sameHost}
	if f.client.now == nil {
		f.client.now = time.Now
	}
	if f.client.sleep == nil {
		f.client.sleep = transport.Wait
	}
	return f, nil
}

// Comment is the text to show on a change request. Its texts are Markdown in which
// everything that a model or a stranger wrote is escaped.
type Comment struct {
	Key    string // subject, such as the path of a suite; each key has one comment
	Body   string // cut at a whole entry if it exceeds the forge's limit, see [Cut]
	Footer string // never cut; at most a few lines
}

// Posted is the result of posting a comment.
type Posted struct {
	Action Action
	Number int    // number of the change request
	URL    string // of the comment; "" where the forge names none
	// Edited is true if somebody edited the comment; the edit is overwritten.
	Edited  bool
	Removed int // number of removed further comments of the same key and author
	Cut     bool
}

// Action is what [Forge.Upsert] did.
type Action string

// The actions.
const (
	Created    Action = "created"
	Updated    Action = "updated"
	Unchanged  Action = "unchanged"  // the comment was already up to date
	Superseded Action = "superseded" // a later run has written the comment; nothing was changed
)

// remark is a comment of a change request, without its text.
type remark struct {
	id, author, url string
	key             string // "" if it is none of proviso's
	run             int64
	sum, actual     string // checksums of the text, as written and as found
}

// marker matches the first line of every proviso comment, which forges do not show: the
// key, the run and a checksum of the text. A quoted marker begins with "> ", and a copied
// one has another author.
var marker = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^<!-- proviso ([0-9a-f]{16}) ([0-9]{1,18}) ([0-9a-f]{16}) -->$`)
})

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// textSum is the checksum of a comment's text as forges keep it: they may trim it and
// change line endings.
func textSum(text string) string {
	return digest(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")))
}

// of parses the marker of a comment.
func (r remark) of(body string) remark {
	first, rest, _ := strings.Cut(body, "\n")
	if m := marker().FindStringSubmatch(strings.TrimSuffix(first, "\r")); m != nil {
		r.key, r.sum, r.actual = m[1], m[3], textSum(rest)
		r.run, _ = strconv.ParseInt(m[2], 10, 64) // the pattern guarantees a valid number
	}
	return r
}

// write returns the comment as it is sent to the forge.
func (f *Forge) write(m Comment) (body string, want remark, cut bool) {
	want = remark{key: digest("comment\x00" + m.Key), run: f.place.Run}
	const overhead = 200 // characters for the marker, the blank lines and the note on the cut
	prepared := f.client.prepare(m.Body)
	footer := f.client.prepare(m.Footer)
	room := f.client.limit - overhead - utf8.RuneCountInString(footer)
	text := Cut(prepared, room, utf8.RuneCountInString)
	cut = text != prepared
	if footer != "" {
		text = strings.TrimRight(text, "\n") + "\n\n" + footer
	}
	want.sum = textSum(text)
	return fmt.Sprintf("<!-- proviso %s %d %s -->\n%s", want.key, want.run, want.sum, text), want, cut
}

// Upsert writes the comment of a key: it updates the comment that the token's owner has
// written before, or creates one. It reads all comments of the change request, and reads
// them again before it repeats a create request whose response was lost, because that
// request may have taken effect. Two concurrent jobs can create several comments of the key
// by the same author; Upsert keeps the oldest and removes the others. If the forge does not
// report the token's owner, the marker alone decides, and nothing is removed. [ErrMoved]
// means that the change request has moved on.
func (f *Forge) Upsert(ctx context.Context, m Comment) (Posted, error) {
	c := &f.client
	if f.place.Number == 0 {
		if err := c.resolve(ctx, c, &f.place); err != nil {
			return Posted{}, c.sentence("find the "+c.change, err)
		}
	}
	posted := Posted{Number: f.place.Number}
	viewer, err := c.viewer(ctx, c)
	var refusal *fault
	if viewer == "" && err != nil && (!errors.As(err, &refusal) || refusal.again()) { // a later attempt may succeed
		return posted, c.sentence("find out whose token it is", err)
	}
	body, want, cut := f.write(m)
	posted.Cut = cut
	for attempt := 1; ; attempt++ {
		found, err := f.find(ctx, want.key, viewer)
		if err != nil {
			return posted, c.sentence("read the comments", err)
		}
		err = f.put(ctx, body, want, found, &posted)
		if attempt > 1 && posted.Action == Unchanged { // created by the request whose response was lost
			posted.Action = Created
		}
		var lost *fault
		switch {
		case err == nil && viewer != "" && len(found) > 1 && posted.Action != Superseded:
			return posted, f.remove(ctx, found[1:], &posted)
		case err == nil:
			return posted, nil
		case !errors.As(err, &lost) || attempt == maxAttempts,
			!(len(found) == 0 && lost.again() && lost.after <= maxWait) && !(len(found) > 0 && lost.status == http.StatusNotFound):
			return posted, c.sentence("write the comment", err)
		}
		// A forge may list a new comment with a delay.
		if err := c.wait(ctx, attempt, max(lost.after, 2*firstWait)); err != nil {
			return posted, err
		}
	}
}

// put creates the comment, or updates the first one found.
func (f *Forge) put(ctx context.Context, body string, want remark, found []remark, posted *Posted) error {
	c := &f.client
	r := request{method: http.MethodPost, address: c.base.String() + c.comments(&f.place), body: map[string]string{"body": body}}
	posted.Action = Created
	if len(found) > 0 {
		old := found[0]
		posted.URL, posted.Edited = old.url, old.sum != old.actual
		switch {
		case want.run > 0 && slices.ContainsFunc(found, func(r remark) bool { return r.run > want.run }):
			posted.Action = Superseded
			return nil
		case old.sum == want.sum && !posted.Edited && old.run == want.run:
			posted.Action = Unchanged
			return nil
		}
		posted.Action = Updated
		r.method, r.address, r.harmless = c.update(), c.base.String()+c.comment(&f.place, old.id), true
	}
	var raw json.RawMessage
	if _, err := c.call(ctx, r, &raw); err != nil {
		return err
	}
	if made, err := c.read(raw); err == nil && made.url != "" {
		posted.URL = made.url
	}
	return nil
}

// maxPages bounds how many pages of comments are read.
const maxPages = 500

// find returns the comments of a key by an author, oldest first.
func (f *Forge) find(ctx context.Context, key, author string) ([]remark, error) {
	c := &f.client
	var found []remark
	for page := 1; page <= maxPages; page++ {
		query := c.query()
		query.Set("page", strconv.Itoa(page))
		var list []json.RawMessage
		header, err := c.get(ctx, c.comments(&f.place), query, &list)
		if err != nil {
			return nil, err
		}
		for _, raw := range list {
			r, err := c.read(raw)
			if err != nil {
				return nil, proviso.Errorf(proviso.Unavailable, "%s sent a comment in an unknown format: %w", c.title, err)
			}
			if r.key == key && (author == "" || r.author == author) {
				found = append(found, r)
			}
		}
		if !c.more(header) {
			return found, nil
		}
	}
	return nil, proviso.Errorf(proviso.Limit, "the %s has more than %d pages of comments", c.change, maxPages)
}

// remove deletes further comments of a key.
func (f *Forge) remove(ctx context.Context, list []remark, posted *Posted) error {
	c := &f.client
	for _, old := range list {
		_, err := c.call(ctx, request{method: http.MethodDelete, address: c.base.String() + c.comment(&f.place, old.id), harmless: true}, nil)
		var gone *fault
		if err != nil && (!errors.As(err, &gone) || gone.status != http.StatusNotFound) {
			return c.sentence("remove a second comment", err)
		}
		posted.Removed++
	}
	return nil
}
