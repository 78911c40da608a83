/** Reads entries of datasets from JSON, JSON lines or CSV. */

import { type LosslessParsed, parseLossless } from '../../json/bounded-json.ts';
import { MEMBERS_MAX } from '../../json/json-scan.ts';
import {
  isLosslessArray,
  isLosslessObject,
  jsonTypeOf,
  type LosslessJson,
  stringifyLossless,
} from '../../json/lossless-json.ts';
import type { Reason } from '../fault.ts';
import { typeReason } from '../reasons.ts';

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
/** The names, the rows of a full dataset, and one more. */
const ROWS_MAX = ENTRIES_MAX + 2;

/**
 * Every entry must be an object; its members may be anything that can be stored. Entries that exceed what a dataset holds
 * are read only until they do: the caller refuses them.
 */
export async function validateEntries({ entriesJson, csv, jsonl }: EntriesDraft): Promise<ValidatedEntries> {
  const sent = [entriesJson, csv, jsonl].filter((each) => each !== null);
  if (sent.length > 1) return refusal('entries', 'entries, csv and jsonl exclude each other');
  if (csv !== null) return await readCsv(csv);
  if (jsonl !== null) return readLines(jsonl);
  return entriesJson === null ? { entries: [], problems: [] } : readArray(entriesJson);
}

function readArray(text: string): ValidatedEntries {
  const parsed = parseLossless(text, SHAPE_MAX);
  if (parsed.kind !== 'value') return refusal('entries', `entries ${PROBLEMS[parsed.kind]}`);
  if (!isLosslessArray(parsed.value)) {
    return { entries: [], problems: [typeReason('entries', 'array', jsonTypeOf(parsed.value))] };
  }
  return validateEach(nameEach(parsed.value, (index) => `entries.${index}`));
}

function readLines(text: string): ValidatedEntries {
  return validateEach(parseLines(text));
}

function* parseLines(text: string): Generator<SentEntry> {
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() !== '') yield { field: `jsonl line ${index + 1}`, parsed: parseLossless(line, SHAPE_MAX) };
  }
}

/** The first row names the members; every value is a text. The parser is loaded with the first CSV. */
async function readCsv(text: string): Promise<ValidatedEntries> {
  const { CsvError, parse } = await import('csv-parse/sync');
  let rows: readonly (readonly string[])[];
  try {
    rows = parse(text, { bom: true, skip_empty_lines: true, to: ROWS_MAX });
  } catch (error) {
    if (error instanceof CsvError) return refusal('csv', `csv cannot be read: ${error.message}`);
    throw error;
  }
  const [names = [], ...others] = rows;
  if (names.length > COLUMNS_MAX) return refusal('csv', `csv must have at most ${COLUMNS_MAX} columns`);
  if (new Set(names).size < names.length) return refusal('csv', 'csv must name each column once');
  return validateEach(nameEach(entriesOf(names, others), (index) => `csv row ${index + 2}`));
}

/** One at a time: long names make every entry long. */
function* entriesOf(names: readonly string[], rows: readonly (readonly string[])[]): Generator<LosslessJson> {
  for (const row of rows) yield Object.fromEntries(names.map((name, index) => [name, row[index] ?? '']));
}

function* nameEach(values: Iterable<LosslessJson>, nameOf: (index: number) => string): Generator<SentEntry> {
  let index = 0;
  for (const value of values) {
    yield { field: nameOf(index), parsed: { kind: 'value', value } };
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
type SentEntry = { readonly field: string; readonly parsed: LosslessParsed };

function validateEach(sent: Iterable<SentEntry>): ValidatedEntries {
  const entries: string[] = [];
  let totalBytes = 0;
  for (const { field, parsed } of sent) {
    // Only lines are parsed one by one.
    if (parsed.kind !== 'value') return refusal('jsonl', `${field} ${PROBLEMS[parsed.kind]}`);
    if (!isLosslessObject(parsed.value)) {
      return { entries: [], problems: [typeReason(field, 'object', jsonTypeOf(parsed.value))] };
    }
    const text = stringifyLossless(parsed.value);
    if (ESCAPED_NUL.test(text)) return refusal(field, `${field} must not contain the character U+0000`);
    entries.push(text);
    totalBytes += Buffer.byteLength(text);
    if (entries.length > ENTRIES_MAX || totalBytes > TOTAL_MAX_BYTES) break;
  }
  return { entries, problems: [] };
}

function refusal(field: string, message: string): ValidatedEntries {
  return { entries: [], problems: [{ field, type: 'invalid_format', message }] };
}
