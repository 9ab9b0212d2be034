// Finds out with which characters the rules of a PEG.js parser cannot begin.
//
// Each rule is run with each ASCII character, and with the end of the text, as
// all that is known. As soon as the character matches something, or an action or
// predicate is called, the outcome depends on more than that, and the run is
// given up. A run that ends in failure before that fails with every text that
// begins with the character, and does nothing else. Such a rule gets a guard,
// which looks the character up in a table. While expectations are collected,
// guards are off: a rule that fails at once would not say what it expected.

const endOfText = 129; // what peg$codes holds there; 128 stands for all other characters

/** Adds guards to the rules of a transformed parser. */
export function addGuards(code) {
  const tables = new Map(); // text of a table to its number
  const guards = new Map(); // rule to the number of its table
  for (const [rule, fails] of failures(code)) {
    const table = fails.map(Number).join('');
    if (!table.includes('1')) continue;
    if (!tables.has(table)) tables.set(table, tables.size);
    guards.set(rule, tables.get(table));
  }
  const guarded = code.replace(/^ {2}function (peg\$parse\w+)\(\) \{\n/gm, (head, rule) =>
    guards.has(rule)
      ? `${head}    if (peg$silentFails !== 0 && peg$guard${guards.get(rule)}[peg$codes[peg$currPos]] === 1) return peg$FAILED;\n`
      : head,
  );
  const lines = [...tables].map(([table, n]) => `const peg$guard${n} = peg$table("${table}");\n`);
  return `const peg$table = (bits) => Uint8Array.from(bits, Number);\n${lines.join('')}${guarded}`;
}

/** Yields [rule, whether it fails for each of peg$codes]. */
function* failures(code) {
  const { names, run } = analysis(code);
  for (const name of names) {
    yield [name, Array.from({ length: endOfText + 1 }, (_, c) => c !== 128 && run(name, c))];
  }
}

/** The parser with every look at the text replaced. */
function analysis(code) {
  const names = [...code.matchAll(/^ {2}function (peg\$parse\w+)\(\) \{$/gm)].map((m) => m[1]);
  const constants = [...new Set(code.match(/peg\$c\d+(?= = )/g))];
  const source = code
    .replace(/peg\$lower\.startsWith\((peg\$c\d+), peg\$currPos\)/g, 'peg$sees($1[0], true)')
    .replace(/input\.startsWith\((peg\$c\d+), peg\$currPos\)/g, 'peg$sees($1[0], false)')
    .replace(/peg\$in\((peg\$c\d+)\)/g, 'peg$seesClass($1)')
    .replace(/peg\$codes\[peg\$currPos\] === (\d+)/g, 'peg$sees(String.fromCharCode($1), false)')
    .replace(/input\.length > peg\$currPos/g, 'peg$seesAny()')
    .replace('require("big-integer")', 'null')
    .replace(/^module\.exports/m, 'const unused');
  return new Function(`${source}
    const unknown = () => { throw unknown; };
    let char = '';
    const peg$sees = (c, fold) => (c === undefined || c === (fold ? char.toLowerCase() : char) ? unknown() : false);
    const peg$seesClass = ([, regex]) => (regex.test(char) ? unknown() : false);
    const peg$seesAny = () => (char === '' ? false : unknown());
    ${constants.map((c) => `if (typeof ${c} === 'function') ${c} = unknown;`).join('\n')}
    const rules = { ${names.join(', ')} };
    return {
      names: Object.keys(rules),
      run(name, code) {
        char = code === ${endOfText} ? '' : String.fromCharCode(code);
        peg$currPos = 0;
        peg$silentFails = 1;
        try {
          return rules[name]() === peg$FAILED;
        } catch (e) {
          if (e !== unknown) throw e;
          return false;
        }
      },
    };
  `)();
}
