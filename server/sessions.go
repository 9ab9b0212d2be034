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

// sessions are browser sessions, by the hash of their cookie. Servers on one store share them;
// each server caches them in memory. It is safe for concurrent use.
type sessions struct {
	life, most time.Duration // lifetime since the last use, and since the login
	peers      *peers        // nil if sessions are only in memory
	age        time.Duration // how long a cached session is valid, although another server may have ended it

	mu    sync.Mutex
	of    map[sessionHash]*session
	token [sha256.Size]byte // hash of [Options.OpenToken]
	spent bool              // the token has been used
}

type sessionHash [sha256.Size]byte

func hashOfCookie(cookie string) sessionHash { return sha256.Sum256([]byte(cookie)) }

// String returns the name of a session in the store.
func (h sessionHash) String() string { return hex.EncodeToString(h[:]) }

// session is a browser session. The store has its exported fields.
type session struct {
	Key    string    `json:"key"` // id of the key
	Opened time.Time `json:"opened"`
	Used   time.Time `json:"used"`
	told   time.Time // the last use that the store knows
	seen   time.Time // when it was last read from the store
}

// tellUse is the interval at which the use of a session is written to the store.
const tellUse = time.Minute

// shared reports whether other servers know the session. A session that a link opened stays in
// this process.
func (s *sessions) shared(key string) bool { return s.peers != nil && key != viewSession }

// ended reports whether a session has expired.
func (s *sessions) ended(x *session, now time.Time) bool {
	return now.Sub(x.Used) >= s.life || now.Sub(x.Opened) >= s.most
}

// item returns a session as a shared item.
func (s *sessions) item(hash sessionHash, x *session, now time.Time) (store.SharedItem, error) {
	life := min(x.Used.Add(s.life).Sub(now), x.Opened.Add(s.most).Sub(now))
	return sharedItem(sharedSession, hash.String(), x.Key, life, x)
}

// open starts a session and returns its cookie. If its key already has maxSessions, or all keys
// have allSessions, it ends the least recently used session.
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

// remember adds a session to the bounded memory; the caller holds s.mu.
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
		_ = json.Unmarshal(i.Content, &x) // an unreadable session counts as the oldest
		return x.Used
	}
	slices.SortFunc(items, func(a, b store.SharedItem) int { return used(a).Compare(used(b)) })
	var names []string
	for _, item := range items[:len(items)-maxSessions+1] {
		names = append(names, item.Name)
	}
	return s.peers.store.DeleteShared(ctx, sharedSession, names...)
}

// shrink ends the least recently used session that counts, if there are at least most of those;
// the caller holds s.mu.
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

// find returns the current state of a session, nil if there is none. It merges the cached
// session with the shared one.
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

// use returns the key of a session and extends its life; "" if the session has ended.
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
		x.told = now // so that only one request writes it
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
	// A session that another server has ended must not be stored again.
	found, err := s.peers.store.ReplaceShared(ctx, item)
	if found || err != nil {
		return is.Key, err
	}
	s.forget(hash)
	return "", nil
}

// lives reports whether a session is alive. This does not count as use.
func (s *sessions) lives(ctx context.Context, value string, now time.Time) bool {
	x, err := s.find(ctx, hashOfCookie(value), now)
	s.mu.Lock()
	defer s.mu.Unlock()
	return err == nil && x != nil && !s.ended(x, now)
}

// forget removes a session from memory.
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

// endAll ends all sessions of a session's key.
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

// redeem spends the token. It returns false if the token is wrong or already spent.
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
