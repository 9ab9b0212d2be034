// Package regex decides ECMAScript regular expressions: it accepts what new
// RegExp(pattern, flags) accepts, with the same matches. Start at [New] and
// [Engine.Compile].
//
// A pattern is parsed by ECMAScript's grammar. If Go's linear-time engine gives the
// same result, the pattern is translated and runs there. Lookaround, backreferences
// and all doubtful cases run in QuickJS, under limits.
package regex

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/recent"
)

// Defaults and bounds.
const (
	defaultTimeout  = time.Second
	defaultPatterns = 512
	maxCached       = 64 << 10 // bytes of a cached pattern

	// directWork is the product of text and program up to which Go's engine runs
	// without checking the clock: a tenth of a second in the worst case.
	directWork = 1 << 22
	// findWork is the same for all matches of a text, with a check of the clock after
	// each.
	findWork = 1 << 27
	// perByte is added to the timeout for each byte of text where time is known to be
	// linear.
	perByte = 200 * time.Nanosecond
)

// Options are the limits of an [Engine].
type Options struct {
	// Timeout is the time limit of one match of a pattern that backtracks; 0 is one
	// second.
	Timeout time.Duration
	// Patterns is the number of compiled patterns in the cache; 0 is 512.
	Patterns int
}

// Engine compiles patterns and caches the latest. It is safe for concurrent use.
type Engine struct {
	timeout time.Duration
	cache   *recent.Cache[cacheKey, *Regexp]
	js      *backtracker
}

type cacheKey struct{ pattern, flags string }

// New returns an engine. Its JavaScript engine starts when the first pattern needs
// it.
func New(o Options) *Engine {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Patterns <= 0 {
		o.Patterns = defaultPatterns
	}
	return &Engine{timeout: o.Timeout, cache: recent.New[cacheKey](recent.Options[*Regexp]{Entries: o.Patterns}), js: newBacktracker(o.Timeout)}
}

// Close frees the JavaScript engine if it was started. Patterns that need the engine
// can no longer be matched.
func (e *Engine) Close() error { return e.js.library.Close() }

// Regexp is a compiled pattern. It is safe for concurrent use.
type Regexp struct {
	engine  *Engine
	pattern string
	flags   string
	unicode bool
	re      *regexp.Regexp // nil if QuickJS decides
	program program
}

// String returns the pattern as given.
func (r *Regexp) String() string { return r.pattern }

// Compile parses a pattern. The flags are the JavaScript flags that change which
// texts match: i, m, s and u. For an invalid pattern the error is a
// *[proviso.Error] with the code Invalid and JavaScript's message. Compiled
// patterns are shared.
func (e *Engine) Compile(pattern, flagText string) (*Regexp, error) {
	key := cacheKey{pattern, flagText}
	if r, ok := e.cache.Get(key); ok {
		return r, nil
	}
	r, err := e.compile(pattern, flagText)
	if err != nil {
		return nil, err
	}
	if len(pattern) <= maxCached {
		e.cache.Add(key, r)
	}
	return r, nil
}

func (e *Engine) compile(pattern, flagText string) (*Regexp, error) {
	f, ok := parseFlags(flagText)
	if !ok {
		return nil, proviso.Errorf(proviso.Invalid, "Invalid flags supplied to RegExp constructor '%s'", flagText)
	}
	r := &Regexp{engine: e, pattern: pattern, flags: flagText, unicode: f.unicode}
	p := newParser(pattern, f)
	n, err := p.parse()
	if err != nil {
		return nil, invalid(pattern, flagText, err.Error())
	}
	if p.unsure {
		return r, e.js.check(context.Background(), r)
	}
	if !p.foreign {
		r.translate(n, f)
	}
	return r, nil
}

func invalid(pattern, flagText, reason string) error {
	return proviso.Errorf(proviso.Invalid, "Invalid regular expression: /%s/%s: %s", pattern, flagText, reason)
}

// translate sets up Go's engine if it gives the same results.
func (r *Regexp) translate(n *node, f flags) {
	p, ok := translate(n, f)
	if !ok {
		return
	}
	if re, err := regexp.Compile(p.text); err == nil {
		r.re, r.program = re, p
	}
}

// Match reports whether the pattern matches somewhere in s. An error means that the
// result is unknown: time ran out, or ctx was done.
func (r *Regexp) Match(ctx context.Context, s string) (bool, error) {
	switch {
	case r.program.isText:
		return strings.Contains(s, r.program.literal), nil
	case r.direct(s):
		return r.re.MatchString(s), nil
	case !r.linear(s):
		return r.engine.js.test(ctx, r, s)
	}
	in := r.reader(ctx, s)
	ok := r.re.MatchReader(in)
	return ok && in.err == nil, r.stopped(in.err)
}

// FindAllIndex returns the byte offsets of the matches in s that matchAll finds; at
// most limit of them if limit is not negative.
func (r *Regexp) FindAllIndex(ctx context.Context, s string, limit int) ([][2]int, error) {
	if limit == 0 {
		return nil, nil
	}
	if !r.program.extents || r.program.nullable || !r.readable(s, findWork) {
		return r.engine.js.find(ctx, r, s, limit)
	}
	if n := max(1, len(s)); r.program.size*n <= directWork/n {
		return pairs(r.re.FindAllStringIndex(s, limit)), nil
	}
	if !r.program.free {
		return r.engine.js.find(ctx, r, s, limit)
	}
	return r.findEach(ctx, s, limit)
}

// findEach searches for one match at a time, so that the clock is checked between
// matches: the time for all of them can grow with the square of the text.
func (r *Regexp) findEach(ctx context.Context, s string, limit int) ([][2]int, error) {
	stop := r.clock(ctx, s)
	var all [][2]int
	for from := 0; limit < 0 || len(all) < limit; {
		var at []int
		if rest := s[from:]; len(rest) <= directWork/r.program.size {
			at = r.re.FindStringIndex(rest)
		} else {
			in := &unitReader{s: rest, pairs: !r.unicode, stop: stop, every: r.every()}
			if at = r.re.FindReaderIndex(in); in.err != nil {
				return nil, r.stopped(in.err)
			}
		}
		if at == nil {
			break
		}
		all = append(all, [2]int{from + at[0], from + at[1]})
		from += at[1]
		if err := stop(); err != nil {
			return nil, r.stopped(err)
		}
	}
	return all, nil
}

func pairs(at [][]int) [][2]int {
	all := make([][2]int, len(at))
	for i, p := range at {
		all[i] = [2]int{p[0], p[1]}
	}
	return all
}

// direct reports whether Go's engine may read s unchanged, without a clock.
func (r *Regexp) direct(s string) bool { return r.readable(s, directWork) }

// readable reports whether Go's engine may read s unchanged, and the product of
// text and program is at most work.
func (r *Regexp) readable(s string, work int) bool {
	if r.re == nil || len(s) > work/r.program.size {
		return false
	}
	switch {
	case r.program.plain:
		return true
	case r.unicode:
		return !hasLone(s)
	}
	return !hasPairs(s)
}

// linear reports whether Go's engine can decide s at all.
func (r *Regexp) linear(s string) bool {
	return r.re != nil && !(r.unicode && hasLone(s))
}

func (r *Regexp) reader(ctx context.Context, s string) *unitReader {
	return &unitReader{s: s, pairs: !r.unicode, stop: r.clock(ctx, s), every: r.every()}
}

// every is the number of elements read between two checks of the clock: fewer for
// programs that can do more work per element.
func (r *Regexp) every() int { return min(max(directWork/4/r.program.size, 64), 4096) }

// clock returns a function that says why a match on s must stop, or nil.
func (r *Regexp) clock(ctx context.Context, s string) func() error {
	deadline := time.Now().Add(r.engine.timeout + time.Duration(len(s))*perByte)
	return func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return errSlow
		}
		return nil
	}
}

// errSlow means that the time limit of a match was reached.
var errSlow = errors.New("the time is over")

// stopped returns the error of an interrupted match, or nil.
func (r *Regexp) stopped(err error) error {
	if errors.Is(err, errSlow) {
		return proviso.Errorf(proviso.Timeout, "the regular expression %s took longer than %v", quoted(r.pattern), r.engine.timeout)
	}
	return err
}

// quoted shortens a pattern for messages.
func quoted(pattern string) string {
	return "/" + excerpt.Bytes(pattern, 80) + "/"
}
