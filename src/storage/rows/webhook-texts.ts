/** What rows of webhooks hold as JSON text. */

import type { Subscription } from '../../domain/endpoint.ts';

export function writeSubscriptions(subscriptions: readonly Subscription[]): string {
  return JSON.stringify(subscriptions.map(({ fromSeq, mask }) => ({ fromSeq, mask })));
}

export function parseSubscriptions(text: string): readonly Subscription[] {
  return JSON.parse(text) as Subscription[];
}

/** Positions in a log, ascending. */
export function writeSeqs(seqs: readonly number[]): string {
  return JSON.stringify(seqs);
}

export function parseSeqs(text: string): readonly number[] {
  return JSON.parse(text) as number[];
}

export function writeEventIds(eventIds: readonly string[]): string {
  return JSON.stringify(eventIds);
}

export function parseEventIds(text: string): readonly string[] {
  return JSON.parse(text) as string[];
}
