/** Reads the metadata of a request and merges it into that of the trace. */

import {
  hasMorePartsThan,
  isAbsent,
  isArray,
  isLongKey,
  isObject,
  LONG_KEY_REASON,
  parseFreeJson,
  scalarText,
} from '../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../json/lossless-json.ts';
import { holdsTooWide, TOO_WIDE_REASON } from '../../json/wide-json.ts';
import type { Steps } from '../steps.ts';
import { cutToCharacters, hasMoreCharactersThan } from '../text-limits.ts';
import { isUnreadable, type MetadataDraft, type Sent } from './collector/collector-draft.ts';
import { beginItem, cleanText, type Reading, readFreeJson, refuse } from './collector/collector-reading.ts';
import {
  createMembers,
  growMember,
  METADATA_BYTES_MAX,
  type MetadataMembers,
  membersOf,
  serialiseMembers,
  setMember,
} from './metadata-members.ts';
import { PROMPT_IDS } from './prompt-links.ts';

/** Also of prompt_ids. */
const LABELS_MAX = 1000;
/** Labels read per step: a request may have millions that are left out. */
const LABELS_AT_ONCE = 4_096;
/** A value of more items and members exceeds METADATA_BYTES_MAX: each takes two bytes at least. */
const PARTS_MAX = METADATA_BYTES_MAX / 2;
const LABEL_CHARACTERS_MAX = 256;
const IDENTITY_CHARACTERS_MAX = 512;
const SHOWN_KEY_CHARACTERS_MAX = 100;
const LISTED_REASONS_MAX = 100;
const SIZE_REASON = `would exceed ${METADATA_BYTES_MAX} bytes of metadata`;
const LABELS_REASON = `would exceed ${LABELS_MAX} labels`;

const IDENTITY_KEYS: ReadonlySet<string> = new Set(['user_id', 'thread_id', 'customer_id']);
export const ALIASES: ReadonlyMap<string, string> = new Map([
  ['userId', 'user_id'],
  ['threadId', 'thread_id'],
  ['customerId', 'customer_id'],
]);
const NO_NOTES: readonly string[] = [];

type ReadMetadata = {
  /** Compact JSON text of the usable members; null when there is none. */
  readonly json: string | null;
  /** Dropped values and why. */
  readonly reasons: readonly string[];
  /** Number of cut strings. */
  readonly cuts: number;
};

/** Normalises the metadata of one request. Drops only unusable members; later drafts add to the first. */
export function* readMetadata(drafts: readonly Sent<MetadataDraft>[], reading: Reading): Steps<ReadMetadata> {
  const labels = { known: new Set<string>(), texts: [] };
  const result: Result = { reading, members: createMembers(), labels, reasons: [], omittedReasons: 0, cuts: 0 };
  for (const draft of drafts) {
    if (draft === undefined) continue;
    if (isUnreadable(draft)) addReason(result, `${draft.path}: ${draft.reason}`);
    else for (const key of Object.keys(draft.members)) yield* readMember(result, draft, key);
  }
  const { members, reasons, omittedReasons, cuts } = result;
  if (labels.texts.length > 0) members.texts.set('labels', `[${labels.texts.join(',')}]`);
  if (omittedReasons > 0) reasons.push(`metadata: ${omittedReasons} more values dropped`);
  return { json: members.texts.size === 0 ? null : serialiseMembers(members), reasons, cuts };
}

/**
 * Adds the metadata of a request to that of the trace, key by key: the later value wins, null leaves the
 * stored one, labels and lists of prompt_ids add up. `notes` lists values beyond a limit. Both texts come from readMetadata.
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
    const merged = held === undefined ? text : uniteMember(key, { held, text }, notes);
    if (!setMember(members, key, merged)) oversized.push([key, merged]);
  }
  // Other members may have made room since; without a second try, a repeat of the request would add the value.
  for (const [key, merged] of oversized) {
    if (!setMember(members, key, merged)) notes.push(`metadata.${showKey(key)}: ${SIZE_REASON}`);
  }
  return { json: serialiseMembers(members), notes };
}

type Members = { readonly held: string; readonly text: string };

function uniteMember(key: string, { held, text }: Members, notes: string[]): string {
  if (key === 'labels') return uniteLists(listOf(held) ?? [], listOf(text) ?? [], { key, notes });
  const [stored, incoming] = key === PROMPT_IDS ? [listOf(held), listOf(text)] : [null, null];
  return stored === null || incoming === null ? text : uniteLists(stored, incoming, { key, notes });
}

type Into = { readonly key: string; readonly notes: string[] };

function uniteLists(stored: readonly LosslessJson[], incoming: readonly LosslessJson[], { key, notes }: Into): string {
  // By their texts: objects and wide numbers are read anew each time.
  const united = new Set([...stored, ...incoming].map((item) => JSON.stringify(item)));
  if (united.size > LABELS_MAX) notes.push(`metadata.${key}: would exceed ${LABELS_MAX} ${key}`);
  return `[${[...united].slice(0, LABELS_MAX).join(',')}]`;
}

function listOf(text: string): readonly LosslessJson[] | null {
  const list = parseFreeJson(text);
  return isArray(list) ? list : null;
}

/** The metadata of one request while it is read. */
type Result = {
  readonly reading: Reading;
  readonly members: MetadataMembers;
  /** Labels read so far and their JSON texts: each label is serialised once, however many drafts there are. */
  readonly labels: { readonly known: Set<string>; readonly texts: string[] };
  readonly reasons: string[];
  /** Reasons not listed: a body may hold a million unusable values. */
  omittedReasons: number;
  cuts: number;
};

function addReason(result: Result, reason: string): void {
  if (result.reasons.length < LISTED_REASONS_MAX) result.reasons.push(reason);
  else result.omittedReasons += 1;
}

function showKey(key: string): string {
  return cutToCharacters(key, SHOWN_KEY_CHARACTERS_MAX);
}

function* readMember(result: Result, { members: sent, pathPrefix }: MetadataDraft, key: string): Steps<void> {
  const { reading, members } = result;
  const path = pathPrefix + showKey(key);
  const target = targetOf(sent, key);
  beginItem(reading, { toleratesFields: false });
  if (target === 'labels') {
    if (yield* readLabels(result, sent[key], path)) result.cuts += reading.cuts;
    if (reading.problem !== null) addReason(result, reading.problem.slice(1));
    return;
  }
  const text = withoutRepeats(result, target, readValue(result, { value: sent[key], target, path }));
  if (reading.problem !== null) addReason(result, reading.problem.slice(1));
  else if (text === null || (text === 'null' && members.texts.has(target))) return;
  else if (setMember(members, target, text)) result.cuts += reading.cuts;
  else addReason(result, `${path}: ${SIZE_REASON}`);
}

/** Each of prompt_ids once, as in a merge: so a request sent again changes nothing. A longer text is refused anyway. */
function withoutRepeats(result: Result, target: string, text: string | null): string | null {
  if (text === null || target !== PROMPT_IDS || text.length > METADATA_BYTES_MAX) return text;
  const sent = listOf(text);
  if (sent === null) return text;
  const notes: string[] = [];
  const united = uniteLists([], sent, { key: target, notes });
  for (const note of notes) addReason(result, note);
  return united;
}

/** Resolves an alias to its well-known key, unless that key has a value itself. */
function targetOf(sent: LosslessObject, key: string): string {
  const target = ALIASES.get(key);
  return target !== undefined && isAbsent(sent[target]) ? target : key;
}

type SentMember = { readonly value: LosslessJson | undefined; readonly target: string; readonly path: string };

/** Compact JSON text of the normalised value; null when there is nothing to keep. */
function readValue(result: Result, { value, target, path }: SentMember): string | null {
  const { reading } = result;
  if (reading.facts.bytes > METADATA_BYTES_MAX && hasMorePartsThan(value, PARTS_MAX))
    return refuse(reading, path, SIZE_REASON);
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
    return JSON.stringify(cleanText(text, reading));
  }
  return refuse(reading, path, `must be a string of 1 to ${IDENTITY_CHARACTERS_MAX} characters`);
}

/** Whether labels were added. Valid labels of a draft are kept together or not at all. */
function* readLabels(result: Result, value: LosslessJson | undefined, path: string): Steps<boolean> {
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
      if (index % LABELS_AT_ONCE === LABELS_AT_ONCE - 1) yield;
      const item = value[index];
      if (isAbsent(item)) continue;
      const text = typeof item === 'string' ? item : scalarText(item);
      addLabel(result, added, { text, path: `${path}[${index}]` });
    }
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      yield;
      const item = value[key];
      if (isAbsent(item)) continue;
      const text = `${key}: ${typeof item === 'string' ? item : JSON.stringify(item)}`;
      addLabel(result, added, { text, path: `${path}.${showKey(key)}` });
    }
  } else {
    refuse(reading, path, 'must be a string, array or object');
    return false;
  }
  // Keeps an empty list only when it was sent as one.
  const isEmptyList = isArray(value) && value.length === 0;
  if (added.length === 0 && (!isEmptyList || labels.known.size > 0)) return false;
  const texts = added.map((label) => JSON.stringify(label));
  if (growMember(members, 'labels', texts, labels.texts.length)) {
    for (const text of texts) labels.texts.push(text);
    return true;
  }
  for (const label of added) labels.known.delete(label);
  addReason(result, `${path}: ${SIZE_REASON}`);
  return false;
}

function addLabel(result: Result, added: string[], { text, path }: { text: string | null; path: string }): void {
  const { known } = result.labels;
  if (text === null) {
    addReason(result, `${path}: must be a string, number or boolean`);
    return;
  }
  if (hasMoreCharactersThan(text, LABEL_CHARACTERS_MAX)) {
    addReason(result, `${path}: must be a string of at most ${LABEL_CHARACTERS_MAX} characters`);
    return;
  }
  const clean = cleanText(text, result.reading);
  if (known.has(clean)) return;
  if (known.size === LABELS_MAX) {
    addReason(result, `${path}: ${LABELS_REASON}`);
    return;
  }
  known.add(clean);
  added.push(clean);
}
