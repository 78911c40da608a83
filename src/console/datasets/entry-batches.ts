/** Splits large lists of entries into batches that fit a request each. */

export type Format = 'csv' | 'jsonl' | 'json';

/** Below the 1 MiB of a request, which also has other fields. */
const BATCH_MAX_BYTES = 900_000;

const encoder = new TextEncoder();
const byteLength = (text: string) => encoder.encode(text).length;

export function formatOfFile(name: string): Format | null {
  if (/\.csv$/i.test(name)) return 'csv';
  if (/\.(?:jsonl|ndjson)$/i.test(name)) return 'jsonl';
  return /\.json$/i.test(name) ? 'json' : null;
}

/** Does not split JSON: parsing it would lose digits of its numbers. */
export function splitIntoBatches(format: Format, text: string): readonly string[] {
  const whole = text.replace(/^\ufeff/, '');
  if (format === 'json' || byteLength(whole) <= BATCH_MAX_BYTES) return [whole];
  if (format === 'jsonl') return packRecords('', whole.split('\n'));
  const [head = '', ...records] = splitCsv(whole);
  return packRecords(`${head}\n`, records);
}

/** Splits at line breaks outside of quotation marks. */
function splitCsv(text: string): readonly string[] {
  const records: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') isQuoted = !isQuoted;
    if (character !== '\n' || isQuoted) continue;
    records.push(text.slice(start, at));
    start = at + 1;
  }
  return [...records, text.slice(start)];
}

/** Fills batches with whole records. Each batch begins with `head`. */
function packRecords(head: string, records: readonly string[]): readonly string[] {
  const parts: string[] = [];
  const headBytes = byteLength(head);
  let part: string[] = [];
  let bytes = headBytes;
  for (const record of records) {
    if (record.trim() === '') continue;
    const more = byteLength(record) + 1;
    if (part.length > 0 && bytes + more > BATCH_MAX_BYTES) {
      parts.push(head + part.join('\n'));
      part = [];
      bytes = headBytes;
    }
    part.push(record);
    bytes += more;
  }
  return part.length > 0 ? [...parts, head + part.join('\n')] : parts;
}

/** The field of the request that holds entries of the format. */
export function toEntriesField(format: Format, part: string): { csv?: string; jsonl?: string; entriesJson?: string } {
  if (format === 'csv') return { csv: part };
  return format === 'jsonl' ? { jsonl: part } : { entriesJson: part };
}
