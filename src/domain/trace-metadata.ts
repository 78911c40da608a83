/** The metadata of a trace: what one request may add to it, and how requests add up. */

import { isUnreadable, type MetadataDraft, type Sent } from './collector-draft.ts';
import { beginItem, type Reading, readFreeJson, refuse, tidyText } from './collector-reading.ts';
import { isAbsent, isArray, isLongKey, isObject, LONG_KEY_REASON, parseFreeJson, scalarText } from './free-json.ts';
import type { LosslessJson, LosslessObject } from './lossless-json.ts';
import {
  createMembers,
  growMember,
  METADATA_BYTES_MAX,
  type MetadataMembers,
  membersOf,
  serialiseMembers,
  setMember,
} from './metadata-members.ts';
import { cutToCharacters, hasMoreCharactersThan } from './text-limits.ts';
import { holdsTooWide, TOO_WIDE_REASON } from './wide-json.ts';

const LABELS_MAX = 1000;
const LABEL_CHARACTERS_MAX = 256;
const IDENTITY_CHARACTERS_MAX = 512;
const SHOWN_KEY_CHARACTERS_MAX = 100;
const TOLD_REASONS_MAX = 100;
const SIZE_REASON = `would exceed ${METADATA_BYTES_MAX} bytes of metadata`;
const LABELS_REASON = `would exceed ${LABELS_MAX} labels`;

const IDENTITY_KEYS: ReadonlySet<string> = new Set(['user_id', 'thread_id', 'customer_id']);
export const ALIASES: ReadonlyMap<string, string> = new Map([
  ['userId', 'user_id'],
  ['threadId', 'thread_id'],
  ['customerId', 'customer_id'],
]);
const NO_NOTES: readonly string[] = [];

export type ReadMetadata = {
  /** Compact JSON text of the usable members; null when there is none. */
  readonly json: string | null;
  /** What was dropped, and why. */
  readonly reasons: readonly string[];
  /** Strings that were cut. */
  readonly cuts: number;
};

/** Normalises the metadata of one request. What is unusable is dropped alone; of several drafts, the later add to the first. */
export function readMetadata(drafts: readonly Sent<MetadataDraft>[], reading: Reading): ReadMetadata {
  const labels = { known: new Set<string>(), texts: [] };
  const result: Result = { reading, members: createMembers(), labels, reasons: [], untold: 0, cuts: 0 };
  for (const draft of drafts) {
    if (draft === undefined) continue;
    if (isUnreadable(draft)) tell(result, `${draft.path}: ${draft.reason}`);
    else for (const key of Object.keys(draft.members)) readMember(result, draft, key);
  }
  const { members, reasons, untold, cuts } = result;
  if (labels.texts.length > 0) members.texts.set('labels', `[${labels.texts.join(',')}]`);
  if (untold > 0) reasons.push(`metadata: ${untold} more values dropped`);
  return { json: members.texts.size === 0 ? null : serialiseMembers(members), reasons, cuts };
}

/**
 * Adds the metadata of a request to what the trace has, key by key: the later value wins, null leaves the
 * stored one, labels add up. `notes` tells what a limit kept out. Both texts come from readMetadata.
 */
export function mergeMetadata(
  storedJson: string | null,
  incomingJson: string | null,
): { json: string; notes: readonly string[] } {
  if (incomingJson === null || incomingJson === storedJson) return { json: storedJson ?? '{}', notes: NO_NOTES };
  if (storedJson === null || storedJson === '{}') return { json: incomingJson, notes: NO_NOTES };
  const members = membersOf(storedJson);
  const notes: string[] = [];
  const oversized: [key: string, text: string][] = [];
  for (const [key, text] of membersOf(incomingJson).texts) {
    const held = members.texts.get(key);
    if (held !== undefined && text === 'null') continue;
    const merged = held !== undefined && key === 'labels' ? uniteLabels(held, text, notes) : text;
    if (!setMember(members, key, merged)) oversized.push([key, merged]);
  }
  // Another member of this request may have made room; without a second try a repeat would add what the first left out.
  for (const [key, merged] of oversized) {
    if (!setMember(members, key, merged)) notes.push(`metadata.${showKey(key)}: ${SIZE_REASON}`);
  }
  return { json: serialiseMembers(members), notes };
}

function uniteLabels(storedText: string, incomingText: string, notes: string[]): string {
  const united = new Set([...labelsOf(storedText), ...labelsOf(incomingText)]);
  if (united.size > LABELS_MAX) notes.push(`metadata.labels: ${LABELS_REASON}`);
  return JSON.stringify([...united].slice(0, LABELS_MAX));
}

function labelsOf(text: string): readonly LosslessJson[] {
  const labels = parseFreeJson(text);
  return isArray(labels) ? labels : [];
}

/** The metadata of one request while it is read. */
type Result = {
  readonly reading: Reading;
  readonly members: MetadataMembers;
  /** All that were sent so far, and the JSON text of each: however many drafts bring some, each is serialised once. */
  readonly labels: { readonly known: Set<string>; readonly texts: string[] };
  readonly reasons: string[];
  /** Reasons beyond those anybody reads: a body may hold a million unusable values. */
  untold: number;
  cuts: number;
};

function tell(result: Result, reason: string): void {
  if (result.reasons.length < TOLD_REASONS_MAX) result.reasons.push(reason);
  else result.untold += 1;
}

function showKey(key: string): string {
  return cutToCharacters(key, SHOWN_KEY_CHARACTERS_MAX);
}

function readMember(result: Result, { members: sent, place }: MetadataDraft, key: string): void {
  const { reading, members } = result;
  const path = place + showKey(key);
  const target = targetOf(sent, key);
  beginItem(reading);
  if (target === 'labels') {
    if (readLabels(result, sent[key], path)) result.cuts += reading.cuts;
    if (reading.problem !== null) tell(result, reading.problem.slice(1));
    return;
  }
  const text = readValue(result, { value: sent[key], target, path });
  if (reading.problem !== null) tell(result, reading.problem.slice(1));
  else if (text === null || (text === 'null' && members.texts.has(target))) return;
  else if (setMember(members, target, text)) result.cuts += reading.cuts;
  else tell(result, `${path}: ${SIZE_REASON}`);
}

/** The key a sent key stands for: an alias is itself wherever the well-known key says something. */
function targetOf(sent: LosslessObject, key: string): string {
  const target = ALIASES.get(key);
  return target !== undefined && isAbsent(sent[target]) ? target : key;
}

type SentMember = { readonly value: LosslessJson | undefined; readonly target: string; readonly path: string };

/** Compact JSON text of the normalised value; null when there is nothing to keep. */
function readValue(result: Result, { value, target, path }: SentMember): string | null {
  const { reading } = result;
  if (reading.facts.hasWide && holdsTooWide(value)) return refuse(reading, path, TOO_WIDE_REASON);
  if (IDENTITY_KEYS.has(target)) return readIdentity(value, path, reading);
  if (isLongKey(target)) return refuse(reading, path, LONG_KEY_REASON);
  return readFreeJson(value ?? null, path, reading);
}

function readIdentity(value: LosslessJson | undefined, path: string, reading: Reading): string | null {
  if (isAbsent(value)) return null;
  const text = typeof value === 'string' ? value : scalarText(value);
  if (text === null) return refuse(reading, path, 'must be a string, number or boolean');
  if (text !== '' && !hasMoreCharactersThan(text, IDENTITY_CHARACTERS_MAX)) {
    return JSON.stringify(tidyText(text, reading));
  }
  return refuse(reading, path, `must be a string of 1 to ${IDENTITY_CHARACTERS_MAX} characters`);
}

/** Whether some were added. Those that one draft brings are kept together or not at all. */
function readLabels(result: Result, value: LosslessJson | undefined, path: string): boolean {
  const { reading, members, labels } = result;
  if (isAbsent(value)) return false;
  if (reading.facts.hasWide && holdsTooWide(value)) {
    refuse(reading, path, TOO_WIDE_REASON);
    return false;
  }
  const added: string[] = [];
  if (typeof value === 'string') addLabel(result, added, { text: value, path });
  else if (isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const item = value[index];
      if (isAbsent(item)) continue;
      const text = typeof item === 'string' ? item : scalarText(item);
      addLabel(result, added, { text, path: `${path}[${index}]` });
    }
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      const item = value[key];
      if (isAbsent(item)) continue;
      const text = `${key}: ${typeof item === 'string' ? item : JSON.stringify(item)}`;
      addLabel(result, added, { text, path: `${path}.${showKey(key)}` });
    }
  } else {
    refuse(reading, path, 'must be a string, array or object');
    return false;
  }
  // An empty list is worth keeping only when it was sent as one.
  const isEmptyList = isArray(value) && value.length === 0;
  if (added.length === 0 && (!isEmptyList || labels.known.size > 0)) return false;
  const texts = added.map((label) => JSON.stringify(label));
  if (growMember(members, 'labels', texts, labels.texts.length)) {
    for (const text of texts) labels.texts.push(text);
    return true;
  }
  for (const label of added) labels.known.delete(label);
  tell(result, `${path}: ${SIZE_REASON}`);
  return false;
}

function addLabel(result: Result, added: string[], { text, path }: { text: string | null; path: string }): void {
  const { known } = result.labels;
  if (text === null) {
    tell(result, `${path}: must be a string, number or boolean`);
    return;
  }
  if (hasMoreCharactersThan(text, LABEL_CHARACTERS_MAX)) {
    tell(result, `${path}: must be a string of at most ${LABEL_CHARACTERS_MAX} characters`);
    return;
  }
  const tidy = tidyText(text, result.reading);
  if (known.has(tidy)) return;
  if (known.size === LABELS_MAX) {
    tell(result, `${path}: ${LABELS_REASON}`);
    return;
  }
  known.add(tidy);
  added.push(tidy);
}
