/**
 * The monitors that run by themselves, as this process knows them, project by project. Another process may change them at
 * any time, so every batch ends with a look whether those of its projects are still the ones that it went by; a batch that
 * went by others stores nothing, and is applied again. Then it holds the numbers of the changes first, so that it is not
 * overtaken again however often monitors change. An append that begins after a change was acknowledged never misses it.
 */

import { listChanges, listRunning } from '../../../../gen/storage/postgres/monitors.ts';
import type { Watch } from '../../../domain/evaluations/job-append.ts';
import { createWatchedProjects } from '../../monitors/running.ts';
import type { Ask } from '../../questions.ts';
import { createAsk } from './ask.ts';
import type { Lane, Statement } from './connection.ts';
import type { SentTransaction } from './transaction.ts';

export type MonitorCache = {
  /** Of a project that was learned of. */
  watchOf(projectNumber: number): Watch;
  /** Reads the monitors of projects that nothing is known of. */
  learn(projectNumbers: readonly number[]): Promise<void>;
  /** Reads them anew, and until the transaction ends nobody changes which of them run. */
  hold(transaction: SentTransaction, projectNumbers: readonly number[]): Promise<void>;
  /** Makes the transaction fail when monitors have changed. */
  check(transaction: SentTransaction, projectNumbers: readonly number[]): void;
};

// Everybody takes them in this order. A project that gets its first monitor has none to hold: that happens once.
const HOLD: Statement = {
  name: 'hold-monitors',
  text: 'SELECT 1 FROM monitor_changes WHERE project_number = ANY($1::int[]) ORDER BY project_number FOR SHARE',
};
// Nobody waits for the answer, so what is outdated has to fail.
const CHECK: Statement = {
  name: 'check-monitors',
  text: `SELECT 1 / (CASE WHEN EXISTS (
      SELECT FROM unnest($1::int[], $2::bigint[]) AS known (project_number, number)
      WHERE known.number <> coalesce(
        (SELECT number FROM monitor_changes AS stored WHERE stored.project_number = known.project_number), 0)
    ) THEN 0 ELSE 1 END)`,
};

export function createMonitorCache(lane: Lane): MonitorCache {
  const known = createWatchedProjects();

  async function load(ask: Ask, projectNumbers: readonly number[]): Promise<void> {
    // First: what changes meanwhile has another number, and is read again.
    const changes = new Map(
      (await ask(listChanges, { projectNumbers })).map(({ projectNumber, number }) => [projectNumber, number]),
    );
    const running = await ask(listRunning, { projectNumbers: [...changes.keys()] });
    const byProject = Map.groupBy(running, ({ projectNumber }) => projectNumber);
    for (const projectNumber of projectNumbers) {
      const asOf = changes.get(projectNumber) ?? 0;
      known.keep(projectNumber, { asOf, monitors: byProject.get(projectNumber) ?? [] });
    }
  }

  function watchOf(projectNumber: number): Watch {
    const watch = known.watchOf(projectNumber);
    if (watch === null) throw new Error('nothing is known of the monitors of a project');
    return watch;
  }

  return {
    watchOf,
    async learn(projectNumbers) {
      const unknown = projectNumbers.filter((projectNumber) => known.watchOf(projectNumber) === null);
      if (unknown.length > 0) await load(createAsk(lane), unknown);
    },
    async hold({ ask, post }, projectNumbers) {
      post(HOLD, [projectNumbers]);
      await load(ask, projectNumbers);
    },
    check({ post }, projectNumbers) {
      if (projectNumbers.length === 0) return;
      post(CHECK, [projectNumbers, projectNumbers.map((projectNumber) => watchOf(projectNumber).asOf)]);
    },
  };
}
