package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// sessions are the sessions of browsers, by the hash of their cookie. Servers on one store
// share them; the memory of each saves it most of the reading. It is safe for concurrent use.
type sessions struct {
	life, most time.Duration // since its last use, and since the login
	peers      *peers        // nil if the memory is all there is
	age        time.Duration // for how long the memory of a session is relied on that another server may have ended

	mu    sync.Mutex
	of    map[sessionHash]*session
	token [sha256.Size]byte // of [Options.OpenToken]
	spent bool              // the token was used
}

type sessionHash [sha256.Size]byte

func hashOfCookie(cookie string) sessionHash { return sha256.Sum256([]byte(cookie)) }

// String is the name of a session in the store.
func (h sessionHash) String() string { return hex.EncodeToString(h[:]) }

// session is a session; the store has what is exported.
type session struct {
	Key    string    `json:"key"` // id
	Opened time.Time `json:"opened"`
	Used   time.Time `json:"used"`
	told   time.Time // the last use that the store knows of
	seen   time.Time // when it was last found in the store
}

// tellUse is how often the use of a session is written to the store.
const tellUse = time.Minute

// shared reports whether other servers know the session: that of a link does not leave the
// process.
func (s *sessions) shared(key string) bool { return s.peers != nil && key != viewSession }

// ended reports whether the time of a session is over.
func (s *sessions) ended(x *session, now time.Time) bool {
	return now.Sub(x.Used) >= s.life || now.Sub(x.Opened) >= s.most
}

// item is a session as it is shared.
func (s *sessions) item(hash sessionHash, x *session, now time.Time) (store.SharedItem, error) {
	life := min(x.Used.Add(s.life).Sub(now), x.Opened.Add(s.most).Sub(now))
	return sharedItem(sharedSession, hash.String(), x.Key, life, x)
}

// open begins a session and returns the value of its cookie. If its key has maxSessions
// already, or all keys have allSessions, the least recently used session ends.
func (s *sessions) open(ctx context.Context, key string, now time.Time) (string, error) {
	value := rand.Text() + rand.Text()
	hash, x := hashOfCookie(value), &session{Key: key, Opened: now, Used: now, told: now, seen: now}
	if s.shared(key) {
		if err := s.makeRoom(ctx, key); err != nil {
			return "", err
		}
		item, err := s.item(hash, x, now)
		if err == nil {
			err = s.peers.store.PutShared(ctx, item)
		}
		if err != nil {
			return "", err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shrink(func(x *session) bool { return x.Key == key }, maxSessions)
	s.remember(hash, x)
	return value, nil
}

// remember adds a session to the memory, which is bounded; s.mu is held.
func (s *sessions) remember(hash sessionHash, x *session) {
	s.shrink(func(*session) bool { return true }, allSessions)
	if s.of == nil {
		s.of = map[sessionHash]*session{}
	}
	s.of[hash] = x
}

// makeRoom ends the least recently used sessions of a key that has maxSessions in the store.
func (s *sessions) makeRoom(ctx context.Context, key string) error {
	items, err := s.peers.store.ListShared(ctx, sharedSession, key, "", 2*maxSessions)
	if err != nil || len(items) < maxSessions {
		return err
	}
	used := func(i store.SharedItem) (at time.Time) {
		var x session
		_ = json.Unmarshal(i.Content, &x) // one that cannot be read is the oldest
		return x.Used
	}
	slices.SortFunc(items, func(a, b store.SharedItem) int { return used(a).Compare(used(b)) })
	var names []string
	for _, item := range items[:len(items)-maxSessions+1] {
		names = append(names, item.Name)
	}
	return s.peers.store.DeleteShared(ctx, sharedSession, names...)
}

// shrink ends the least recently used session of those that count, if there are at least
// most of them; s.mu is held.
func (s *sessions) shrink(counts func(*session) bool, most int) {
	var oldest sessionHash
	var at time.Time
	n := 0
	for hash, x := range s.of {
		if !counts(x) {
			continue
		}
		n++
		if at.IsZero() || x.Used.Before(at) {
			oldest, at = hash, x.Used
		}
	}
	if n >= most {
		delete(s.of, oldest)
	}
}

// find returns a session as it is now, nil if there is none: what is in memory, and what
// other servers say of it.
func (s *sessions) find(ctx context.Context, hash sessionHash, now time.Time) (*session, error) {
	s.mu.Lock()
	x := s.of[hash]
	known := s.peers == nil || x != nil && (!s.shared(x.Key) || now.Sub(x.seen) < s.age)
	s.mu.Unlock()
	if known {
		return x, nil
	}
	var in session
	there, err := s.peers.get(ctx, sharedSession, hash.String(), &in)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !there {
		delete(s.of, hash)
		return nil, nil
	}
	if x = s.of[hash]; x == nil {
		x = &in
		x.told = in.Used
		s.remember(hash, x)
	}
	x.seen = now
	if in.Used.After(x.Used) {
		x.Used, x.told = in.Used, in.Used
	}
	return x, nil
}

// use returns the key of a session and extends its life from now; "" if it has ended.
func (s *sessions) use(ctx context.Context, value string, now time.Time) (string, error) {
	hash := hashOfCookie(value)
	x, err := s.find(ctx, hash, now)
	if x == nil || err != nil {
		return "", err
	}
	s.mu.Lock()
	if s.ended(x, now) {
		delete(s.of, hash)
		s.mu.Unlock()
		return "", nil
	}
	x.Used = now
	tell := s.shared(x.Key) && now.Sub(x.told) >= min(tellUse, s.life/10)
	if tell {
		x.told = now // by one of the requests
	}
	is := *x
	s.mu.Unlock()
	if !tell {
		return is.Key, nil
	}
	item, err := s.item(hash, &is, now)
	if err != nil {
		return "", err
	}
	// What another server ended meanwhile does not come back.
	found, err := s.peers.store.ReplaceShared(ctx, item)
	if found || err != nil {
		return is.Key, err
	}
	s.forget(hash)
	return "", nil
}

// lives reports whether a session goes on. That is no use of it.
func (s *sessions) lives(ctx context.Context, value string, now time.Time) bool {
	x, err := s.find(ctx, hashOfCookie(value), now)
	s.mu.Lock()
	defer s.mu.Unlock()
	return err == nil && x != nil && !s.ended(x, now)
}

// forget removes a session from the memory.
func (s *sessions) forget(hash sessionHash) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, hash)
}

// end ends a session.
func (s *sessions) end(ctx context.Context, value string) error {
	hash := hashOfCookie(value)
	s.forget(hash)
	if s.peers == nil || value == "" {
		return nil
	}
	return s.peers.store.DeleteShared(ctx, sharedSession, hash.String())
}

// endAll ends all sessions of the key that a session has.
func (s *sessions) endAll(ctx context.Context, value string, now time.Time) error {
	x, err := s.find(ctx, hashOfCookie(value), now)
	if x == nil || err != nil {
		return err
	}
	s.mu.Lock()
	maps.DeleteFunc(s.of, func(_ sessionHash, other *session) bool { return other.Key == x.Key })
	s.mu.Unlock()
	if !s.shared(x.Key) {
		return nil
	}
	return s.peers.store.DeleteSharedGroup(ctx, sharedSession, x.Key)
}

// redeem spends the token; false if it is wrong or was spent before.
func (s *sessions) redeem(token string) bool {
	hash := sha256.Sum256([]byte(token))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spent || subtle.ConstantTimeCompare(hash[:], s.token[:]) != 1 {
		return false
	}
	s.spent = true
	return true
}
