/** Metadata of a trace from its spans and their resources. */

import { isAbsent, isArray, isObject } from '../../../json/free-json.ts';
import type { LosslessJson } from '../../../json/lossless-json.ts';
import { type MetadataDraft, type Sent, unreadable } from '../collector/collector-draft.ts';
import { isBlank } from '../collector/collector-json.ts';
import type { AttributeJson } from './attribute-json.ts';
import {
  IDENTITY,
  LABELS,
  METADATA_OBJECTS,
  METADATA_PREFIXES,
  PROMPT_IDS,
  TECHNICAL_SEGMENTS,
} from './attribute-table.ts';
import type { Attributes } from './span.ts';

const PATH_PREFIX = 'metadata.';
/** Of one attribute; a trace keeps a thousand. */
const LABELS_READ_MAX = 10_000;
const HANDLED_KEYS: ReadonlySet<string> = new Set([
  ...IDENTITY.flatMap(([, keys]) => keys),
  ...LABELS,
  ...METADATA_OBJECTS,
]);

type Draft = Sent<MetadataDraft>;

/** In merge order: an attribute that names the member itself comes last and wins. */
export function spanMetadata(attributes: Attributes, json: AttributeJson): readonly Draft[] {
  return [...blobDrafts(attributes, json), memberDraft(attributes, { others: [], json })];
}

/** Includes unknown attributes: operators describe resources in names of their own. */
export function resourceMetadata(attributes: Attributes, json: AttributeJson): readonly Draft[] {
  const others = [...attributes].filter(([key]) => isCustom(key));
  return [...blobDrafts(attributes, json), memberDraft(attributes, { others, json })];
}

function isCustom(key: string): boolean {
  if (HANDLED_KEYS.has(key) || METADATA_PREFIXES.some((prefix) => key.startsWith(prefix))) return false;
  return !TECHNICAL_SEGMENTS.has(key.split('.', 1)[0]);
}

/** Objects whose members are metadata; readMetadata finds the identity and labels in them. */
function blobDrafts(attributes: Attributes, json: AttributeJson): readonly Draft[] {
  const drafts: Draft[] = [];
  for (const key of METADATA_OBJECTS) {
    const value = json.parsed(attributes.get(key));
    if (isAbsent(value)) continue;
    drafts.push(isObject(value) ? { members: value, pathPrefix: PATH_PREFIX } : unreadable(key, 'must be an object'));
  }
  return drafts;
}

type Member = readonly [key: string, value: LosslessJson];

type Around = { readonly others: readonly Member[]; readonly json: AttributeJson };

function memberDraft(attributes: Attributes, { others, json }: Around): Draft {
  const members = [...others, ...prefixedMembers(attributes), ...namedMembers(attributes, json)];
  if (members.length === 0) return undefined;
  const single: Member[] = [];
  const labels: LosslessJson[] = [];
  for (const [key, value] of members) {
    if (key === 'labels') labels.push(...labelsIn(json.parsed(value)));
    else single.push([key, value]);
  }
  if (labels.length > 0) single.push(['labels', labels]);
  return { members: Object.fromEntries(single), pathPrefix: PATH_PREFIX };
}

function prefixedMembers(attributes: Attributes): readonly Member[] {
  const members: Member[] = [];
  for (const [key, value] of attributes) {
    const name = nameAfterPrefix(key);
    if (name !== '') members.push([name, value]);
  }
  return members;
}

/** Empty for a key without such a prefix. */
function nameAfterPrefix(key: string): string {
  for (const prefix of METADATA_PREFIXES) if (key.startsWith(prefix)) return key.slice(prefix.length);
  return '';
}

function namedMembers(attributes: Attributes, json: AttributeJson): readonly Member[] {
  const members: Member[] = [];
  for (const [member, keys] of IDENTITY) {
    const [value] = presentOf(attributes, keys);
    if (value !== undefined) members.push([member, value]);
  }
  const labels = presentOf(attributes, LABELS).flatMap((value) => labelsIn(json.parsed(value)));
  if (labels.length > 0) members.push(['labels', labels]);
  const origin = attributes.get('langwatch.origin');
  if (!isBlank(origin)) members.push(['origin', origin]);
  const promptIds = presentOf(attributes, PROMPT_IDS);
  if (promptIds.length > 0) members.push(['prompt_ids', promptIds]);
  return members;
}

/** The values under the keys, in the order of the keys. */
function presentOf(attributes: Attributes, keys: readonly string[]): readonly LosslessJson[] {
  const values: LosslessJson[] = [];
  for (const key of keys) {
    const value = attributes.get(key);
    if (!isBlank(value)) values.push(value);
  }
  return values;
}

function labelsIn(read: LosslessJson | undefined): readonly LosslessJson[] {
  if (isArray(read)) return read.slice(0, LABELS_READ_MAX);
  if (typeof read !== 'string') return isAbsent(read) ? [] : [read];
  return read
    .split(',', LABELS_READ_MAX)
    .map((label) => label.trim())
    .filter((label) => label !== '');
}
