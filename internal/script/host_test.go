package script_test

import (
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/script"
)

// The expected values are those of Node 22.
func TestHost(t *testing.T) {
	t.Parallel()
	e := newEngine(t, script.Options{MaxVMs: 1})
	for text, want := range map[string]any{
		"console.log('x', console.error(1)), typeof console.table":                                                                                     "function",
		"[...new TextEncoder().encode('aé€😀\\ud800')].join()":                                                                                          "97,195,169,226,130,172,240,159,152,128,239,191,189",
		"new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 97, 0xc3, 0xa9, 0xf0, 0x9f, 0x98, 0x80, 0xff, 0xe2, 0x82, 97, 0xed, 0xa0, 0x80]))": "aé😀\ufffd\ufffda\ufffd\ufffd\ufffd",
		"(() => { try { new TextDecoder('utf-8', {fatal: true}).decode(new Uint8Array([255])) } catch (e) { return e.name } })()":                      "TypeError",
		"btoa('hi\\xff') + atob('aGn/') + atob(' aGk= ')":                                                                                              "aGn/hi\u00ffhi",
		"(() => { try { atob('a') } catch (e) { return e.name } })()":                                                                                  "InvalidCharacterError",
		"(() => { try { btoa('€') } catch (e) { return e.name } })()":                                                                                  "InvalidCharacterError",
		"Buffer.from('héllo').toString('base64') + Buffer.from('aMOpbGxv', 'base64')":                                                                  "aMOpbGxvhéllo",
		"Buffer.from('ff00zz', 'hex').toString('hex') + Buffer.from('>?>', 'latin1').toString('base64url')":                                            "ff00Pj8-",
		"Buffer.from([104, 105, 256 + 33]) + '' + Buffer.isBuffer(Buffer.from('')) + Buffer.isBuffer(new Uint8Array(1))":                               "hi!truefalse",
		"Buffer.byteLength('é') + Buffer.concat([Buffer.from('a'), Buffer.from('b')]).length + Buffer.from('abc').slice(1).length":                     6.0,
		"JSON.stringify(Buffer.from('a'))":                                                                                                             `{"type":"Buffer","data":[97]}`,
		"(() => { const a = {d: new Date(5), m: new Map([[1, {x: 1}]]), s: new Set([1]), r: /a/g, u: undefined}; a.self = a; const b = structuredClone(a); return b !== a && b.self === b && b.d.getTime() === 5 && b.m.get(1).x === 1 && b.m.get(1) !== a.m.get(1) && b.s.has(1) && b.r.flags === 'g' && 'u' in b })()": true,
		"(() => { try { structuredClone(() => 1) } catch (e) { return e.name } })()": "DataCloneError",
		"(async () => { const seen = []; setTimeout(() => seen.push('c'), 20); setTimeout((x) => seen.push(x), 10, 'b'); const t = setTimeout(() => seen.push('never'), 5); clearTimeout(t); queueMicrotask(() => seen.push('a')); await new Promise((f) => setTimeout(f, 30)); return seen.join('') })()": "abc",
		"new Promise((f) => { let n = 0; const t = setInterval(() => { if (++n === 3) { clearInterval(t); f(n) } }, 10) })": 3.0,

		"Array.fromAsync([1, Promise.resolve(2)], async (x, i) => x * 10 + i).then((a) => a.join())":                                             "10,21",
		"Array.fromAsync((async function* () { yield 'a'; yield 'b' })()).then((a) => a.join() + Array.fromAsync.length + Array.fromAsync.name)": "a,b1fromAsync",
		"Array.fromAsync({length: 2, 0: 'x', 1: Promise.resolve('y')}).then((a) => JSON.stringify(a))":                                           `["x","y"]`,
		"(async () => { const e = await Array.fromAsync([1], 5).catch((e) => e); return e.name })()":                                             "TypeError",
		"(async () => { const e = await Array.fromAsync(null).catch((e) => e); return e.name + Object.keys(Array).length })()":                   "TypeError0",

		"new URL('HTTP://User:p%40ss@EXAMPLE.com:80/a/./b/../c d?q=1 2&é#f g').href":                                                                                                                 "http://User:p%40ss@example.com/a/c%20d?q=1%202&%C3%A9#f%20g",
		"new URL('../x?y#z', 'https://a.b/c/d/e').href":                                                                                                                                              "https://a.b/c/x?y#z",
		"new URL('//h/p', 'https://a.b/c').href + new URL('?q', 'https://a.b/c?d#e').href + new URL('#h', 'https://a.b/c?d#e').href":                                                                 "https://h/phttps://a.b/c?qhttps://a.b/c?d#h",
		"new URL('https://a.b').pathname + new URL('https://a.b:8443/x').host + new URL('https://a.b/x').origin":                                                                                     "/a.b:8443https://a.b",
		"new URL('mailto:x@y.z?subject=a').pathname + new URL('data:text/plain,hi').protocol":                                                                                                        "x@y.zdata:",
		"new URL('file:///C:/a/../b').href + new URL('http://0x7f.1/').hostname + new URL('http://[::1]:80/').host":                                                                                  "file:///C:/b127.0.0.1[::1]",
		"['nope', 'http://', 'http://a b/', 'http://a:99999/', '/x', 'http://1.2.3.256/'].map((u) => URL.canParse(u)).join()":                                                                        "false,false,false,false,false,false",
		"(() => { try { new URL('nope') } catch (e) { return e.name + e.message + e.code } })()":                                                                                                     "TypeErrorInvalid URLERR_INVALID_URL",
		"(() => { const u = new URL('http://a.b/?x=1'); u.searchParams.append('y', 'é &'); u.hash = 'h'; u.pathname = '/p q'; u.port = '81'; return String(u) })()":                                  "http://a.b:81/p%20q?x=1&y=%C3%A9+%26#h",
		"(() => { const p = new URLSearchParams('?a=1&b=2&a=3+4%20'); p.set('c', '5'); p.delete('b'); return p + '|' + p.getAll('a').join() + p.has('c') + p.get('z') + [...p].length + p.size })()": "a=1&a=3+4+&c=5|1,3 4 truenull33",
		"new URLSearchParams({a: 'b c', d: 1}).toString() + new URLSearchParams([['x', 'y']])":                                                                                                       "a=b+c&d=1x=y",
		"JSON.stringify({u: new URL('http://a.b')})":                                                                                                                                                 `{"u":"http://a.b/"}`,
	} {
		got, err := evalSource(t.Context(), e, proviso.Source{Text: text})
		if err != nil || !same(got, want) {
			t.Errorf("%s\n\tgot  %#v, %v\n\twant %#v", text, got, err, want)
		}
	}
}
