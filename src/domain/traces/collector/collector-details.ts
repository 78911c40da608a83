/**
 * The metrics that have a price or a meaning of their own and that few spans have: they are kept among the other metrics,
 * and read there when a span is priced.
 */

import { isAbsent, isObject, numberOf } from '../../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import { serviceTierOf } from '../../pricing/rates.ts';
import type { UsageDetails } from '../../pricing/usage.ts';
import { hasMoreCharactersThan } from '../../text-limits.ts';
import { isUnreadable, type Sent } from './collector-draft.ts';
import { isBlank } from './collector-json.ts';
import { COUNT_MAX, leaveOut, type Reading, readFreeJson, SHORT_TEXT_CHARACTERS_MAX } from './collector-reading.ts';

type ReadDetail = (value: LosslessJson, path: string, reading: Reading) => string | null;

/** Readers by member; each returns compact JSON text, or null for a value that the member cannot have. */
export const DETAIL_READERS: ReadonlyMap<string, ReadDetail> = new Map([
  ['input_audio_tokens', readCountText],
  ['output_audio_tokens', readCountText],
  ['total_tokens', readCountText],
  ['requests', readCountText],
  ['cache_creation', readCacheCreation],
  ['service_tier', readServiceTier],
]);

const CACHE_CREATION_COUNTS = ['ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens'] as const;

/** `metrics` and `params` of a span, as sent or as stored. Null when they say none of it. Skips values of a wrong type. */
export function readDetails(metrics: Sent<LosslessObject>, params: Sent<LosslessObject>): UsageDetails | null {
  const members = objectOf(metrics);
  const written = isObject(members?.cache_creation) ? members.cache_creation : null;
  const inputAudio = countIn(members?.input_audio_tokens);
  const outputAudio = countIn(members?.output_audio_tokens);
  const total = countIn(members?.total_tokens);
  const requests = countIn(members?.requests);
  const cacheWrite5m = countIn(written?.ephemeral_5m_input_tokens);
  const cacheWrite1h = countIn(written?.ephemeral_1h_input_tokens);
  // What was served outranks what was asked for.
  const serviceTier = tierIn(members?.service_tier ?? objectOf(params)?.service_tier);
  const isSaid =
    (inputAudio ?? outputAudio ?? total ?? requests ?? cacheWrite5m ?? cacheWrite1h ?? serviceTier) !== null;
  return isSaid ? { inputAudio, outputAudio, cacheWrite5m, cacheWrite1h, total, requests, serviceTier } : null;
}

function objectOf(sent: Sent<LosslessObject>): LosslessObject | undefined {
  return sent === undefined || isUnreadable(sent) ? undefined : sent;
}

/** A number sent as text is that number. */
function countIn(value: LosslessJson | undefined): number | null {
  if (isAbsent(value)) return null;
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : numberOf(value);
  return count === null || !(count >= 0 && count <= COUNT_MAX) ? null : Math.round(count);
}

function tierIn(value: LosslessJson | undefined): UsageDetails['serviceTier'] {
  return typeof value === 'string' ? serviceTierOf(value) : null;
}

function readCountText(value: LosslessJson, path: string, reading: Reading): string | null {
  if (value === null) return 'null';
  const count = countIn(value);
  return count === null ? leaveOut(reading, path, `must be a number from 0 to ${COUNT_MAX}`) : String(count);
}

function readCacheCreation(value: LosslessJson, path: string, reading: Reading): string | null {
  if (value === null) return 'null';
  if (!isObject(value)) return leaveOut(reading, path, 'must be an object');
  const kept = { ...value };
  for (const name of CACHE_CREATION_COUNTS) {
    const sent = value[name];
    if (sent === undefined) continue;
    const count = countIn(sent);
    if (count === null && !isBlank(sent))
      leaveOut(reading, `${path}.${name}`, `must be a number from 0 to ${COUNT_MAX}`);
    kept[name] = count;
  }
  return readFreeJson(kept, path, reading);
}

function readServiceTier(value: LosslessJson, path: string, reading: Reading): string | null {
  if (value === null) return 'null';
  const isText = typeof value === 'string' && !hasMoreCharactersThan(value, SHORT_TEXT_CHARACTERS_MAX);
  if (isText) return readFreeJson(value, path, reading);
  return leaveOut(reading, path, `must be a string of at most ${SHORT_TEXT_CHARACTERS_MAX} characters`);
}
