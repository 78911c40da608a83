/** The query line: words, and filters written as name:value. */

import { exampleOf, intersected, type Measure, readNumberRange, showNumberRange } from './number-range.ts';

export type Filter = { readonly name: string; readonly value: string };
/** As the api takes it; the key is that of the metadata, or the evaluator. */
export type SentFilter = { readonly name: string; readonly key?: string; readonly values: string[] };
type QueryLine = { readonly text: string; readonly filters: readonly Filter[] };
type ParsedLine = QueryLine & {
  /** Words that look like filters, of a name that no filter has. */
  readonly unknown: readonly string[];
  /** The names of filters without a value. */
  readonly empty: readonly string[];
  /** Filters of numbers whose value is not a range. */
  readonly unreadable: readonly Filter[];
};

type Kind = {
  /** The text before the colon; if `of` is set, a dot and a name follow it. */
  readonly name: string;
  readonly label: string;
  /** Its name in the api. */
  readonly filter: string;
  /** The kind of name after the dot. */
  readonly of?: 'key' | 'evaluator';
  readonly values?: readonly string[];
  /** What the range is about that is its value. */
  readonly range?: Measure;
};

const FLAGS = ['true', 'false'];

export const FILTER_KINDS: readonly Kind[] = [
  { name: 'error', label: 'Failed', filter: 'traces.error', values: FLAGS },
  { name: 'model', label: 'Model', filter: 'spans.model' },
  { name: 'user', label: 'User', filter: 'metadata.user_id' },
  { name: 'thread', label: 'Thread', filter: 'metadata.thread_id' },
  { name: 'customer', label: 'Customer', filter: 'metadata.customer_id' },
  { name: 'label', label: 'Label', filter: 'metadata.labels' },
  { name: 'prompt', label: 'Prompt', filter: 'prompt.id' },
  { name: 'prompt-version', label: 'Prompt version', filter: 'prompt.version' },
  { name: 'has', label: 'Has metadata', filter: 'metadata.key' },
  { name: 'meta', label: 'Metadata', filter: 'metadata.value', of: 'key' },
  { name: 'name', label: 'Name', filter: 'traces.name' },
  { name: 'origin', label: 'Origin', filter: 'traces.origin' },
  {
    name: 'type',
    label: 'Span type',
    filter: 'spans.type',
    values: ['llm', 'tool', 'agent', 'rag', 'chain', 'guardrail', 'evaluation', 'workflow', 'span'],
  },
  { name: 'duration', label: 'Duration', filter: 'traces.duration_ms', range: 'duration' },
  { name: 'cost', label: 'Cost', filter: 'traces.total_cost', range: 'cost' },
  { name: 'tokens', label: 'Tokens', filter: 'traces.total_tokens', range: 'count' },
  { name: 'first-token', label: 'First token', filter: 'traces.first_token_ms', range: 'duration' },
  { name: 'evaluator', label: 'Evaluated by', filter: 'evaluations.evaluator_id' },
  { name: 'guarded', label: 'Guarded by', filter: 'evaluations.evaluator_id.guardrails_only' },
  { name: 'judged', label: 'Judged by', filter: 'evaluations.evaluator_id.has_passed' },
  { name: 'scored', label: 'Scored by', filter: 'evaluations.evaluator_id.has_score' },
  { name: 'labelled', label: 'Labelled by', filter: 'evaluations.evaluator_id.has_label' },
  { name: 'passed', label: 'Passed', filter: 'evaluations.passed', of: 'evaluator', values: FLAGS },
  { name: 'state', label: 'Evaluation state', filter: 'evaluations.state', of: 'evaluator' },
  { name: 'verdict', label: 'Evaluation label', filter: 'evaluations.label', of: 'evaluator' },
  { name: 'score', label: 'Score', filter: 'evaluations.score', of: 'evaluator', range: 'score' },
];

function kindOf(name: string): Kind | undefined {
  const [first = '', ...rest] = name.split('.');
  return FILTER_KINDS.find((kind) => kind.name === first && (kind.of === undefined) === (rest.length === 0));
}

export function labelOf({ name }: Filter): string {
  const kind = kindOf(name);
  if (!kind) return name;
  return kind.of === undefined ? kind.label : `${kind.label} ${name.slice(kind.name.length + 1)}`;
}

/** The value as a chip shows it. */
export function shownValue({ name, value }: Filter): string {
  const measure = kindOf(name)?.range;
  return measure === undefined ? value : showNumberRange(value, measure);
}

/** What the values of a filter of numbers look like. */
export function examplesOf({ name }: Filter): string {
  return exampleOf(kindOf(name)?.range ?? 'count');
}

const LIKE_A_FILTER = /^[a-z][\w-]*(?:\.[^\s:]*)?:(?!\/\/)/i;

const PARTS = /(?:[^\s"]|"(?:[^"\\]|\\.)*"?)+/g;

/** A word with a colon but without a filter name stays a word, a URL for example. */
export function parseQueryLine(line: string): ParsedLine {
  const words: string[] = [];
  const filters: Filter[] = [];
  const unknown: string[] = [];
  for (const [part] of line.matchAll(PARTS)) {
    const colon = nameEnd(part);
    const name = unquote(part.slice(0, Math.max(colon, 0)));
    if (colon > 0 && kindOf(name)) filters.push({ name, value: unquote(part.slice(colon + 1)) });
    else {
      words.push(unquote(part));
      if (LIKE_A_FILTER.test(part)) unknown.push(unquote(part));
    }
  }
  const known = filters.filter(({ value }) => value !== '');
  return {
    text: words.join(' '),
    filters: known.filter(isReadable),
    unknown,
    empty: filters.filter(({ value }) => value === '').map(({ name }) => name),
    unreadable: known.filter((filter) => !isReadable(filter)),
  };
}

/** False for a value that should be a range and is none. */
export function isReadable({ name, value }: Filter): boolean {
  const measure = kindOf(name)?.range;
  return measure === undefined || readNumberRange(value, measure) !== null;
}

export function writeQueryLine({ text, filters }: QueryLine): string {
  const written = filters.map(({ name, value }) => `${quoteWhere(/[\s":]/, name)}:${quoteWhere(/[\s"]|^$/, value)}`);
  // Text that would not be read back as it is, for example because it looks like a filter, is quoted whole.
  const words = parseQueryLine(text).text === text ? [text] : [quote(text)];
  return [...words, ...written].filter((part) => part !== '').join(' ');
}

/** The line with a filter, or without it if it has it. */
export function toggleFilter(line: string, { name, value }: Filter): string {
  const { text, filters } = parseQueryLine(line);
  const others = filters.filter((each) => each.name !== name || each.value !== value);
  return writeQueryLine({ text, filters: others.length < filters.length ? others : [...filters, { name, value }] });
}

/** The value that the caret is in, and the rest of the line. */
export type TypedValue = {
  readonly name: string;
  /** What the value begins with, up to the caret. */
  readonly prefix: string;
  readonly before: string;
  readonly after: string;
};

/** Null where the caret is not in a value, or in one that is a range. */
export function typedValue(line: string, caret: number): TypedValue | null {
  for (const { 0: part, index } of line.matchAll(PARTS)) {
    const colon = nameEnd(part);
    if (colon < 1 || caret <= index + colon || caret > index + part.length) continue;
    const name = unquote(part.slice(0, colon));
    const kind = kindOf(name);
    if (!kind || kind.range !== undefined) return null;
    const prefix = unquote(part.slice(colon + 1, caret - index));
    return { name, prefix, before: line.slice(0, index), after: line.slice(index + part.length) };
  }
  return null;
}

/** The filters in the form of the api: values of one name are alternatives, ranges of one name must all match. */
export function sentFilters(filters: readonly Filter[]): readonly SentFilter[] {
  const known = filters.flatMap(({ name, value }) => {
    const kind = kindOf(name);
    return kind === undefined ? [] : [{ kind, key: keyOf(kind, name), value }];
  });
  const groups = Map.groupBy(known, ({ kind, key }) => JSON.stringify([kind.filter, key]));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { kind, key } = first;
    const values = group.map(({ value }) => value);
    const sent = kind.range === undefined ? values : boundsOf(values, kind.range);
    return [{ name: kind.filter, ...(key !== undefined && { key }), values: sent }];
  });
}

/** A filter of the api as the line has it; nothing for one that the line cannot have. */
export function writtenFilters({ name, key, values }: SentFilter): readonly Filter[] {
  const kind = FILTER_KINDS.find((each) => each.filter === name && (each.of === undefined) === (key === undefined));
  if (kind === undefined) return [];
  const named = key === undefined ? kind.name : `${kind.name}.${key}`;
  if (kind.range === undefined) return values.map((value) => ({ name: named, value }));
  const bound = (value = '') => (Math.abs(Number(value)) === Number.MAX_VALUE ? '' : value);
  return [{ name: named, value: `${bound(values[0])}..${bound(values[1])}` }];
}

/** The key of the metadata, or the id of the evaluator. */
function keyOf(kind: Kind, name: string): string | undefined {
  return kind.of === undefined ? undefined : name.slice(kind.name.length + 1);
}

/** The name and the key that the api has for a filter. */
export function apiNameOf(name: string): { readonly name: string; readonly key: string } {
  const kind = kindOf(name);
  return { name: kind?.filter ?? name, key: (kind && keyOf(kind, name)) ?? '' };
}

function boundsOf(values: readonly string[], measure: Measure): string[] {
  const { least, greatest } = intersected(values.flatMap((value) => readNumberRange(value, measure) ?? []));
  // A score needs both bounds.
  const unlimited = measure === 'score' ? String(Number.MAX_VALUE) : '';
  return [
    Number.isFinite(least) ? String(least) : unlimited && `-${unlimited}`,
    Number.isFinite(greatest) ? String(greatest) : unlimited,
  ];
}

/** The index of the colon after a name, which may be quoted. */
function nameEnd(part: string): number {
  let quoted = false;
  for (let at = 0; at < part.length; at += 1) {
    const character = part.charAt(at);
    if (character === '\\' && quoted) at += 1;
    else if (character === '"') quoted = !quoted;
    else if (character === ':' && !quoted) return at;
  }
  return -1;
}

function unquote(text: string): string {
  return text.replace(/"((?:[^"\\]|\\.)*)"?/g, (_, inner: string) => inner.replace(/\\(.)/g, '$1'));
}

function quoteWhere(special: RegExp, text: string): string {
  return special.test(text) ? quote(text) : text;
}

/** The text as one word of a line. */
export function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
