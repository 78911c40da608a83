/** Decisions about an organization that hold although others decide at the same time. */

import { unavailableFault } from './fault.ts';
import type { ManagementChange, ManagementStore } from './management.ts';

export type Decision<R> = {
  readonly result: R;
  /** Null: nothing is to be stored. */
  readonly change: Omit<ManagementChange, 'organizationId' | 'expectedVersion'> | null;
};

// Each round that is lost was won by somebody else, so many in a row mean a crowd.
const ROUNDS_MAX = 50;
const RETRY_AFTER_SECONDS = 1;

/**
 * Runs a decision on what is stored now, and again whenever something of the organization changed before its change was
 * stored. It must read everything it depends on each time. `onKeyTaken` answers for a project key that is in use.
 */
export async function decide<R>(
  store: ManagementStore,
  organizationId: string,
  { take, onKeyTaken }: { take: () => Promise<Decision<R>>; onKeyTaken?: () => never },
): Promise<R> {
  let leave = linesOf(store).has(organizationId) ? await lineUp(store, organizationId) : null;
  try {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const expectedVersion = await store.version(organizationId);
      const { result, change } = await take();
      if (change === null) return result;
      const outcome = await store.commit({ ...change, organizationId, expectedVersion });
      if (outcome === 'stored') return result;
      if (outcome === 'key_taken') {
        if (onKeyTaken === undefined) throw new Error('a project key is taken where none was changed');
        onKeyTaken();
      }
      leave ??= await lineUp(store, organizationId);
    }
    throw unavailableFault('Others keep changing this organization; try again.', RETRY_AFTER_SECONDS);
  } finally {
    leave?.();
  }
}

/** The ends of the lines, by organization. */
type Lines = Map<string, Promise<void>>;

const lines = new WeakMap<ManagementStore, Lines>();

function linesOf(store: ManagementStore): Lines {
  const found = lines.get(store) ?? new Map();
  lines.set(store, found);
  return found;
}

/**
 * Whoever has lost a round decides in turn with those who come after: one that reads more than the others would lose
 * every round to them. Answers how to leave; must be left.
 */
async function lineUp(store: ManagementStore, organizationId: string): Promise<() => void> {
  const ends = linesOf(store);
  const before = ends.get(organizationId);
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  const end = Promise.resolve(before).then(() => left);
  ends.set(organizationId, end);
  void end.then(() => {
    if (ends.get(organizationId) === end) ends.delete(organizationId);
  });
  await before;
  return leave;
}
