/** Checks the requests of a receiver: every event at least once, no foreign event, valid signatures. */

import { expect } from 'vitest';
import type { Push } from './receiver.ts';
import { verifiesLangwatch, verifiesStandard } from './webhook-verifier.ts';

export type Audit = {
  /** Subscribed but not delivered events. */
  readonly lost: number;
  /** Events that arrived without a subscription. */
  readonly foreign: number;
  /** Batches accepted more than once. */
  readonly repeatedBatches: number;
  /** Events that arrived in more than one batch. */
  readonly repeatedEvents: number;
  /** Batches whose bodies differ from one attempt to another. */
  readonly altered: number;
  /** Requests that none of the secrets verifies. */
  readonly unsigned: number;
};

export type AuditedEndpoint = {
  readonly pushes: readonly Push[];
  /** Ids of the events it must receive. */
  readonly subscribed: Iterable<string>;
  /** All secrets the endpoint ever had. */
  readonly secrets: readonly string[];
};

export function audit({ pushes, subscribed, secrets }: AuditedEndpoint): Audit {
  const owed = new Set(subscribed);
  const real = pushes.filter(({ headers }) => headers['x-langwatch-test-fire'] === undefined);
  const taken = real.filter(({ status }) => status !== null && status >= 200 && status < 300);
  const batchesOf = new Map<string, Set<string>>();
  for (const { dispatchId, eventIds } of taken) {
    for (const id of eventIds) batchesOf.set(id, (batchesOf.get(id) ?? new Set()).add(dispatchId));
  }
  const received = new Set(real.flatMap(({ eventIds }) => eventIds));
  return {
    lost: [...owed].filter((id) => !batchesOf.has(id)).length,
    foreign: [...received].filter((id) => !owed.has(id)).length,
    repeatedBatches: taken.length - new Set(taken.map(({ dispatchId }) => dispatchId)).size,
    repeatedEvents: [...batchesOf.values()].filter((batches) => batches.size > 1).length,
    altered: countAltered(real),
    unsigned: pushes.filter((push) => !isSigned(push, secrets)).length,
  };
}

/** The audit of a run in which the server did not fail. */
export const FLAWLESS: Audit = {
  lost: 0,
  foreign: 0,
  repeatedBatches: 0,
  repeatedEvents: 0,
  altered: 0,
  unsigned: 0,
};

/** W6. */
export function expectFlawless(endpoint: AuditedEndpoint): void {
  expect(audit(endpoint)).toEqual(FLAWLESS);
}

function countAltered(pushes: readonly Push[]): number {
  const bodies = new Map<string, Buffer>();
  let altered = 0;
  for (const { dispatchId, body } of pushes) {
    const first = bodies.get(dispatchId);
    if (first === undefined) bodies.set(dispatchId, body);
    else if (!first.equals(body)) altered += 1;
  }
  return altered;
}

export function isSigned({ headers, body, dispatchId }: Push, secrets: readonly string[]): boolean {
  const timestamp = String(headers['webhook-timestamp']);
  const received = { id: dispatchId, timestamp, body };
  return secrets.some(
    (secret) =>
      verifiesStandard(secret, received, String(headers['webhook-signature'])) &&
      verifiesLangwatch(secret, received, String(headers['x-langwatch-signature'])),
  );
}

/** Milliseconds from commit to arrival per event, ascending. */
export function lagsOf(pushes: readonly Push[]): readonly number[] {
  return pushes
    .flatMap(({ atMs, createdAtMs }) => createdAtMs.map((created) => atMs - created))
    .toSorted((one, other) => one - other);
}

export function quantile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? Number.NaN;
}
