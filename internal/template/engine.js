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

/**
 * Checks the syntax of a text, or of the file with that name; returns
 * {variables, files}, where files are those that it includes, or a mistake.
 */
function compileTemplate(text, file) {
  try {
    lookUp(text, file);
    const found = inspect(nunjucks.parser.parse(text, [], {}), file);
    return found.mistake ?? { variables: found.variables, files: found.files };
  } catch (e) {
    return mistake(e);
  }
}

/** The files that the template which is rendered may include: name to text. */
let sources = {};

/** Returns the rendered text or a mistake. */
function renderTemplate(text, vars, files) {
  sources = files ?? {};
  try {
    return lookUp(text, '').render(vars) ?? { message: 'the template ended without a result' };
  } catch (e) {
    return mistake(e);
  } finally {
    sources = {};
  }
}

const marked = new Map();

/**
 * Renders a template with markers in the place of what it prints. Returns the text,
 * the values by the names in the markers, and the name of the first one without a
 * value, or a mistake.
 */
function markTemplate(text, vars) {
  try {
    if (!marked.has(text)) {
      if (marked.size >= maxTemplates) marked.clear();
      marked.set(text, markedTemplate(text));
    }
    const values = new Map();
    let missing;
    const rendered = marked.get(text).render({
      ...vars,
      [markFunction]: (name, needs, value) => {
        missing ??= needs.split(' ').find((need) => need && !Object.hasOwn(vars, need)) ?? (value === undefined ? name : undefined);
        const printed = value === null || value === undefined ? '' : String(value);
        let unique = name;
        for (let n = 2; values.has(unique) && values.get(unique) !== printed; n++) unique = `${name} ${n}`;
        values.set(unique, printed);
        return `{{${unique}}}`;
      },
    });
    if (rendered === null) return { message: 'the template ended without a result' };
    return { text: rendered, values: Object.fromEntries(values), missing };
  } catch (e) {
    return mistake(e);
  }
}

const markFunction = '__mark';

/**
 * Compiles a template in which everything that is printed goes through the function
 * that marks. What is printed into a macro or a capture is part of a value, which is
 * marked where it is printed in turn.
 */
function markedTemplate(text) {
  const { nodes, compiler } = nunjucks;
  const names = expressions(text);
  const root = nunjucks.parser.parse(text, [], {});
  const free = new Set(inspect(root).variables ?? []);
  const inside = new Set(['Capture', 'Macro', 'Caller']);
  const wrap = (node, value) => {
    const { lineno, colno } = node;
    const literal = (text) => new nodes.Literal(lineno, colno, text);
    const needs = (inspect(value).variables ?? []).filter((name) => free.has(name));
    const args = [literal(names.get(`${lineno}:${colno}`) ?? 'text'), literal(needs.join(' ')), value];
    return new nodes.FunCall(lineno, colno, new nodes.Symbol(lineno, colno, markFunction), new nodes.NodeList(lineno, colno, args));
  };
  (function walk(node) {
    if (!node || typeof node !== 'object' || !node.typename || inside.has(node.typename)) return;
    if (node.typename === 'Output') {
      node.children = node.children.map((child) => (child.typename === 'TemplateData' ? child : wrap(node, child)));
      return;
    }
    (node.children ?? []).forEach(walk);
    (node.fields ?? []).forEach((name) => name !== 'children' && walk(node[name]));
    (node.cases ?? []).forEach(walk);
  })(root);
  const compiling = new compiler.Compiler('', false);
  compiling.compile(root);
  return new nunjucks.Template({ type: 'code', obj: new Function(compiling.getCode())() }, environment, '', true);
}

/** What stands in each {{ }} of a template, by its place. */
function expressions(text) {
  const found = new Map();
  const tokens = nunjucks.lexer.lex(text, {});
  let start;
  for (let token = tokens.nextToken(); token; token = tokens.nextToken()) {
    if (token.type === 'variable-start') start = { place: `${token.lineno}:${token.colno}`, index: tokens.index };
    if (token.type === 'variable-end') {
      found.set(start.place, text.slice(start.index, tokens.index - token.value.length).trim().replace(/\s+/g, ' '));
    }
  }
  return found;
}

/** Templates come from sources and nowhere else. */
environment.getTemplate = (name, eager, parent, ignoreMissing, callback) => {
  let template = name;
  if (!(name instanceof nunjucks.Template)) {
    name = resolveName(parent, String(name));
    if (Object.hasOwn(sources, name)) template = lookUp(sources[name], name);
    else if (ignoreMissing) template = lookUp('', '');
    else template = null;
  }
  const error = template ? null : new Error(`template not found: ${name}`);
  if (callback) return void callback(error, template);
  if (error) throw error;
  return template;
};

/** The name of an included file: with ./ or ../ it is relative to the file that includes it. */
function resolveName(parent, name) {
  const parts = [];
  const relative = parent && /^\.\.?\//.test(name);
  const full = relative ? `${parent.replace(/[^/]*$/, '')}${name}` : name;
  for (const part of full.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..' && parts.length && parts.at(-1) !== '..') parts.pop();
    else parts.push(part);
  }
  return (full.startsWith('/') ? '/' : '') + parts.join('/');
}

/** The compiled template; the least recently used one is forgotten. */
function lookUp(text, file) {
  const key = `${file}\0${text}`;
  let template = templates.get(key);
  if (template) {
    templates.delete(key);
  } else {
    template = new nunjucks.Template(text, environment, file, true);
    if (templates.size >= maxTemplates) templates.delete(templates.keys().next().value);
  }
  templates.set(key, template);
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
 * mistake where nothing can keep it from being used. The files that it includes
 * are listed; a name that is no text is a mistake.
 */
function inspect(root, file) {
  const used = new Set();
  const files = [];
  let computed = null;
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
  const include = (node) => {
    const { template } = node;
    if (typeof template?.value !== 'string' || template.typename !== 'Literal') computed ??= node;
    else files.push({ name: resolveName(file, template.value), line: node.lineno + 1, column: node.colno + 1, optional: node.ignoreMissing === true });
  };
  const special = {
    Include: include,
    Extends: include,
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
    Import: (node) => { include(node); bind(node.target); },
    FromImport: (node) => { include(node); bind(node.names); },
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
  if (computed) {
    return { mistake: { message: 'the name of an included file must be a text in quotes', line: computed.lineno + 1, column: computed.colno + 1 } };
  }
  return { variables: [...used].filter((name) => !known.has(name)), files };
}
