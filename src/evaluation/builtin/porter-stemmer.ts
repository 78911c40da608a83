/**
 * Porter's stemmer as NLTK changed it: "flies" and "dies" keep their vowels apart, "y" stays after a lone consonant,
 * and some irregular words are listed.
 */

const IRREGULAR: ReadonlyMap<string, string> = new Map([
  ['skies', 'sky'],
  ['sky', 'sky'],
  ['dying', 'die'],
  ['lying', 'lie'],
  ['tying', 'tie'],
  ['news', 'news'],
  ['innings', 'inning'],
  ['inning', 'inning'],
  ['outings', 'outing'],
  ['outing', 'outing'],
  ['cannings', 'canning'],
  ['canning', 'canning'],
  ['howe', 'howe'],
  ['proceed', 'proceed'],
  ['exceed', 'exceed'],
  ['succeed', 'succeed'],
]);

/** The stem of a lower-case ASCII word. */
export function stemWord(word: string): string {
  const irregular = IRREGULAR.get(word);
  if (irregular !== undefined) return irregular;
  if (word.length <= 2) return word;
  return STEPS.reduce((stem, step) => step(stem), word);
}

type Step = (word: string) => string;
type Rule = readonly [suffix: string, replacement: string, condition?: (stem: string) => boolean];

const STEPS: readonly Step[] = [
  dropPlural,
  dropPastAndGerund,
  turnFinalY,
  shortenDoubleSuffix,
  (word) => applyFirst(word, SINGLE_SUFFIXES),
  (word) => applyFirst(word, LAST_SUFFIXES),
  dropFinalE,
  (word) => applyFirst(word, [['ll', 'l', () => measure(word.slice(0, -1)) > 1]]),
];

/** The first rule with a matching suffix decides, even when its condition fails. */
function applyFirst(word: string, rules: readonly Rule[]): string {
  const rule = rules.find(([suffix]) => word.endsWith(suffix));
  if (rule === undefined) return word;
  const [suffix, replacement, condition] = rule;
  const stem = withoutSuffix(word, suffix);
  return condition === undefined || condition(stem) ? stem + replacement : word;
}

function withoutSuffix(word: string, suffix: string): string {
  return word.slice(0, word.length - suffix.length);
}

function dropPlural(word: string): string {
  if (word.endsWith('ies') && word.length === 4) return `${withoutSuffix(word, 'ies')}ie`;
  return applyFirst(word, [
    ['sses', 'ss'],
    ['ies', 'i'],
    ['ss', 'ss'],
    ['s', ''],
  ]);
}

function dropPastAndGerund(word: string): string {
  if (word.endsWith('ied')) return withoutSuffix(word, 'ied') + (word.length === 4 ? 'ie' : 'i');
  if (word.endsWith('eed')) return applyFirst(word, [['eed', 'ee', hasMeasure]]);
  const suffix = ['ed', 'ing'].find((each) => word.endsWith(each) && hasVowel(withoutSuffix(word, each)));
  return suffix === undefined ? word : repairStem(withoutSuffix(word, suffix));
}

/** Repairs stems such as those of "hoping" and "hopping". */
function repairStem(stem: string): string {
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  const last = stem.at(-1) ?? '';
  if (endsInDoubleConsonant(stem)) return 'lsz'.includes(last) ? stem : stem.slice(0, -1);
  return measure(stem) === 1 && endsInShortSyllable(stem) ? `${stem}e` : stem;
}

function turnFinalY(word: string): string {
  return applyFirst(word, [['y', 'i', (stem) => stem.length > 1 && endsInConsonant(stem)]]);
}

function shortenDoubleSuffix(word: string): string {
  // Applied first, and then the step runs again on the result.
  if (word.endsWith('alli') && hasMeasure(withoutSuffix(word, 'alli'))) return shortenDoubleSuffix(word.slice(0, -2));
  const rules: readonly Rule[] = DOUBLE_SUFFIXES.map(([suffix, replacement]) => [suffix, replacement, hasMeasure]);
  // The stem keeps the l, so that "geology" is shortened like "archaeology".
  return applyFirst(word, [...rules, ['logi', 'log', () => hasMeasure(word.slice(0, -3))]]);
}

const DOUBLE_SUFFIXES: readonly (readonly [suffix: string, replacement: string])[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
  ['fulli', 'ful'],
];

const SINGLE_SUFFIXES: readonly Rule[] = [
  ['icate', 'ic', hasMeasure],
  ['ative', '', hasMeasure],
  ['alize', 'al', hasMeasure],
  ['iciti', 'ic', hasMeasure],
  ['ical', 'ic', hasMeasure],
  ['ful', '', hasMeasure],
  ['ness', '', hasMeasure],
];

const isLong = (stem: string) => measure(stem) > 1;

const LAST_SUFFIXES: readonly Rule[] = [
  ...['al', 'ance', 'ence', 'er', 'ic', 'able', 'ible', 'ant', 'ement', 'ment', 'ent'].map(
    (suffix): Rule => [suffix, '', isLong],
  ),
  ['ion', '', (stem) => isLong(stem) && /[st]$/.test(stem)],
  ...['ou', 'ism', 'ate', 'iti', 'ous', 'ive', 'ize'].map((suffix): Rule => [suffix, '', isLong]),
];

function dropFinalE(word: string): string {
  if (!word.endsWith('e')) return word;
  const stem = word.slice(0, -1);
  const size = measure(stem);
  return size > 1 || (size === 1 && !endsInShortSyllable(stem)) ? stem : word;
}

/** One letter per letter of the word: `c` for a consonant, `v` for a vowel. A y after a consonant is a vowel. */
function shapeOf(word: string): string {
  let shape = '';
  let previous = 'v';
  for (const letter of word) {
    const isVowel = letter === 'y' ? previous === 'c' : 'aeiou'.includes(letter);
    previous = isVowel ? 'v' : 'c';
    shape += previous;
  }
  return shape;
}

/** The number of vowel-consonant sequences. */
function measure(stem: string): number {
  return shapeOf(stem).split('vc').length - 1;
}

function hasMeasure(stem: string): boolean {
  return shapeOf(stem).includes('vc');
}

function hasVowel(stem: string): boolean {
  return shapeOf(stem).includes('v');
}

function endsInConsonant(word: string): boolean {
  return shapeOf(word).endsWith('c');
}

function endsInDoubleConsonant(word: string): boolean {
  return word.length >= 2 && word.at(-1) === word.at(-2) && endsInConsonant(word);
}

/** Whether the word is a vowel and a consonant, or ends in consonant, vowel, and a consonant other than w, x or y. */
function endsInShortSyllable(word: string): boolean {
  const shape = shapeOf(word);
  return shape === 'vc' || (shape.endsWith('cvc') && !/[wxy]$/.test(word));
}
