/** The management side of the store, in the thread of the callers. */

import { Fault } from '../../domain/fault.ts';
import type { ManagementStore } from '../../domain/management/management.ts';
import type { CommitOutcome } from './commits.ts';
import type { Rooms } from './rooms.ts';

const CHANGES_RETRY_AFTER_SECONDS = 60;

/** `notify` is called when there may be new deliveries. */
export function createManagementStore(room: Rooms['management'], notify: () => void): ManagementStore {
  const commit: ManagementStore['commit'] = async (change) => {
    const outcome = orFault(await room.commit(change));
    const { endpoints = [], replays = [], redeliveries = [] } = change;
    if (outcome === 'stored' && endpoints.length + replays.length + redeliveries.length > 0) notify();
    return outcome;
  };
  return { ...room, commit };
}

function orFault(outcome: CommitOutcome): Exclude<CommitOutcome, 'too_often'> {
  if (outcome !== 'too_often') return outcome;
  throw new Fault('rate_limited', 'The endpoint has changed too often while its events wait; try again later.', {
    retryAfterSeconds: CHANGES_RETRY_AFTER_SECONDS,
  });
}
