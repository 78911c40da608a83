/** Large lists of entries, cut into parts that fit a request each. */

export type Format = 'csv' | 'jsonl' | 'json';

/** Below the 1 MiB of a request, so that there is room for what stands around. */
export const PART_MAX_BYTES = 900_000;

const encoder = new TextEncoder();
const byteLength = (text: string) => encoder.encode(text).length;

export function formatOfFile(name: string): Format | null {
  if (/\.csv$/i.test(name)) return 'csv';
  if (/\.(?:jsonl|ndjson)$/i.test(name)) return 'jsonl';
  return /\.json$/i.test(name) ? 'json' : null;
}

/** JSON goes as it is: to cut it would be to read its numbers. */
export function partsOf(format: Format, text: string): readonly string[] {
  const whole = text.replace(/^\ufeff/, '');
  if (format === 'json' || byteLength(whole) <= PART_MAX_BYTES) return [whole];
  if (format === 'jsonl') return gather('', whole.split('\n'));
  const [head = '', ...records] = csvRecords(whole);
  return gather(`${head}\n`, records);
}

/** A line break between quotation marks belongs to its value. */
function csvRecords(text: string): readonly string[] {
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

/** Each part begins with the same head. */
function gather(head: string, records: readonly string[]): readonly string[] {
  const parts: string[] = [];
  const headBytes = byteLength(head);
  let part: string[] = [];
  let bytes = headBytes;
  for (const record of records) {
    if (record.trim() === '') continue;
    const more = byteLength(record) + 1;
    if (part.length > 0 && bytes + more > PART_MAX_BYTES) {
      parts.push(head + part.join('\n'));
      part = [];
      bytes = headBytes;
    }
    part.push(record);
    bytes += more;
  }
  return part.length > 0 ? [...parts, head + part.join('\n')] : parts;
}

/** As the requests of the api name it. */
export function entriesOf(format: Format, part: string): { csv?: string; jsonl?: string; entriesJson?: string } {
  if (format === 'csv') return { csv: part };
  return format === 'jsonl' ? { jsonl: part } : { entriesJson: part };
}
