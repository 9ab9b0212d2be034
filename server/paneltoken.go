package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// NewPanelToken asks for a token with which one page may show one evaluation.
type NewPanelToken struct {
	Evaluation string   `json:"evaluation" doc:"The id of the evaluation"`
	Origin     string   `json:"origin" doc:"The origin of the page, one of --panel-origin"`
	TTL        *int     `json:"ttl_s,omitempty" doc:"For how many seconds the token is valid, from 1 to 600; 600 if it is missing"`
	Allow      []string `json:"allow,omitempty" doc:"What the token may do: read, label or both; read if it is missing"`
	By         string   `json:"by,omitempty" doc:"The name of the person that labels are attributed to"`
}

// PanelToken is a new token.
type PanelToken struct {
	Token   string    `json:"token" doc:"It is sent as Authorization: Bearer …"`
	Expires time.Time `json:"expires"`
}

const (
	tokenPrefix = "pvt_" // lets secret scanners find leaked tokens
	maxTokenTTL = 10 * time.Minute
	keyTokens   = 10_000  // tokens of one key
	allTokens   = 100_000 // tokens of all keys
	maxBy       = 200     // bytes
	// tokenStreams is the number of streams that a token may have at a time: the pages that
	// show the evaluation to a person.
	tokenStreams = 10
)

func panelRoutes() []*route {
	return []*route{
		{Method: http.MethodPost, Path: "/v1/panel-tokens", ID: "add-panel-token", Scope: store.Evaluate, Status: http.StatusCreated, Secret: true,
			Handle: reads((*Server).postPanelToken), Summary: "Make a token with which a page shows one evaluation",
			Detail: "The evaluation has to be one of this key, except for admin. A page of the origin, and no other, may read the evaluation with it, and with label also label it. " +
				"Tokens end with their key.",
			Request: typeOf[NewPanelToken](), Response: typeOf[PanelToken]()},
	}
}

// panelToken is a token as stored. It is immutable, except for streams.
type panelToken struct {
	ID         string        `json:"id"` // for counting requests
	Evaluation string        `json:"evaluation"`
	Origin     string        `json:"origin"`
	By         string        `json:"by"` // "" if no person is named
	Allow      []store.Scope `json:"allow"`
	Key        string        `json:"key"` // id of the key that made it
	Project    store.Project `json:"project"`
	Expires    time.Time     `json:"expires"`

	streams int // guarded by panelTokens.mu
}

// over reports whether a token has expired. A nil token never expires.
func (t *panelToken) over(now time.Time) bool { return t != nil && !now.Before(t.Expires) }

// timer returns a timer for a token's expiry. For a nil token, it never fires.
func (t *panelToken) timer() *time.Timer {
	if t == nil {
		timer := time.NewTimer(time.Hour)
		timer.Stop()
		return timer
	}
	return time.NewTimer(time.Until(t.Expires))
}

// panelTokens are the valid tokens that this server knows, by the hash of their text. Servers
// on one store share them. The zero value is ready to use by a single server. It is safe for
// concurrent use.
type panelTokens struct {
	peers *peers // nil if tokens are only in memory

	mu sync.Mutex
	of map[[sha256.Size]byte]*panelToken
}

// add creates the text of a token, which other servers also accept. It returns false if there
// are too many tokens.
func (p *panelTokens) add(ctx context.Context, t *panelToken, now time.Time) (text string, ok bool, err error) {
	text = tokenPrefix + rand.Text() + rand.Text()
	hash := sha256.Sum256([]byte(text))
	t.ID = "token " + text[len(tokenPrefix):][:8]
	if !p.remember(hash, t, now) {
		return "", false, nil
	}
	if p.peers != nil {
		err = p.peers.put(ctx, sharedToken, hex.EncodeToString(hash[:]), t.Key, t.Expires.Sub(now), t)
	}
	return text, true, err
}

// remember adds a token to memory. It returns false if there are too many.
func (p *panelTokens) remember(hash [sha256.Size]byte, t *panelToken, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of = map[[sha256.Size]byte]*panelToken{}
	}
	own := 0
	if len(p.of) >= keyTokens {
		for hash, other := range p.of {
			switch {
			case other.over(now):
				delete(p.of, hash)
			case other.Key == t.Key:
				own++
			}
		}
	}
	if own >= keyTokens || len(p.of) >= allTokens {
		return false
	}
	if p.of[hash] == nil {
		p.of[hash] = t
	}
	return true
}

// get returns a valid token, or nil.
func (p *panelTokens) get(ctx context.Context, text string, now time.Time) (*panelToken, error) {
	hash := sha256.Sum256([]byte(text))
	t := p.held(hash, now)
	if t != nil || p.peers == nil || !strings.HasPrefix(text, tokenPrefix) {
		return t, nil
	}
	t = &panelToken{}
	found, err := p.peers.get(ctx, sharedToken, hex.EncodeToString(hash[:]), t)
	if !found || err != nil || t.over(now) {
		return nil, err
	}
	if p.remember(hash, t, now) {
		t = p.held(hash, now) // another request may have been faster
	}
	return t, nil
}

// held returns a valid token from memory, or nil.
func (p *panelTokens) held(hash [sha256.Size]byte, now time.Time) *panelToken {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.of[hash]
	if t.over(now) {
		delete(p.of, hash)
		return nil
	}
	return t
}

// enter counts a stream of a token. It returns false if the token has too many. A nil token has
// no limit.
func (p *panelTokens) enter(t *panelToken) (leave func(), ok bool) {
	if t == nil {
		return func() {}, true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.streams >= tokenStreams {
		return nil, false
	}
	t.streams++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		t.streams--
	}, true
}

func (s *Server) postPanelToken(c *call, in *NewPanelToken) error {
	t := &panelToken{Evaluation: in.Evaluation, Origin: in.Origin, By: in.By, Key: c.key.ID, Project: c.project}
	ttl, wrong := in.read(t)
	if !slices.Contains(s.o.PanelOrigins, in.Origin) {
		wrong = append(wrong, Mistake{Pointer: "/origin", Code: proviso.Refused, Valid: fewNames(s.o.PanelOrigins),
			Message: "the server shows no panels on pages of " + strconv.Quote(shortened(in.Origin)) + "; serve --panel-origin allows an origin"})
	}
	if len(wrong) > 0 {
		return invalid(wrong)
	}
	owner, err := s.ownerOf(c, in.Evaluation)
	if err != nil {
		return err
	}
	if owner != c.key.ID && !c.key.Can(store.Admin) {
		return problem(codeForbidden, "only the key that made an evaluation, or one with the scope admin, makes tokens for it")
	}
	now := time.Now()
	t.Expires = now.Add(ttl).Truncate(time.Millisecond)
	text, ok, err := s.tokens.add(c.r.Context(), t, now)
	if err != nil {
		return err
	}
	if !ok {
		return problem(codeBusy, "too many tokens are active").after(time.Minute)
	}
	return c.json(http.StatusCreated, PanelToken{Token: text, Expires: t.Expires.UTC()})
}

// read returns the token's lifetime, and the mistakes in the request.
func (in *NewPanelToken) read(t *panelToken) (ttl time.Duration, wrong []Mistake) {
	mistake := func(pointer, message string) {
		wrong = append(wrong, Mistake{Pointer: pointer, Code: proviso.Invalid, Message: message})
	}
	ttl = maxTokenTTL
	if in.TTL != nil {
		if *in.TTL < 1 || *in.TTL > int(maxTokenTTL.Seconds()) {
			mistake("/ttl_s", "a token is valid for 1 to "+strconv.Itoa(int(maxTokenTTL.Seconds()))+" seconds")
		} else {
			ttl = time.Duration(*in.TTL) * time.Second
		}
	}
	if in.Allow == nil {
		in.Allow = []string{string(store.Read)}
	}
	for i, name := range in.Allow {
		switch scope := store.Scope(name); {
		case scope != store.Read && scope != store.Labelling:
			wrong = append(wrong, Mistake{Pointer: "/allow/" + strconv.Itoa(i), Code: proviso.Invalid, Message: "a token may allow read and label, not " + strconv.Quote(shortened(name)),
				Valid: []string{string(store.Read), string(store.Labelling)}})
		case !slices.Contains(t.Allow, scope):
			t.Allow = append(t.Allow, scope)
		}
	}
	if len(in.Allow) == 0 {
		mistake("/allow", "a token has to allow something: read, label or both")
	}
	if in.By != "" && store.CheckPerson(in.By) != nil || len(in.By) > maxBy { // a label under this name would be refused
		mistake("/by", "by is a name of up to "+strconv.Itoa(maxBy)+" bytes, in one line, without control characters")
	}
	if strings.HasPrefix(in.By, store.KeyID) {
		mistake("/by", "by is the name of a person; the id of a key would make its labels those of the key")
	}
	return ttl, wrong
}

// ownerOf returns the id of the key that made an evaluation, if the client may see it.
func (s *Server) ownerOf(c *call, evaluation string) (string, error) {
	held, err := s.heldFor(c.r.Context(), c.project, evaluation)
	if err != nil {
		return "", err
	}
	if held != nil && (held.key.ID == c.key.ID || seesAll(c.key)) {
		return held.key.ID, nil
	}
	e, err := s.visibleEvaluation(c, evaluation)
	return e.CreatedBy, err
}

// authenticatePanel admits a request with a panel token: to its evaluation, for the scopes that
// it allows, and from a page of its origin.
func (s *Server) authenticatePanel(c *call) error {
	t, err := s.tokens.get(c.r.Context(), bearerOf(c.r), time.Now())
	if err != nil {
		return err
	}
	if t == nil || !s.inForce(c.r.Context(), t.Key) {
		if c.foreign && !strings.HasPrefix(bearerOf(c.r), tokenPrefix) {
			return unauthorized("a page of another origin needs a panel token, which POST /v1/panel-tokens makes")
		}
		return unauthorized("the panel token has expired, or is none of this server")
	}
	switch id := c.r.PathValue("evaluation"); {
	case c.r.Header.Get("Origin") != t.Origin || !slices.Contains(s.o.PanelOrigins, t.Origin):
		return problem(codeForbidden, "the token is for pages of another origin")
	case c.route.Panel == "" || !slices.Contains(t.Allow, c.route.Panel):
		return problem(codeForbidden, "the token does not allow this")
	case id != "" && id != t.Evaluation:
		return problem(codeForbidden, "the token is for another evaluation")
	}
	c.token, c.project, c.as = t, t.Project, t.By
	c.key = store.Key{ID: t.Key, Project: t.Project, Scopes: t.Allow}
	return nil
}
