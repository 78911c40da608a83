/** Changes to the metadata of a stored trace: validates a patch and applies it to the stored values. */

import { parseLossless } from '../../json/bounded-json.ts';
import { isAbsent } from '../../json/free-json.ts';
import { JSON_DEPTH_MAX, MEMBERS_MAX } from '../../json/json-scan.ts';
import { isObject, type LosslessObject } from '../../json/lossless-json.ts';
import type { Reason } from '../fault.ts';
import { runWithoutPauses } from '../steps.ts';
import type { CollectorLimits } from './collector/collector-reading.ts';
import { createReading } from './collector/collector-reading.ts';
import { METADATA_BYTES_MAX, membersOf, serialiseMembers, setMember } from './metadata-members.ts';
import { ALIASES, readMetadata } from './trace-metadata.ts';

export type MetadataPatch = {
  /** Compact JSON text of the members to set. */
  readonly setJson: string;
  /** Keys to remove. */
  readonly removed: readonly string[];
};

type ReadPatch =
  | { readonly kind: 'patch'; readonly patch: MetadataPatch }
  | { readonly kind: 'problems'; readonly reasons: readonly Reason[] };

const FIELD = 'metadata';

/** Validates the JSON text of a patch. A bad member refuses the whole patch; collected metadata only drops it. */
export function readPatch(text: string, limits: CollectorLimits): ReadPatch {
  const parsed = parseLossless(text, { depth: JSON_DEPTH_MAX, members: MEMBERS_MAX });
  if (parsed.kind === 'too_deep') return problem(`must not nest deeper than ${JSON_DEPTH_MAX} levels`);
  if (parsed.kind === 'too_wide') return problem(`must not hold an object of more than ${MEMBERS_MAX} members`);
  if (parsed.kind === 'not_json' || !isObject(parsed.value)) return problem('must be an object', 'invalid_type');
  const sent = parsed.value;
  const keys = Object.keys(sent);
  if (keys.length === 0) return problem('must name at least one key', 'too_small');
  const kept = Object.fromEntries(keys.filter((key) => !isAbsent(sent[key])).map((key) => [key, sent[key] ?? null]));
  const facts = {
    depth: limits.freeJsonDepthMax + 1,
    hasEscapes: true,
    bytes: Buffer.byteLength(text),
    hasWide: false,
  };
  const reading = createReading({ limits, facts, receivedAtMs: 0, traceId: '' });
  const { json, reasons } = runWithoutPauses(readMetadata([{ members: kept, pathPrefix: `${FIELD}.` }], reading));
  if (reasons.length > 0) return { kind: 'problems', reasons: reasons.map(toReason) };
  const removed = keys.filter((key) => isAbsent(sent[key])).flatMap((key) => namesOf(sent, key));
  // Labels without items remove the stored ones.
  if (Object.hasOwn(kept, 'labels') && !membersOf(json ?? '{}').texts.has('labels')) removed.push('labels');
  return { kind: 'patch', patch: { setJson: json ?? '{}', removed } };
}

/** A removed alias also removes its key, unless the key is sent itself. */
function namesOf(sent: LosslessObject, key: string): readonly string[] {
  const target = ALIASES.get(key);
  return target === undefined || Object.hasOwn(sent, target) ? [key] : [key, target];
}

function problem(what: string, type: Reason['type'] = 'custom'): ReadPatch {
  return { kind: 'problems', reasons: [{ field: FIELD, type, message: `${FIELD} ${what}` }] };
}

/** Splits a text `<field>: <problem>`. */
function toReason(text: string): Reason {
  const end = text.indexOf(': ');
  const field = text.slice(0, end);
  return { field, type: 'custom', message: `${field} ${text.slice(end + 2)}` };
}

/** The metadata with the patch; null when it would become too large. */
export function patchMetadata(storedJson: string, { setJson, removed }: MetadataPatch): string | null {
  const members = membersOf(storedJson);
  const bytesBefore = members.bytes;
  const texts = new Map(members.texts);
  for (const key of removed) texts.delete(key);
  const patched = membersOf(serialiseMembers({ texts, bytes: bytesBefore }));
  // Members that did not fit get a second try: smaller values of others may have made room.
  const sent = [...membersOf(setJson).texts];
  const oversized = sent.filter(([key, text]) => !setMember(patched, key, text));
  return oversized.every(([key, text]) => setMember(patched, key, text)) ? serialiseMembers(patched) : null;
}

export const OVERSIZED_PATCH: Reason = {
  field: FIELD,
  type: 'custom',
  message: `${FIELD} must not exceed ${METADATA_BYTES_MAX} bytes together with what is stored`,
};
