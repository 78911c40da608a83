/** The metadata of a trace: what one request may add to it, and how requests add up. */

import { beginItem, isAbsent, type Reading, readFreeJson, refuse, tidyText } from './collector-reading.ts';
import {
  isArray,
  isLongKey,
  isObject,
  LONG_KEY_REASON,
  parseFreeJson,
  scalarText,
  UNREADABLE,
  UNREADABLE_REASON,
} from './free-json.ts';
import type { LosslessJson, LosslessObject } from './lossless-json.ts';
import {
  createMembers,
  METADATA_BYTES_MAX,
  type MetadataMembers,
  membersOf,
  serialiseMembers,
  setMember,
} from './metadata-members.ts';
import { cutToCharacters, hasMoreCharactersThan } from './text-limits.ts';
import { holdsTooWide, TOO_WIDE, TOO_WIDE_REASON } from './wide-json.ts';

const LABELS_MAX = 1000;
const LABEL_CHARACTERS_MAX = 256;
const IDENTITY_CHARACTERS_MAX = 512;
const SHOWN_KEY_CHARACTERS_MAX = 100;
const TOLD_REASONS_MAX = 100;
const SIZE_REASON = `would exceed ${METADATA_BYTES_MAX} bytes of metadata`;
const LABELS_REASON = `would exceed ${LABELS_MAX} labels`;

const IDENTITY_KEYS: ReadonlySet<string> = new Set(['user_id', 'thread_id', 'customer_id']);
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['userId', 'user_id'],
  ['threadId', 'thread_id'],
  ['customerId', 'customer_id'],
]);
const TOP_LEVEL_KEYS = ['user_id', 'thread_id', 'customer_id', 'labels'];
const NO_NOTES: readonly string[] = [];

export type ReadMetadata = {
  /** Compact JSON text of the usable members; null when there is none. */
  readonly json: string | null;
  /** What was dropped, and why. */
  readonly reasons: readonly string[];
  /** Strings that were cut. */
  readonly cuts: number;
};

/** Normalises the metadata of one request. What is unusable is dropped alone. */
export function readMetadata(body: LosslessObject, reading: Reading): ReadMetadata {
  const { metadata } = body;
  const draft: Draft = { reading, members: createMembers(), reasons: [], untold: 0, cuts: 0 };
  if (metadata === UNREADABLE) tell(draft, `metadata: ${UNREADABLE_REASON}`);
  else if (metadata === TOO_WIDE) tell(draft, `metadata: ${TOO_WIDE_REASON}`);
  else if (isObject(metadata)) for (const key of Object.keys(metadata)) readMember(draft, metadata, key, 'metadata.');
  // Older clients put the well-known keys beside the spans.
  else if (isAbsent(metadata)) for (const key of TOP_LEVEL_KEYS) readMember(draft, body, key, '');
  else tell(draft, 'metadata: must be an object');
  const { members, reasons, untold, cuts } = draft;
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
type Draft = {
  readonly reading: Reading;
  readonly members: MetadataMembers;
  readonly reasons: string[];
  /** Reasons beyond those anybody reads: a body may hold a million unusable values. */
  untold: number;
  cuts: number;
};

function tell(draft: Draft, reason: string): void {
  if (draft.reasons.length < TOLD_REASONS_MAX) draft.reasons.push(reason);
  else draft.untold += 1;
}

function showKey(key: string): string {
  return cutToCharacters(key, SHOWN_KEY_CHARACTERS_MAX);
}

function readMember(draft: Draft, sent: LosslessObject, key: string, place: string): void {
  const { reading } = draft;
  const path = place + showKey(key);
  const target = targetOf(sent, key);
  beginItem(reading);
  const text = readValue(draft, { value: sent[key], target, path });
  if (reading.problem !== null) tell(draft, reading.problem.slice(1));
  else if (text === null) return;
  else if (setMember(draft.members, target, text)) draft.cuts += reading.cuts;
  else tell(draft, `${path}: ${SIZE_REASON}`);
}

/** The key a sent key stands for: an alias is itself wherever the well-known key says something. */
function targetOf(sent: LosslessObject, key: string): string {
  const target = ALIASES.get(key);
  return target !== undefined && isAbsent(sent[target]) ? target : key;
}

type SentMember = { readonly value: LosslessJson | undefined; readonly target: string; readonly path: string };

/** Compact JSON text of the normalised value; null when there is nothing to keep. */
function readValue(draft: Draft, { value, target, path }: SentMember): string | null {
  const { reading } = draft;
  if (reading.mayHoldWide && holdsTooWide(value)) return refuse(reading, path, TOO_WIDE_REASON);
  if (IDENTITY_KEYS.has(target)) return readIdentity(value, path, reading);
  if (target === 'labels') return readLabels(draft, value, path);
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

function readLabels(draft: Draft, value: LosslessJson | undefined, path: string): string | null {
  if (isAbsent(value)) return null;
  const labels = new Set<string>();
  if (typeof value === 'string') addLabel(draft, labels, { text: value, path });
  else if (isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const item = value[index];
      if (isAbsent(item)) continue;
      const text = typeof item === 'string' ? item : scalarText(item);
      addLabel(draft, labels, { text, path: `${path}[${index}]` });
    }
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      const item = value[key];
      if (isAbsent(item)) continue;
      const text = `${key}: ${typeof item === 'string' ? item : JSON.stringify(item)}`;
      addLabel(draft, labels, { text, path: `${path}.${showKey(key)}` });
    }
  } else return refuse(draft.reading, path, 'must be a string, array or object');
  // An empty list is worth keeping only when it was sent as one.
  return labels.size === 0 && !(isArray(value) && value.length === 0) ? null : JSON.stringify([...labels]);
}

function addLabel(draft: Draft, labels: Set<string>, label: { text: string | null; path: string }): void {
  const { text, path } = label;
  if (text === null) {
    tell(draft, `${path}: must be a string, number or boolean`);
    return;
  }
  if (hasMoreCharactersThan(text, LABEL_CHARACTERS_MAX)) {
    tell(draft, `${path}: must be a string of at most ${LABEL_CHARACTERS_MAX} characters`);
    return;
  }
  const tidy = tidyText(text, draft.reading);
  if (labels.size < LABELS_MAX || labels.has(tidy)) labels.add(tidy);
  else tell(draft, `${path}: ${LABELS_REASON}`);
}
