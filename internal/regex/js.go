package regex

import (
	"context"
	"errors"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/value"
)

// backtracker runs patterns in QuickJS. Texts are passed as UTF-16 JavaScript
// strings; positions are returned in code units.
type backtracker struct{ library *script.Library }

// memory is the limit of one VM: for a long text and its copy in UTF-16.
const memory = 256 << 20

// backtracking is compiled once for all engines.
var backtracking = script.NewProgram(func() string { return source })

func newBacktracker(timeout time.Duration) *backtracker {
	return &backtracker{script.NewLibrary(script.LibraryOptions{
		Name:    "regular expressions",
		Program: backtracking,
		Timeout: timeout,
		Memory:  memory,
	})}
}

// source is the JavaScript side. It keeps the last pattern compiled, because one
// pattern usually meets many texts.
const source = `"use strict";
var last = {};
function compiled(pattern, flags) {
  if (last.pattern !== pattern || last.flags !== flags)
    last = {pattern: pattern, flags: flags, re: new RegExp(pattern, flags)};
  last.re.lastIndex = 0;
  return last.re;
}
globalThis.check = function (pattern, flags) {
  try { compiled(pattern, flags); return null; }
  catch (e) { return String(e.message); }
};
globalThis.test = function (pattern, flags, text) {
  return compiled(pattern, flags).test(text);
};
globalThis.find = function (pattern, flags, text, limit) {
  var re = compiled(pattern, flags + "g"), at = [], m;
  while ((limit < 0 || at.length < 2 * limit) && (m = re.exec(text)) !== null) {
    at.push(m.index, m.index + m[0].length);
    if (m[0] === "") {
      var c = flags.includes("u") ? text.codePointAt(re.lastIndex) : 0;
      re.lastIndex += c > 0xffff ? 2 : 1;
    }
  }
  return at;
};
`

// check returns the reason why r is not a valid pattern, or nil.
func (b *backtracker) check(ctx context.Context, r *Regexp) error {
	v, err := b.library.Call(ctx, "check", r.pattern, r.flags)
	if err != nil {
		return r.failed(err)
	}
	if reason, bad := v.(string); bad {
		return invalid(r.pattern, r.flags, reason)
	}
	return nil
}

func (b *backtracker) test(ctx context.Context, r *Regexp, s string) (bool, error) {
	v, err := b.library.Call(ctx, "test", r.pattern, r.flags, value.WellFormed(s))
	if err != nil {
		return false, r.failed(err)
	}
	ok, _ := v.(bool)
	return ok, nil
}

// find returns the byte offsets of the matches, at most limit if it is not
// negative.
func (b *backtracker) find(ctx context.Context, r *Regexp, s string, limit int) ([][2]int, error) {
	v, err := b.library.Call(ctx, "find", r.pattern, r.flags, value.WellFormed(s), float64(limit))
	if err != nil {
		return nil, r.failed(err)
	}
	list, _ := v.([]any)
	at := make([]int, len(list))
	for i, x := range list {
		at[i] = int(value.ToNumber(x))
	}
	offsets(s, at)
	all := make([][2]int, len(at)/2)
	for i := range all {
		all[i] = [2]int{at[2*i], at[2*i+1]}
	}
	return all, nil
}

// failed adds the pattern to an error of the JavaScript engine.
func (r *Regexp) failed(err error) error {
	var known *proviso.Error
	if errors.As(err, &known) {
		if known.Code == proviso.Timeout && known.Err == nil { // not the caller's deadline
			return r.stopped(errSlow)
		}
		return err
	}
	return proviso.Errorf(proviso.Undecided, "the regular expression %s: %w", quoted(r.pattern), err)
}
