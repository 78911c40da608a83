/** Batches of events: what they are called, and the bytes that are sent. */

import { hash } from 'node:crypto';
import type { LogEntry } from '../domain/webhook-store.ts';

const HASH_DIGITS = 16;

/** The id of a delivery follows from what it holds. Events of a replay count under the replay's name. */
export function dispatchIdOf(endpointId: string, eventIds: readonly string[], replayId: string | null): string {
  const names = replayId === null ? eventIds : eventIds.map((id) => `${id}:${replayId}`);
  return `${endpointId}:${hash('sha256', names.join(','), 'hex').slice(0, HASH_DIGITS)}`;
}

/** The same bytes for every attempt, made of the envelopes as they are stored. */
export function bodyOf(envelopes: readonly string[]): Buffer {
  return Buffer.from(`{"batch":[${envelopes.join(',')}]}`, 'utf8');
}

export function envelopesOf(entries: readonly LogEntry[]): readonly string[] {
  return entries.map((entry) => entry.envelope);
}
