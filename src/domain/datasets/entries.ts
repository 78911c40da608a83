/** Reads entries of datasets from JSON, JSON lines or CSV. */

import { MEMBERS_MAX } from '../../json/json-scan.ts';
import {
  isLosslessArray,
  isLosslessObject,
  jsonTypeOf,
  type LosslessJson,
  parseLossless,
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

const DEPTH_MAX = 126;
const COLUMNS_MAX = 200;

/** Every entry must be an object; its members may be anything that can be stored. */
export async function validateEntries({ entriesJson, csv, jsonl }: EntriesDraft): Promise<ValidatedEntries> {
  const sent = [entriesJson, csv, jsonl].filter((each) => each !== null);
  if (sent.length > 1) return refusal('entries', 'entries, csv and jsonl exclude each other');
  if (csv !== null) return await readCsv(csv);
  if (jsonl !== null) return readLines(jsonl);
  return entriesJson === null ? { entries: [], problems: [] } : readArray(entriesJson);
}

function readArray(text: string): ValidatedEntries {
  const parsed = parseLossless(text, { depth: DEPTH_MAX, members: MEMBERS_MAX });
  if (parsed.kind !== 'value') return refusal('entries', `entries ${PROBLEMS[parsed.kind]}`);
  if (!isLosslessArray(parsed.value)) {
    return { entries: [], problems: [typeReason('entries', 'array', jsonTypeOf(parsed.value))] };
  }
  return validateEach(parsed.value, (index) => `entries.${index}`);
}

function readLines(text: string): ValidatedEntries {
  const lines = text.split(/\r?\n/).map((line, index) => ({ line, field: `jsonl line ${index + 1}` }));
  const values: LosslessJson[] = [];
  const fields: string[] = [];
  for (const { line, field } of lines) {
    if (line.trim() === '') continue;
    const parsed = parseLossless(line, { depth: DEPTH_MAX, members: MEMBERS_MAX });
    if (parsed.kind !== 'value') return refusal('jsonl', `${field} ${PROBLEMS[parsed.kind]}`);
    values.push(parsed.value);
    fields.push(field);
  }
  return validateEach(values, (index) => fields[index] ?? 'jsonl');
}

/** The first row names the members; every value is a text. The parser is loaded with the first CSV. */
async function readCsv(text: string): Promise<ValidatedEntries> {
  const { CsvError, parse } = await import('csv-parse/sync');
  let rows: readonly (readonly string[])[];
  try {
    rows = parse(text, { bom: true, skip_empty_lines: true });
  } catch (error) {
    if (error instanceof CsvError) return refusal('csv', `csv cannot be read: ${error.message}`);
    throw error;
  }
  const [names = [], ...others] = rows;
  if (names.length > COLUMNS_MAX) return refusal('csv', `csv must have at most ${COLUMNS_MAX} columns`);
  if (new Set(names).size < names.length) return refusal('csv', 'csv must name each column once');
  const entries = others.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index] ?? ''])));
  return validateEach(entries, (index) => `csv row ${index + 2}`);
}

const PROBLEMS = {
  not_json: 'must be valid JSON',
  too_deep: `must not nest deeper than ${DEPTH_MAX} levels`,
  too_wide: `must not have objects of more than ${MEMBERS_MAX} members`,
} as const;

/** PostgreSQL cannot store U+0000. An escaped backslash before it escapes nothing. */
const ESCAPED_NUL = /(?<!\\)(?:\\\\)*\\u0000/;

function validateEach(values: readonly LosslessJson[], nameOf: (index: number) => string): ValidatedEntries {
  const entries: string[] = [];
  for (const [index, value] of values.entries()) {
    if (!isLosslessObject(value)) {
      return { entries: [], problems: [typeReason(nameOf(index), 'object', jsonTypeOf(value))] };
    }
    const text = stringifyLossless(value);
    if (ESCAPED_NUL.test(text)) {
      return refusal(nameOf(index), `${nameOf(index)} must not contain the character U+0000`);
    }
    entries.push(text);
  }
  return { entries, problems: [] };
}

function refusal(field: string, message: string): ValidatedEntries {
  return { entries: [], problems: [{ field, type: 'invalid_format', message }] };
}
