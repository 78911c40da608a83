/** Top-level members of serialised metadata, kept within METADATA_BYTES_MAX. */

import { isObject, parseFreeJson } from '../../json/free-json.ts';

/** Serialised, UTF-8. */
export const METADATA_BYTES_MAX = 262_144;

/** Compact JSON texts of the values by key, in order, and the bytes of the whole object. */
export type MetadataMembers = { readonly texts: Map<string, string>; bytes: number };

const BRACES_BYTES = 2;
const COLON_AND_COMMA_BYTES = 2;

export function createMembers(): MetadataMembers {
  // The last member has no comma.
  return { texts: new Map(), bytes: BRACES_BYTES - 1 };
}

/** Parses text that serialiseMembers wrote. */
export function membersOf(metadataJson: string): MetadataMembers {
  const members = createMembers();
  const metadata = parseFreeJson(metadataJson);
  if (!isObject(metadata)) return members;
  for (const key of Object.keys(metadata)) members.texts.set(key, JSON.stringify(metadata[key]));
  members.bytes = members.texts.size === 0 ? members.bytes : Buffer.byteLength(metadataJson);
  return members;
}

/** Sets a member. False, with nothing changed, when the object would become too large. */
export function setMember(members: MetadataMembers, key: string, text: string): boolean {
  const held = members.texts.get(key);
  const grownBytes =
    held === undefined
      ? Buffer.byteLength(JSON.stringify(key)) + Buffer.byteLength(text) + COLON_AND_COMMA_BYTES
      : Buffer.byteLength(text) - Buffer.byteLength(held);
  if (members.bytes + grownBytes > METADATA_BYTES_MAX) return false;
  members.bytes += grownBytes;
  members.texts.set(key, text);
  return true;
}

/**
 * Reserves bytes for further items of a list; the caller sets its text once all are known. False, with nothing changed,
 * when the object would become too large. `count`: items reserved before.
 */
export function growMember(members: MetadataMembers, key: string, items: readonly string[], count: number): boolean {
  const { bytes } = members;
  const isNew = !members.texts.has(key);
  if (isNew && !setMember(members, key, '[]')) return false;
  const commas = Math.max(0, count + items.length - 1) - Math.max(0, count - 1);
  const grownBytes = items.reduce((sum, item) => sum + Buffer.byteLength(item), commas);
  if (members.bytes + grownBytes <= METADATA_BYTES_MAX) {
    members.bytes += grownBytes;
    return true;
  }
  if (isNew) members.texts.delete(key);
  members.bytes = bytes;
  return false;
}

/** Compact JSON text of the object. */
export function serialiseMembers({ texts }: MetadataMembers): string {
  let json = '';
  for (const [key, text] of texts) json += `${json === '' ? '' : ','}${JSON.stringify(key)}:${text}`;
  return `{${json}}`;
}
