/** The part of a trace's metadata that events carry, and its limits in any event. */

import { isArray, isObject, parseFreeJson } from '../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../json/lossless-json.ts';
import { cutToCharacters, hasMoreBytesThan } from '../text-limits.ts';

export const LABELS_MAX = 64;
export const LABEL_CHARACTERS_MAX = 256;
/** Of the JSON text. */
export const METADATA_BYTES_MAX = 4096;
// The keys in the metadata of a trace that are not custom.
const KNOWN_METADATA_KEYS: ReadonlySet<string> = new Set(['user_id', 'thread_id', 'customer_id', 'labels']);

/** Shared by the events of an append. */
export type EventMetadata = {
  readonly userId: string | null;
  /** Compact JSON text of a list of strings. */
  readonly labelsJson: string;
  /** Compact JSON text of an object. */
  readonly customJson: string;
  /** What the events omit. */
  readonly notes: readonly string[];
};

const NO_METADATA: EventMetadata = { userId: null, labelsJson: '[]', customJson: '{}', notes: [] };

/** Reads the merged metadata of a trace. Slow for large metadata, so call it once per append. */
export function readEventMetadata(metadataJson: string): EventMetadata {
  if (metadataJson === '{}') return NO_METADATA;
  const metadata = parseFreeJson(metadataJson);
  if (!isObject(metadata)) return NO_METADATA;
  const { user_id: userId, labels } = metadata;
  const texts = isArray(labels) ? labels.filter((label) => typeof label === 'string') : [];
  const customJson = customText(metadata);
  const notes: string[] = [];
  if (texts.length > LABELS_MAX) notes.push(`metadata.labels: events carry the first ${LABELS_MAX} of ${texts.length}`);
  if (customJson === null) notes.push(`metadata: events carry none of it above ${METADATA_BYTES_MAX} bytes`);
  return {
    userId: typeof userId === 'string' ? userId : null,
    labelsJson: labelsText(texts),
    customJson: customJson ?? '{}',
    notes,
  };
}

/** Of the labels and the metadata that the events of one append repeat: few bytes may name many spans. */
const REPEATED_MAX_CHARACTERS = 8 * 1024 * 1024;

/** The metadata for each event of an append, the same for all until they repeat too much, and what they omit. */
export function repeatMetadata(read: () => EventMetadata) {
  let left = REPEATED_MAX_CHARACTERS;
  let omitted = 0;
  return {
    next(): EventMetadata {
      const metadata = read();
      if (metadata.labelsJson === '[]' && metadata.customJson === '{}') return metadata;
      left -= metadata.labelsJson.length + metadata.customJson.length;
      if (left >= 0) return metadata;
      omitted += 1;
      return { ...NO_METADATA, userId: metadata.userId };
    },
    notes(): readonly string[] {
      if (omitted === 0) return read().notes;
      const limit = `those of one request repeat at most ${REPEATED_MAX_CHARACTERS} characters of both`;
      return [...read().notes, `metadata: the events of ${omitted} spans carry no labels and no metadata; ${limit}`];
    },
  };
}

function labelsText(labels: readonly string[]): string {
  return JSON.stringify(labels.slice(0, LABELS_MAX).map((label) => cutToCharacters(label, LABEL_CHARACTERS_MAX)));
}

/** Null when too large. */
function customText(metadata: LosslessObject): string | null {
  const keys = Object.keys(metadata).filter((key) => !KNOWN_METADATA_KEYS.has(key));
  // Finds most oversized metadata before it builds any text.
  let bytesLeft = METADATA_BYTES_MAX;
  for (const key of keys) {
    bytesLeft = spendBytes(metadata[key] ?? null, bytesLeft - key.length);
    if (bytesLeft < 0) return null;
  }
  const text = `{${keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(metadata[key])}`).join(',')}}`;
  return hasMoreBytesThan(text, METADATA_BYTES_MAX) ? null : text;
}

/** Subtracts the fewest bytes that the value's text can take from `bytes`; stops once below 0. */
function spendBytes(value: LosslessJson, bytes: number): number {
  if (typeof value === 'string') return bytes - value.length;
  let left = bytes - 1;
  if (isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index += 1) left = spendBytes(value[index] ?? null, left);
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      if (left < 0) break;
      left = spendBytes(value[key] ?? null, left - key.length);
    }
  }
  return left;
}
