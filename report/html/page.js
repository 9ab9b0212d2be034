'use strict';
(() => {
  // Everything that comes from the run is put in as text, never as markup.
  const byId = (id) => document.getElementById(id);
  const run = JSON.parse(byId('run').textContent);
  const rows = JSON.parse(byId('rows').textContent);
  const page = 50; // cases that are put in the table at a time
  const glyph = { pass: '✓', fail: '✕', error: '!', skip: '–' };
  const sign = { ...glyph, fail: '✗' };
  const word = { pass: 'Pass', fail: 'Fail', error: 'Error', skip: 'Skipped' };
  const outcome = { ...word, skip: 'Not checked' }; // of a row
  const rank = { fail: 0, error: 1, pass: 2, skip: 3 };

  function el(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value !== undefined && value !== false) node.setAttribute(name, value === true ? '' : value);
    }
    node.append(...children.filter((child) => child !== undefined && child !== null && child !== ''));
    return node;
  }

  // Characters that would not be seen, or that turn the text around them, are
  // shown as escapes.
  const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
  const code = (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0');
  const plain = (text) => text.replace(unseen, code);
  function visible(text) {
    const parts = [];
    let at = 0;
    for (const m of text.matchAll(unseen)) {
      if (m.index > at) parts.push(text.slice(at, m.index));
      parts.push(el('span', { class: 'escape' }, code(m[0])));
      at = m.index + m[0].length;
    }
    if (at < text.length) parts.push(text.slice(at));
    return parts;
  }
  const number = (n) => n.toLocaleString('en');
  const plural = (n, noun) => number(n) + ' ' + noun + (n === 1 ? '' : 's');

  // Rows come case by case.
  const cases = [];
  for (const row of rows) {
    let last = cases[cases.length - 1];
    if (!last || last.test !== row.t) {
      last = { test: row.t, cells: [], row };
      cases.push(last);
    }
    last.cells[row.c] = row;
  }
  for (const one of cases) {
    const cells = one.cells.filter(Boolean);
    one.has = new Set(cells.map((row) => row.s));
    one.kinds = new Set(cells.flatMap((row) => row.a.filter((a) => a.s === 'fail' || a.s === 'error').map((a) => a.n)));
    one.differ = one.has.size > 1;
  }
  const wide = run.columns.length > 1;
  const state = { filter: 'all', kind: '', query: '', shown: page, open: '' };
  let list = [];
  let active = ''; // the cell that Tab reaches

  // searched returns what the search looks through, made when it is first needed.
  function searched(one) {
    if (one.text === undefined) {
      one.text = one.cells.filter(Boolean).map((row) => [row.n, row.d, row.out, row.err, row.prompt, ...row.vars.flat(),
        ...row.a.flatMap((a) => [a.k, a.n, a.why, a.asks, ...(a.criteria || []).flatMap((c) => [c.text, c.why])])].join('\n')).join('\n').toLowerCase();
    }
    return one.text;
  }

  const filters = {
    all: ['All', () => true],
    fail: ['Failed', (one) => one.has.has('fail')],
    error: ['Errors', (one) => one.has.has('error')],
    pass: ['Passed', (one) => !one.has.has('fail') && !one.has.has('error')],
    differ: ['Differ', (one) => one.differ],
  };

  function select() {
    const query = state.query.trim().toLowerCase();
    const [, holds] = filters[state.filter];
    list = cases.filter((one) => holds(one) && (!state.kind || one.kinds.has(state.kind)) && (!query || searched(one).includes(query)));
  }

  const key = (row) => row.t + '.' + row.c;
  const cellOf = (id) => (id ? document.querySelector('[data-cell="' + CSS.escape(id) + '"]') : null);
  const cells = () => [...byId('matrix').querySelectorAll('.cell')];

  function caseHead(one) {
    const row = one.row;
    const given = row.vars.map(([name, value]) => name + '=' + value).join('  ');
    return el('th', { scope: 'row' }, el('span', { class: 'num' }, row.n), row.d ? ' ' : '', ...visible(row.d || ''),
      given && el('span', { class: 'given' }, plain(given.slice(0, 200))));
  }

  function cell(row) {
    const id = key(row);
    const broken = row.a.filter((a) => a.s === 'fail' || a.s === 'error');
    const why = broken.length ? broken[0].k + ': ' + broken[0].why : row.err || '';
    const held = row.a.filter((a) => a.s === 'pass').length;
    const button = el('button', {
      type: 'button', class: 'cell ' + row.s, 'data-cell': id, tabindex: '-1', 'aria-expanded': String(state.open === id),
      'aria-controls': state.open === id ? 'panel' : undefined,
    }, el('span', { class: 'word' }, el('span', { 'aria-hidden': 'true' }, glyph[row.s] + ' '), outcome[row.s]),
    el('span', { class: 'dots', 'aria-hidden': 'true' }, ...row.a.slice(0, 24).map((a) => el('span', { class: 'dot ' + a.s, title: plain(a.n) }))),
    row.a.length ? el('span', { class: 'hidden' }, held + ' of ' + plural(row.a.length, 'assertion') + ' passed') : '',
    (row.s === 'fail' || row.s === 'error') && why ? el('span', { class: 'why' }, plain(why.slice(0, 300))) : '');
    return el('td', {}, button);
  }

  function tableRow(one) {
    const tr = el('tr', {}, caseHead(one));
    run.columns.forEach((_, i) => {
      const row = one.cells[i];
      tr.append(row ? cell(row) : el('td', {}, el('span', { class: 'hidden' }, 'not asked')));
    });
    return tr;
  }

  function head() {
    const tr = el('tr', {}, el('th', { scope: 'col' }, 'Case'));
    for (const column of run.columns) {
      tr.append(el('th', { scope: 'col' }, el('b', {}, ...visible(column.provider)),
        el('span', { class: 'prompt' }, plain(column.prompt.slice(0, 300))), wide ? el('span', {}, column.rate) : ''));
    }
    byId('matrix').tHead.replaceChildren(tr);
  }

  function draw() {
    select();
    const body = byId('matrix').tBodies[0];
    const part = list.slice(0, state.shown);
    body.replaceChildren(...part.map(tableRow));
    const open = cellOf(state.open);
    if (open) body.insertBefore(details(state.open), open.closest('tr').nextSibling);
    else state.open = '';
    if (!cellOf(active)) active = cells()[0]?.dataset.cell || '';
    cellOf(active)?.setAttribute('tabindex', '0');
    byId('status').textContent = plural(list.length, 'case') + (list.length === cases.length ? '' : ' of ' + number(cases.length)) +
      (part.length < list.length ? ', ' + number(part.length) + ' shown' : '');
    byId('more').hidden = part.length === list.length;
    byId('more').textContent = 'Show ' + number(Math.min(page, list.length - part.length)) + ' more';
    byId('matrix').parentElement.hidden = list.length === 0;
    byId('none').hidden = list.length > 0;
    byId('none').textContent = cases.length ? 'No case matches these filters.' : 'The run has no rows.';
    for (const button of byId('filters').children) button.setAttribute('aria-pressed', String(button.value === state.filter));
    byId('kind').value = state.kind;
    remember();
  }

  // remember keeps what is shown in the address, for links and reloading.
  function remember() {
    const hash = new URLSearchParams();
    if (state.filter !== 'all') hash.set('show', state.filter);
    if (state.kind) hash.set('assertion', state.kind);
    if (state.query) hash.set('q', state.query);
    if (state.open) hash.set('open', state.open);
    const text = hash.toString();
    try {
      history.replaceState(null, '', text ? '#' + text : location.pathname + location.search);
    } catch { /* some browsers refuse it for files */ }
  }

  function recall() {
    const hash = new URLSearchParams(location.hash.slice(1));
    if (Object.hasOwn(filters, hash.get('show') || '')) state.filter = hash.get('show');
    state.kind = hash.get('assertion') || '';
    state.query = hash.get('q') || '';
    state.open = hash.get('open') || '';
    byId('search').value = state.query;
    select();
    const at = list.findIndex((one) => one.cells.some((row) => row && key(row) === state.open));
    if (at >= state.shown) state.shown = at + 1;
  }

  function long(title, text, marks) {
    if (text === undefined || text === null) return '';
    return el('div', {}, el('h4', {}, title), el('pre', { class: 'text', tabindex: '0', 'aria-label': title },
      ...(text === '' ? [el('i', {}, '(empty)')] : marked(text, marks || []))));
  }

  // marked returns a text with parts of it marked: what the verdicts rest on.
  function marked(text, marks) {
    const parts = [];
    let at = 0;
    for (const [from, to] of marks.sort((a, b) => a[0] - b[0] || b[1] - a[1])) {
      if (from < at || to > text.length) continue;
      parts.push(...visible(text.slice(at, from)), el('mark', {}, ...visible(text.slice(from, to))));
      at = to;
    }
    return [...parts, ...visible(text.slice(at))];
  }

  // evidence returns where the output has what the assertions of a row rest on.
  function evidence(row) {
    return row.a.flatMap((a) => [a, ...(a.criteria || [])]).flatMap((one) => one.ev || [])
      .filter(([quote, , at]) => at >= 0 && quote).map(([quote, , at]) => [at, at + quote.length]);
  }

  const quoted = (list) => (list || []).map(([quote, note]) => el('blockquote', {}, ...visible('“' + quote + '”'), note ? el('span', { class: 'label' }, ' ', ...visible(note)) : ''));

  // criterion shows the answer to one criterion of a judged assertion.
  function criterion(c) {
    return el('li', {}, el('span', { class: 'word ' + c.s }, el('span', { 'aria-hidden': 'true' }, sign[c.s] + ' '), el('span', { class: 'hidden' }, word[c.s])),
      ...visible(c.text), c.why ? el('p', {}, ...visible(c.why)) : '', ...quoted(c.ev));
  }

  function diff(parts) {
    if (!parts) return '';
    const dl = el('dl', { class: 'diff' });
    for (const [name, before, marked, after, whole] of parts) {
      dl.append(el('dt', {}, name), el('dd', {}, ...visible(before),
        whole ? '' : el('mark', {}, ...(marked ? visible(marked) : [el('span', { class: 'escape' }, 'nothing')])), ...visible(after),
        before + marked + after === '' && whole ? el('i', {}, '(empty)') : ''));
    }
    return dl;
  }

  function check(a) {
    const facts = [];
    const sure = a.s === 'pass' ? '1' : '0'; // not worth a word
    if (a.score !== undefined && (a.score !== sure || a.th !== undefined)) facts.push('score ' + a.score + (a.th === undefined ? '' : ' (threshold ' + a.th + ')'));
    if (a.judge) facts.push(plain(a.judge));
    return el('li', { class: a.level ? 'part' : undefined },
      el('span', { class: 'word ' + a.s }, el('span', { 'aria-hidden': 'true' }, glyph[a.s] + ' '), a.s === 'error' ? 'Not decided' : word[a.s]),
      el('b', {}, ...visible(a.k)),
      facts.length ? el('span', { class: 'score' }, ' · ' + facts.join(' · ')) : '', a.why && a.why !== 'Assertion passed' ? el('p', {}, ...visible(a.why)) : '', diff(a.parts),
      a.asks ? el('p', { class: 'asks' }, el('span', { class: 'label' }, 'Asks: '), ...visible(a.asks)) : '',
      a.criteria ? el('ul', { class: 'criteria' }, ...a.criteria.map(criterion)) : '', ...quoted(a.ev));
  }

  // ordered returns assertions with those that did not hold first; parts stay
  // with what they are part of.
  function ordered(all) {
    const groups = [];
    for (const a of all) {
      if (a.level && groups.length) groups[groups.length - 1].push(a);
      else groups.push([a]);
    }
    return groups.sort((a, b) => rank[a[0].s] - rank[b[0].s]).flat();
  }

  function details(id) {
    const row = rows.find((one) => key(one) === id);
    const column = run.columns[row.c] || { provider: '', prompt: '' };
    const facts = [column.provider, ...(wide && column.prompt ? [column.prompt.slice(0, 80)] : []), 'score ' + row.score];
    if (row.ms) facts.push(number(Math.round(row.ms)) + ' ms');
    if (row.cost) facts.push('$' + row.cost.toPrecision(3) + (row.incurred === undefined ? '' : ' (incurred $' + row.incurred + ')'));
    if (row.forgiven) facts.push('failed, but the case passed as many repeats as it has to');
    const close = el('button', { type: 'button', class: 'close' }, 'Close');
    close.addEventListener('click', () => toggle(id));
    const vars = el('dl', { class: 'vars' });
    for (const [name, value] of row.vars) vars.append(el('dt', {}, ...visible(name)), el('dd', {}, ...visible(value)));
    const checks = el('ul', { class: 'checks' }, ...ordered(row.a).map(check));
    const panel = el('section', { class: 'panel', id: 'panel', 'aria-labelledby': 'panel-title' },
      el('header', {}, el('div', {}, el('h3', { id: 'panel-title' }, el('span', { class: 'word ' + row.s }, glyph[row.s] + ' ' + outcome[row.s]),
        row.n, row.d ? ': ' : '', ...visible(row.d || '')), el('p', { class: 'facts' }, plain(facts.join(' · ')))), close),
      el('div', { class: 'sides' },
        el('div', {}, long('Output', row.out, evidence(row)), row.vars.length ? el('h4', {}, 'Variables') : '', row.vars.length ? vars : '', long('Prompt', row.prompt)),
        el('div', {}, long('Why', row.err), row.a.length ? el('h4', {}, 'Assertions') : '', checks)));
    panel.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      toggle(id);
    });
    return el('tr', { class: 'details' }, el('td', { colspan: run.columns.length + 1 }, panel));
  }

  // toggle opens a cell, or closes it, and keeps the focus on it.
  function toggle(id) {
    const before = cellOf(state.open);
    document.querySelector('tr.details')?.remove();
    before?.setAttribute('aria-expanded', 'false');
    before?.removeAttribute('aria-controls');
    state.open = state.open === id ? '' : id;
    const now = cellOf(id);
    if (state.open && now) {
      now.closest('tr').after(details(id));
      now.setAttribute('aria-expanded', 'true');
      now.setAttribute('aria-controls', 'panel');
    }
    focus(now);
    remember();
  }

  function focus(button) {
    if (!button) return;
    cellOf(active)?.setAttribute('tabindex', '-1');
    active = button.dataset.cell;
    button.setAttribute('tabindex', '0');
    button.focus();
    button.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  // beside returns the cell that a key leads to from a cell.
  function beside(button, name) {
    const all = cells();
    const at = all.indexOf(button);
    const line = [...button.closest('tr').querySelectorAll('.cell')];
    const column = button.closest('td').cellIndex;
    const problem = (one) => one.classList.contains('fail') || one.classList.contains('error');
    const below = (one) => one.closest('td').cellIndex === column && one !== button;
    switch (name) {
      case 'ArrowRight': return line[line.indexOf(button) + 1];
      case 'ArrowLeft': return line[line.indexOf(button) - 1];
      case 'ArrowDown': return all.slice(at).find(below);
      case 'ArrowUp': return all.slice(0, at).findLast(below);
      case 'Home': return line[0];
      case 'End': return line[line.length - 1];
      case 'j': case 'J': return all.slice(at + 1).find(problem);
      case 'k': case 'K': return all.slice(0, at).findLast(problem);
    }
    return undefined;
  }

  byId('matrix').addEventListener('click', (event) => {
    const button = event.target.closest('.cell');
    if (button) toggle(button.dataset.cell);
  });
  byId('matrix').addEventListener('keydown', (event) => {
    const button = event.target.closest('.cell');
    if (!button || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape' && state.open) return toggle(state.open);
    const next = beside(button, event.key);
    if (!next && !event.key.startsWith('Arrow')) return;
    event.preventDefault();
    focus(next);
  });
  byId('more').addEventListener('click', () => {
    const first = list[state.shown];
    state.shown += page;
    draw();
    focus(cellOf(key(first.cells.find(Boolean))));
  });
  let waiting = 0;
  byId('search').addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => change({ query: byId('search').value }), 80);
  });
  byId('kind').addEventListener('change', () => change({ kind: byId('kind').value }));

  function change(by) {
    Object.assign(state, by, { shown: page });
    draw();
  }

  for (const [value, [name, holds]] of Object.entries(filters)) {
    const n = cases.filter(holds).length;
    if (value === 'differ' && !wide) continue;
    const button = el('button', { type: 'button', value }, name + ' ' + number(n));
    button.addEventListener('click', () => change({ filter: value }));
    byId('filters').append(button);
  }
  byId('kind').append(el('option', { value: '' }, 'any'));
  for (const kind of [...new Set(cases.flatMap((one) => [...one.kinds]))].sort()) {
    byId('kind').append(el('option', { value: kind }, 'failed: ' + plain(kind).slice(0, 80)));
  }
  // An assertion of the table leads to the cases that it kept from passing.
  for (const name of document.querySelectorAll('th[data-name]')) {
    const kind = name.dataset.name;
    if (!cases.some((one) => one.kinds.has(kind))) continue;
    const button = el('button', { type: 'button', class: 'link' }, ...name.childNodes);
    button.addEventListener('click', () => {
      change({ kind, filter: 'all' });
      byId('cases').focus();
    });
    name.replaceChildren(button);
  }
  byId('app').hidden = false;
  head();
  recall();
  draw();
})();
