/** Reads entries of datasets from JSON, JSON lines or CSV. */

import type { Parser } from 'csv-parse';
import { needsSteps, parseLosslessInSteps } from '../../json/bounded-json.ts';
import { writeJsonInSteps } from '../../json/free-json-steps.ts';
import { MEMBERS_MAX } from '../../json/json-scan.ts';
import { isArray, isObject, jsonTypeOf, type LosslessJson, stringifyLossless } from '../../json/lossless-json.ts';
import type { Reason } from '../fault.ts';
import { typeReason } from '../reasons.ts';
import type { RunCooperatively, Steps } from '../steps.ts';

/** Null: not sent. */
export type EntriesDraft = {
  /** JSON text of an array of objects. */
  readonly entriesJson: string | null;
  readonly csv: string | null;
  readonly jsonl: string | null;
};

type ValidatedEntries = {
  /** The compact JSON text of each entry. */
  readonly entries: readonly string[];
  readonly problems: readonly Reason[];
};

/** Entries of a dataset, and bytes of their JSON: a whole dataset is one response. */
export const ENTRIES_MAX = 10_000;
export const TOTAL_MAX_BYTES = 6 * 1024 * 1024;

const DEPTH_MAX = 126;
const SHAPE_MAX = { depth: DEPTH_MAX, members: MEMBERS_MAX };
const COLUMNS_MAX = 200;
/** Of a CSV, between two turns of the event loop: it may hold a field in every byte. */
const CSV_BYTES_AT_ONCE = 32_768;

/** Lets other work run during a long reading. */
export type Pauses = {
  readonly runCooperatively: RunCooperatively;
  /** Resolves in a later turn of the event loop. */
  readonly yieldToEventLoop: () => Promise<void>;
};

/**
 * Every entry must be an object; its members may be anything that can be stored. Entries that exceed what a dataset holds
 * are read only until they do: the caller refuses them.
 */
export async function validateEntries(draft: EntriesDraft, pauses: Pauses): Promise<ValidatedEntries> {
  const { entriesJson, csv, jsonl } = draft;
  const sent = [entriesJson, csv, jsonl].filter((each) => each !== null);
  if (sent.length > 1) return refusal('entries', 'entries, csv and jsonl exclude each other');
  if (csv !== null) return await readCsv(csv, pauses);
  if (jsonl !== null) return await pauses.runCooperatively(validateEach(splitLines(jsonl)));
  return entriesJson === null ? { entries: [], problems: [] } : await pauses.runCooperatively(readArray(entriesJson));
}

function* readArray(text: string): Steps<ValidatedEntries> {
  const parsed = yield* parseLosslessInSteps(text, SHAPE_MAX);
  if (parsed.kind !== 'value') return refusal('entries', `entries ${PROBLEMS[parsed.kind]}`);
  if (!isArray(parsed.value)) {
    return { entries: [], problems: [typeReason('entries', 'array', jsonTypeOf(parsed.value))] };
  }
  const isLarge = needsSteps(text);
  return yield* validateEach(nameEach(parsed.value, { isLarge, nameOf: (index) => `entries.${index}` }));
}

function* splitLines(text: string): Generator<SentEntry> {
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    yield { field: `jsonl line ${index + 1}`, line, isLarge: needsSteps(line) };
  }
}

/** The first row names the members; every value is a text. The parser is loaded with the first CSV. */
async function readCsv(text: string, pauses: Pauses): Promise<ValidatedEntries> {
  const { CsvError, parse } = await import('csv-parse');
  const parser = parse({ bom: true, skip_empty_lines: true });
  void feed(parser, text, pauses);
  const rows: (readonly string[])[] = [];
  let rowsMax = 1;
  try {
    for await (const row of parser as AsyncIterable<readonly string[]>) {
      if (rows.push(row) === 1) rowsMax = rowsUntilTooLarge(row);
      if (rows.length >= rowsMax) break;
    }
  } catch (error) {
    if (error instanceof CsvError) return refusal('csv', `csv cannot be read: ${error.message}`);
    throw error;
  }
  const [names = [], ...others] = rows;
  if (names.length > COLUMNS_MAX) return refusal('csv', `csv must have at most ${COLUMNS_MAX} columns`);
  if (new Set(names).size < names.length) return refusal('csv', 'csv must name each column once');
  const entries = nameEach(entriesOf(names, others), { isLarge: false, nameOf: (index) => `csv row ${index + 2}` });
  return await pauses.runCooperatively(validateEach(entries));
}

/** The names, the rows of a full dataset, and one more. Every entry holds the names: with long ones, few rows are enough. */
function rowsUntilTooLarge(names: readonly string[]): number {
  return 2 + Math.min(ENTRIES_MAX, TOTAL_MAX_BYTES / Math.max(1, names.join('').length));
}

/** Ends early when the reader has destroyed the parser. */
async function feed(parser: Parser, text: string, { yieldToEventLoop }: Pauses): Promise<void> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length && !parser.destroyed; start += CSV_BYTES_AT_ONCE) {
    parser.write(bytes.subarray(start, start + CSV_BYTES_AT_ONCE));
    await yieldToEventLoop();
  }
  if (!parser.destroyed) parser.end();
}

/** One at a time: long names make every entry long. */
function* entriesOf(names: readonly string[], rows: readonly (readonly string[])[]): Generator<LosslessJson> {
  for (const row of rows) yield Object.fromEntries(names.map((name, index) => [name, row[index] ?? '']));
}

type Naming = Pick<SentEntry, 'isLarge'> & { readonly nameOf: (index: number) => string };

function* nameEach(values: Iterable<LosslessJson>, { isLarge, nameOf }: Naming): Generator<SentEntry> {
  let index = 0;
  for (const value of values) {
    yield { field: nameOf(index), value, isLarge };
    index += 1;
  }
}

const PROBLEMS = {
  not_json: 'must be valid JSON',
  too_deep: `must not nest deeper than ${DEPTH_MAX} levels`,
  too_wide: `must not have objects of more than ${MEMBERS_MAX} members`,
} as const;

/** PostgreSQL cannot store U+0000. An escaped backslash before it escapes nothing. */
const ESCAPED_NUL = /(?<!\\)(?:\\\\)*\\u0000/;

/** `field` names the entry in messages. */
type SentEntry = {
  readonly field: string;
  /** Whether its JSON may fill a turn of the event loop. */
  readonly isLarge: boolean;
} & ({ readonly line: string } | { readonly value: LosslessJson });

function* validateEach(sent: Iterable<SentEntry>): Steps<ValidatedEntries> {
  const entries: string[] = [];
  let totalBytes = 0;
  for (const each of sent) {
    const { field, isLarge } = each;
    const parsed =
      'line' in each ? yield* parseLosslessInSteps(each.line, SHAPE_MAX) : { kind: 'value' as const, ...each };
    // Only lines are parsed one by one.
    if (parsed.kind !== 'value') return refusal('jsonl', `${field} ${PROBLEMS[parsed.kind]}`);
    const { value } = parsed;
    if (!isObject(value)) return { entries: [], problems: [typeReason(field, 'object', jsonTypeOf(value))] };
    const text = isLarge ? yield* writeJsonInSteps(value) : stringifyLossless(value);
    if (ESCAPED_NUL.test(text)) return refusal(field, `${field} must not contain the character U+0000`);
    entries.push(text);
    totalBytes += Buffer.byteLength(text);
    if (entries.length > ENTRIES_MAX || totalBytes > TOTAL_MAX_BYTES) break;
    yield;
  }
  return { entries, problems: [] };
}

function refusal(field: string, message: string): ValidatedEntries {
  return { entries: [], problems: [{ field, type: 'invalid_format', message }] };
}
