/** Assembles the port of management, in the thread of the callers, from its rooms and from reads past them. */

import { Fault } from '../../domain/fault.ts';
import type { ManagementStore } from '../../domain/management/management.ts';
import type { KeyStore, Management, ProjectStore } from '../../domain/management/management-port.ts';
import type { TriggerStore } from '../../domain/triggers/trigger-store.ts';
import { createDatasetStore } from '../datasets/datasets.ts';
import { createWebhookStore } from '../endpoints/webhook-store.ts';
import { createExperimentStore } from '../experiments/experiments.ts';
import type { KeyReader } from '../keys/key-cache.ts';
import { createKeyReader } from '../keys/key-reader.ts';
import { createMonitorStore } from '../monitors/monitors.ts';
import { type QueryRunner, queryInBatches } from '../transaction.ts';
import type { CommitOutcome } from './commits.ts';
import type { Rooms } from './rooms.ts';

/** What a driver supplies for management, alone or beside the other ports. */
export type ManagementEngine = Pick<Management, 'managementRetention'> & {
  readonly rooms: Rooms;
  /** For point reads that requests wait for. */
  readonly control: QueryRunner;
  /** For longer reads. */
  readonly reads: Pick<QueryRunner, 'queries' | 'runQuery'>;
  readonly cacheKeys: (reader: KeyReader) => KeyStore;
  /** Notifies dispatchers that there may be new deliveries. */
  readonly notify: () => void;
};

const CHANGES_RETRY_AFTER_SECONDS = 60;

export function createManagement({
  rooms,
  control,
  reads,
  cacheKeys,
  notify,
  managementRetention,
}: ManagementEngine): Management {
  const { clock: _, management, projects, monitors, datasets, experiments, webhooks, triggers, ...asTheyAre } = rooms;
  return {
    ...asTheyAre,
    managementRetention,
    triggers: notifying(triggers, notify),
    keys: cacheKeys(createKeyReader(control, management)),
    management: { ...management, commit: createCommit(management, notify) },
    projects: { updateSettings: projects.updateSettings, numbers: createProjectNumbers(control) },
    monitors: createMonitorStore(monitors),
    datasets: createDatasetStore(datasets),
    experiments: createExperimentStore(experiments),
    webhooks: createWebhookStore(webhooks, reads),
  };
}

/**
 * Calls `changed` after the verbs that change what authentication reads, also after a failure, when it may be unknown whether
 * they were committed: an accepted key that was revoked would else stay in the cache.
 */
export function watchRooms(rooms: Rooms, changed: () => void): Rooms {
  const watch =
    <Args extends readonly unknown[], Answer>(verb: (...args: Args) => Promise<Answer>) =>
    (...args: Args) =>
      verb(...args).finally(changed);
  const { installation, projects, management, prompts } = rooms;
  return {
    ...rooms,
    installation: {
      ...installation,
      bootstrap: watch(installation.bootstrap),
      addOrganization: watch(installation.addOrganization),
    },
    projects: { updateSettings: watch(projects.updateSettings) },
    management: { ...management, commit: watch(management.commit) },
    prompts: {
      ...prompts,
      insert: watch(prompts.insert),
      append: watch(prompts.append),
      remove: watch(prompts.remove),
      assign: watch(prompts.assign),
      tags: watch(prompts.tags),
      insertTag: watch(prompts.insertTag),
      replaceTag: watch(prompts.replaceTag),
      removeTag: watch(prompts.removeTag),
    },
  };
}

/** A notification that is handed over is an event that endpoints wait for. */
function notifying(triggers: TriggerStore, notify: () => void): TriggerStore {
  return {
    ...triggers,
    async handOver(event) {
      const isHandedOver = await triggers.handOver(event);
      if (isHandedOver) notify();
      return isHandedOver;
    },
  };
}

function createCommit(room: Rooms['management'], notify: () => void): ManagementStore['commit'] {
  return async (change) => {
    const outcome = orFault(await room.commit(change));
    const { endpoints = [], replays = [], redeliveries = [], events = [] } = change;
    const toDeliver = endpoints.length + replays.length + redeliveries.length + events.length;
    if (outcome === 'stored' && toDeliver > 0) notify();
    return outcome;
  };
}

function orFault(outcome: CommitOutcome): Exclude<CommitOutcome, 'too_often'> {
  if (outcome !== 'too_often') return outcome;
  throw new Fault('rate_limited', 'The endpoint has changed too often while its events wait; try again later.', {
    retryAfterSeconds: CHANGES_RETRY_AFTER_SECONDS,
  });
}

function createProjectNumbers({ queries, runQuery, pointsPerQuery }: QueryRunner): ProjectStore['numbers'] {
  return async (organizationId, ids) => {
    const find = (some: readonly string[]) =>
      runQuery(queries.organization.findProjectNumbers, { organizationId, ids: some });
    const rows = await queryInBatches(ids, pointsPerQuery, find);
    return new Map(rows.map(({ id, number }) => [id, number]));
  };
}
