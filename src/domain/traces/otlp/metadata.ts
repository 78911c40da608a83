/** Metadata of a trace from its spans and their resources. */

import { isAbsent, isArray, isObject } from '../../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import { type MetadataDraft, type Sent, unreadable } from '../collector/collector-draft.ts';
import { isBlank } from '../collector/collector-json.ts';
import { addLink, type PromptLinks } from '../prompt-links.ts';
import { ALIASES } from '../trace-metadata.ts';
import type { AttributeJson } from './attribute-json.ts';
import { type MetadataKey, metadataKeyOf } from './metadata-keys.ts';
import { IDENTITY, METADATA_OBJECTS, TECHNICAL_SEGMENTS } from './metadata-table.ts';
import type { Attributes } from './span.ts';

const PATH_PREFIX = 'metadata.';
/** Of one attribute; a trace keeps a thousand. */
const LABELS_READ_MAX = 10_000;

type Draft = Sent<MetadataDraft>;
type Member = readonly [name: string, value: LosslessJson];
type Found = readonly [meaning: MetadataKey, value: LosslessJson];

const NONE: readonly Draft[] = [];
const NO_MEMBERS: readonly Member[] = [];

type Into = { readonly json: AttributeJson; readonly links: PromptLinks };

/** In merge order: an attribute that names the member itself comes last and wins. Adds a link to a prompt to `links`. */
export function spanMetadata(attributes: Attributes, { json, links }: Into): readonly Draft[] {
  const found = foundIn(attributes);
  if (found === undefined) return NONE;
  addLinkIn(found, attributes, links);
  return draftsOf(found, { others: NO_MEMBERS, json });
}

/** Includes unknown attributes: operators describe resources in names of their own. */
export function resourceMetadata(attributes: Attributes, { json, links }: Into): readonly Draft[] {
  const others = [...attributes].filter(([key]) => isCustom(key));
  const found = foundIn(attributes) ?? [];
  addLinkIn(found, attributes, links);
  return draftsOf(found, { others, json });
}

function addLinkIn(found: readonly Found[], attributes: Attributes, links: PromptLinks): void {
  if (holds(found, 'prompt')) addLink(links, (key) => attributes.get(key));
}

function isCustom(key: string): boolean {
  return metadataKeyOf(key) === null && !TECHNICAL_SEGMENTS.has(key.split('.', 1)[0]);
}

/** undefined for most spans, which have none. */
function foundIn(attributes: Attributes): readonly Found[] | undefined {
  let found: Found[] | undefined;
  for (const [key, value] of attributes) {
    const meaning = metadataKeyOf(key);
    if (meaning === null) continue;
    found ??= [];
    found.push([meaning, value]);
  }
  return found;
}

type Around = { readonly others: readonly Member[]; readonly json: AttributeJson };

function draftsOf(found: readonly Found[], { others, json }: Around): readonly Draft[] {
  const drafts: Draft[] = [];
  const plain: Member[] = [];
  for (const [{ kind, rank }, sent] of inRankOrder(found, 'object')) {
    const [value, key = kind] = [json.parsed(sent), METADATA_OBJECTS[rank]];
    if (isBlank(value)) continue;
    if (isObject(value)) drafts.push({ members: withoutBlankIdentity(value), pathPrefix: PATH_PREFIX });
    // Langfuse's metadata may be any JSON.
    else if (key.startsWith('langfuse.')) plain.push(['metadata', value]);
    else drafts.push(unreadable(key, 'must be an object'));
  }
  const members = [...others, ...plain, ...membersOf(found, json)];
  if (members.length > 0) drafts.push({ members: Object.fromEntries(members), pathPrefix: PATH_PREFIX });
  return drafts;
}

/** An identity that says nothing would replace one that another attribute gives. */
function withoutBlankIdentity(members: LosslessObject): LosslessObject {
  const says = ([name, value]: Member) => !IDENTITY_NAMES.has(name) || !isBlank(value);
  const all = Object.entries(members);
  return all.every(says) ? members : Object.fromEntries(all.filter(says));
}

type Ranked = Extract<MetadataKey, { readonly rank: number }>;

type RankedFound = readonly [Ranked, LosslessJson];

const NO_RANKED: readonly RankedFound[] = [];

function inRankOrder(found: readonly Found[], kind: Ranked['kind']): readonly RankedFound[] {
  // Most spans have a kind or two: a list for each of the others would be garbage.
  if (!holds(found, kind)) return NO_RANKED;
  const ranked = found.filter((each): each is RankedFound => each[0].kind === kind);
  return ranked.length < 2 ? ranked : ranked.toSorted(([one], [other]) => one.rank - other.rank);
}

function holds(found: readonly Found[], kind: MetadataKey['kind']): boolean {
  for (const [meaning] of found) if (meaning.kind === kind) return true;
  return false;
}

function membersOf(found: readonly Found[], json: AttributeJson): readonly Member[] {
  const prefixed = prefixedMembers(found, json);
  const identity = identityMembers(found);
  const members = [...prefixed.members, ...withSenses(prefixed, identity)];
  const labels = [...prefixed.labels];
  for (const [, value] of inRankOrder(found, 'labels')) {
    if (!isBlank(value)) labels.push(...labelsIn(json.parsed(value)));
  }
  if (labels.length > 0) members.push(['labels', labels]);
  for (const [meaning, value] of found) {
    if (meaning.kind === 'member' && !isBlank(value)) members.push([meaning.member, value]);
  }
  return members;
}

type Prefixed = {
  readonly members: readonly Member[];
  readonly labels: readonly LosslessJson[];
  /** Members that have the sense of another. */
  readonly senses: readonly (readonly [member: string, sense: string, value: LosslessJson])[];
};

const NOT_PREFIXED: Prefixed = { members: [], labels: [], senses: [] };

function prefixedMembers(found: readonly Found[], json: AttributeJson): Prefixed {
  if (!holds(found, 'prefixed')) return NOT_PREFIXED;
  const members: Member[] = [];
  const labels: LosslessJson[] = [];
  const senses: (readonly [string, string, LosslessJson])[] = [];
  for (const [meaning, sent] of found) {
    if (meaning.kind !== 'prefixed' || meaning.member === '') continue;
    const { member, by } = meaning;
    const sense = by.senses?.get(member);
    if (member === 'labels' || sense === 'labels') labels.push(...labelsIn(json.parsed(sent)));
    else if (sense !== undefined) senses.push([member, sense, sent]);
    else if (!IDENTITY_NAMES.has(member) || !isBlank(sent)) {
      members.push([member, by.isJson === undefined ? sent : (json.parsed(sent) ?? null)]);
    }
  }
  return { members, labels, senses };
}

const IDENTITY_NAMES: ReadonlySet<string> = new Set([...IDENTITY.map(([member]) => member), ...ALIASES.keys()]);

function identityMembers(found: readonly Found[]): readonly Member[] {
  const said = inRankOrder(found, 'identity').filter(([, value]) => !isBlank(value));
  if (said.length === 0) return NO_MEMBERS;
  const members: Member[] = [];
  for (const [name] of IDENTITY) {
    const first = said.find(([meaning]) => meaning.kind === 'identity' && meaning.member === name);
    if (first !== undefined) members.push([name, first[1]]);
  }
  return members;
}

/** The identity. A member with the sense of another fills its place where that is empty, else it keeps its own name. */
function withSenses({ members, senses }: Prefixed, identity: readonly Member[]): readonly Member[] {
  if (senses.length === 0) return identity;
  const filled = new Set([...members, ...identity].map(([name]) => ALIASES.get(name) ?? name));
  const said = senses.filter(([, , value]) => !isBlank(value));
  const named = said.map(([member, sense, value]): Member => {
    if (filled.has(sense)) return [member, value];
    filled.add(sense);
    return [sense, value];
  });
  return [...named, ...identity];
}

function labelsIn(read: LosslessJson | undefined): readonly LosslessJson[] {
  if (isArray(read)) return read.slice(0, LABELS_READ_MAX);
  if (typeof read !== 'string') return isAbsent(read) ? [] : [read];
  return read
    .split(',', LABELS_READ_MAX)
    .map((label) => label.trim())
    .filter((label) => label !== '');
}
