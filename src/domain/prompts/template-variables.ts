/** The variables that the Liquid templates of a prompt take from outside. */

const NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const NUMBER_OR_TEXT = /^(?:\d|['"])/;
/** Words of the language that are not variables. */
const WORDS: ReadonlySet<string> = new Set([
  ...['true', 'false', 'nil', 'null', 'empty', 'blank', 'and', 'or', 'not', 'contains', 'forloop'],
  ...['if', 'elsif', 'else', 'endif', 'unless', 'endunless', 'for', 'endfor', 'in', 'case', 'when'],
]);
const CONDITIONS: ReadonlySet<string> = new Set(['if', 'elsif', 'unless']);

/** In the order of their first use. Those that a template sets itself are left out. */
export function templateVariables(text: string): readonly string[] {
  const taken = new Set<string>();
  const own = new Set<string>();
  for (const { kind, inside } of readTags(text)) {
    if (kind === 'value') addName(taken, inside.split('|', 1)[0] ?? '');
    else readStatement(inside, { taken, own });
  }
  return [...taken].filter((name) => !own.has(name));
}

type Tag = { readonly kind: 'value' | 'statement'; readonly inside: string };

/** The `{{ values }}` and `{% statements %}`, none of which goes over the end of a line. */
function* readTags(text: string): Generator<Tag> {
  for (const line of text.split('\n')) {
    const lastEnds = new Map([...CLOSING.values()].map((close) => [close, line.lastIndexOf(close)]));
    let at = line.indexOf('{');
    while (at >= 0) {
      const close = CLOSING.get(line.slice(at, at + 2));
      // The look at the last end keeps a line of openings alone from being searched once for each of them.
      const hasEnd = close !== undefined && (lastEnds.get(close) ?? -1) >= at + 2;
      const end = hasEnd ? line.indexOf(close, at + 2) : -1;
      if (end >= 0) yield { kind: close === '}}' ? 'value' : 'statement', inside: line.slice(at + 2, end).trim() };
      at = line.indexOf('{', end >= 0 ? end + 2 : at + 1);
    }
  }
}

const CLOSING: ReadonlyMap<string, string> = new Map([
  ['{{', '}}'],
  ['{%', '%}'],
]);

type Found = { readonly taken: Set<string>; readonly own: Set<string> };

function readStatement(inside: string, { taken, own }: Found): void {
  const [keyword = '', ...parts] = inside.split(/\s+/);
  const [first = '', second, third = ''] = parts;
  if (keyword === 'for' && second === 'in') {
    own.add(first);
    addName(taken, third);
  } else if (keyword === 'assign') {
    own.add(first.replace(/=.*$/, ''));
  } else if (CONDITIONS.has(keyword)) {
    for (const part of parts) if (!NUMBER_OR_TEXT.test(part)) addName(taken, part);
  }
}

/** Adds the variable before the first point, if there is one. */
function addName(names: Set<string>, expression: string): void {
  const name = (expression.trim().split('.', 1)[0] ?? '').trim();
  if (NAME.test(name) && !WORDS.has(name)) names.add(name);
}
