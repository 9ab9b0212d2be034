// Texts that try to become more than text. What runs would set window.__proviso_sentinel,
// open a dialog, or send a request to foreign.test, and each of these fails the test.
const touch = 'window.__proviso_sentinel=1';
const bomb = `${touch};alert(1);fetch('https://foreign.test/x')`;

export const sentinel = '__proviso_sentinel';

export const corpus = [
  ['script', `<script>${bomb}</script>`],
  ['onerror', `<img src=x onerror="${bomb}">`],
  ['quotes', `"'><img src=https://foreign.test/p.png onerror=${touch}>`],
  ['javascript', `javascript:${bomb}`],
  ['link', `<a href="javascript:${bomb}" autofocus onfocus="${touch}">link</a> [md](javascript:${touch}) ![i](https://foreign.test/i.png)`],
  ['svg', `<svg xmlns="http://www.w3.org/2000/svg" onload="${bomb}"><script>${touch}</script><image href="https://foreign.test/s.svg"/></svg>`],
  ['end of script', `</script></SCRIPT ><script>${bomb}</script><!--<script>`],
  ['end of style', `</style><style>*{background:url(https://foreign.test/c.css)}</style>`],
  ['end of others', `</textarea></title></noscript></template></pre><iframe srcdoc="<script>parent.${touch}</script>"></iframe>`],
  ['comment', `--><!-- <img src=x onerror=${touch}> ]]><![CDATA[`],
  ['base', `<base href="https://foreign.test/"><meta http-equiv=refresh content="0;url=https://foreign.test/"><form action=https://foreign.test/><button autofocus>x</button></form>`],
  ['braces', '{{constructor.constructor("' + touch + '")()}} ${' + touch + '} <%= ' + touch + ' %> {% raw %} #{1} {{{html}}}'],
  ['bidi', 'safe \u202e\u2066gnp.exe\u2069 \u200f\u200e\u061c end \u202d\u2067'],
  ['control', 'a\u0000b\u0001c\u001b[31mred\u0007\u0008\r\nnext\u2028line\u2029end\ufeff\ufffe'],
  ['lone surrogates', 'x\ud800y\udc00z'],
  ['combining', 'Z' + '\u0351\u0320\u033a\u0344'.repeat(60)],
  ['prototype', '__proto__'],
  ['empty', ''],
  ['long word', 'W'.repeat(900)],
  ['url', 'data:text/html,<script>' + touch + '</script> https://foreign.test/?q=' + 'a'.repeat(300)],
  ['line of 10 MB', '<b onmouseover=' + touch + '>' + 'x'.repeat(10 * 2 ** 20)],
].map(([name, text]) => ({ name, text }));
