/** What each attribute means for the metadata of a trace, looked up once per name. */

import { PROMPT_KEYS } from '../prompt-links.ts';
import {
  IDENTITY,
  LABELS,
  METADATA_OBJECTS,
  METADATA_PREFIXES,
  type MetadataPrefix,
  NAMED_MEMBERS,
} from './metadata-table.ts';

/** The meaning of an attribute; the one with the lowest rank wins where only one counts. */
export type MetadataKey =
  | { readonly kind: 'object' | 'labels'; readonly rank: number }
  | { readonly kind: 'prompt' }
  | { readonly kind: 'identity'; readonly member: string; readonly rank: number }
  | { readonly kind: 'member'; readonly member: string }
  | { readonly kind: 'prefixed'; readonly member: string; readonly by: MetadataPrefix };

/** Programs have few names of attributes; those beyond are looked up each time. */
const KNOWN_MAX = 4_096;
const KNOWN_CHARACTERS_MAX = 200;

const NAMED: ReadonlyMap<string, MetadataKey> = new Map<string, MetadataKey>([
  ...ranked('object', METADATA_OBJECTS),
  ...ranked('labels', LABELS),
  ...Object.values(PROMPT_KEYS).map((key): [string, MetadataKey] => [key, { kind: 'prompt' }]),
  ...IDENTITY.flatMap(([member, keys]) =>
    keys.map((key, rank): [string, MetadataKey] => [key, { kind: 'identity', member, rank }]),
  ),
  ...NAMED_MEMBERS.map(([member, key]): [string, MetadataKey] => [key, { kind: 'member', member }]),
]);

const KNOWN = new Map<string, MetadataKey | null>();

/** null: the attribute is not metadata. */
export function metadataKeyOf(key: string): MetadataKey | null {
  const cached = KNOWN.get(key);
  if (cached !== undefined) return cached;
  const found = NAMED.get(key) ?? prefixedKey(key);
  if (KNOWN.size < KNOWN_MAX && key.length <= KNOWN_CHARACTERS_MAX) KNOWN.set(key, found);
  return found;
}

function ranked(kind: 'object' | 'labels', keys: readonly string[]): [string, MetadataKey][] {
  return keys.map((key, rank) => [key, { kind, rank }]);
}

function prefixedKey(key: string): MetadataKey | null {
  const by = METADATA_PREFIXES.find(({ prefix }) => key.startsWith(prefix));
  if (by === undefined) return null;
  const member = key.slice(by.prefix.length);
  return by.technical?.test(member) === true ? null : { kind: 'prefixed', member, by };
}
