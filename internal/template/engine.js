// What proviso adds around nunjucks.js: two functions for Go, compileTemplate
// and renderTemplate, which return mistakes of a template as data. It runs in
// the same global scope; addFilter and setEnv are called once, behind it.
'use strict';

const environment = new nunjucks.Environment([], { autoescape: false });
environment.addFilter('load', (text) => JSON.parse(text));

const templates = new Map();
const maxTemplates = 256;

/** Defines the global `env` of templates. */
function setEnv(values) {
  environment.addGlobal('env', values);
}

/** Defines a filter of the suite; one that cannot be loaded throws when it is used. */
function addFilter(name, source) {
  let filter;
  try {
    const module = { exports: {} };
    new Function('module', 'exports', source)(module, module.exports);
    filter = typeof module.exports === 'function' ? module.exports : module.exports.default;
    if (typeof filter !== 'function') throw new TypeError('the file exports no function');
  } catch (e) {
    filter = () => {
      throw new Error(`filter ${name}: ${e.message}`);
    };
  }
  environment.addFilter(name, filter);
}

/** Checks the syntax; returns {variables} or a mistake. */
function compileTemplate(text) {
  try {
    lookUp(text);
    const found = inspect(nunjucks.parser.parse(text, [], {}));
    return found.mistake ?? { variables: found.variables };
  } catch (e) {
    return mistake(e);
  }
}

/** Returns the rendered text or a mistake. */
function renderTemplate(text, vars) {
  try {
    return lookUp(text).render(vars) ?? { message: 'the template ended without a result' };
  } catch (e) {
    return mistake(e);
  }
}

/** The compiled template; the least recently used one is forgotten. */
function lookUp(text) {
  let template = templates.get(text);
  if (template) {
    templates.delete(text);
  } else {
    template = new nunjucks.Template(text, environment, '', true);
    if (templates.size >= maxTemplates) templates.delete(templates.keys().next().value);
  }
  templates.set(text, template);
  return template;
}

/**
 * Takes the place out of nunjucks' message. nunjucks wraps what it catches, and
 * so hides that a limit was exceeded: such an error is thrown again.
 */
function mistake(e) {
  let message = String(e?.message ?? e);
  if (/(^|InternalError: )(out of memory|string too long)$/.test(message)) {
    throw new InternalError('out of memory');
  }
  if (/(^|: )(stack overflow|Maximum call stack size exceeded)$/.test(message)) {
    throw new InternalError('stack overflow');
  }
  let line = 0;
  let column = 0;
  const head = /^(?:(?:Template render error|Error): )?\(unknown path\)(?: \[Line (\d+)(?:, Column (\d+))?\])?\n\s*/;
  for (let m; (m = head.exec(message)); message = message.slice(m[0].length)) {
    line ||= Number(m[1] ?? 0);
    column ||= Number(m[2] ?? 0);
  }
  return { message: message.replace(/^(Template render error|Error): /, ''), line, column };
}

const builtIn = new Set(['env', 'range', 'cycler', 'joiner', 'loop', 'caller', 'super']);
const branches = new Set(['If', 'IfAsync', 'InlineIf', 'And', 'Or', 'For', 'AsyncEach', 'AsyncAll', 'Macro', 'Caller', 'Switch', 'Block']);

/**
 * Lists the variables that a template needs: those it neither sets itself nor
 * asks about with if, or, default or `is defined`. An unknown filter is a
 * mistake where nothing can keep it from being used.
 */
function inspect(root) {
  const used = new Set();
  const known = new Set(builtIn);
  let unknownFilter = null;
  let straight = true;

  const optional = (node) => {
    while (node?.typename === 'LookupVal') node = node.target;
    if (node?.typename === 'Symbol') known.add(node.value);
    else walk(node);
  };
  const bind = (node) => {
    if (!node) return;
    if (node.typename === 'Symbol') known.add(node.value);
    else if (node.typename === 'Pair') { bind(node.key.typename ? node.key : null); node.value?.typename === 'Symbol' && known.add(node.value.value); }
    else node.children?.forEach(bind);
  };
  const filter = (node) => {
    const name = node.name.value;
    const [first, ...rest] = node.args.children;
    if (!Object.hasOwn(environment.filters, name)) unknownFilter ??= node;
    if (name === 'default' || name === 'd') optional(first);
    else walk(first);
    rest.forEach(walk);
  };
  const parameters = (args) => {
    for (const arg of args?.children ?? []) {
      if (arg.typename === 'Symbol') known.add(arg.value);
      else for (const pair of arg.children ?? []) { known.add(pair.key?.value); walk(pair.value); }
    }
  };
  const special = {
    Symbol: (node) => used.add(node.value),
    Filter: filter,
    Pair: (node) => { if (node.key?.typename !== 'Symbol') walk(node.key); walk(node.value); },
    Is: (node) => { optional(node.left); (node.right.args?.children ?? []).forEach(walk); },
    If: (node) => { optional(node.cond); walk(node.body); walk(node.else_); },
    Or: (node) => { optional(node.left); walk(node.right); },
    And: (node) => { optional(node.left); walk(node.right); },
    Not: (node) => optional(node.target),
    For: (node) => { bind(node.name); walk(node.arr); walk(node.body); walk(node.else_); },
    Set: (node) => { node.targets.forEach(bind); walk(node.value); walk(node.body); },
    Macro: (node) => { bind(node.name); parameters(node.args); walk(node.body); },
    Caller: (node) => { parameters(node.args); walk(node.body); },
    Import: (node) => { walk(node.template); bind(node.target); },
    FromImport: (node) => { walk(node.template); bind(node.names); },
    Block: (node) => walk(node.body),
    Output: (node) => node.children.forEach(walk),
  };
  special.IfAsync = special.InlineIf = special.If;
  special.AsyncEach = special.AsyncAll = special.For;

  function walk(node) {
    if (!node || typeof node !== 'object' || !node.typename) return;
    if (branches.has(node.typename)) straight = false;
    if (special[node.typename]) return special[node.typename](node);
    (node.children ?? []).forEach(walk);
    (node.fields ?? []).forEach((name) => name !== 'children' && walk(node[name]));
    (node.cases ?? []).forEach(walk);
  }

  walk(root);
  if (unknownFilter && straight) {
    const { name, lineno, colno } = unknownFilter;
    return { mistake: { message: `filter not found: ${name.value}`, line: lineno + 1, column: colno + 1, valid: Object.keys(environment.filters).sort() } };
  }
  return { variables: [...used].filter((name) => !known.has(name)) };
}
