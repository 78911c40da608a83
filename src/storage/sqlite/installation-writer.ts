/** Stores whole organizations. */

import * as changes from '../../../gen/storage/sqlite/organization.ts';
import type { Bootstrap, InstallationStore, NewOrganization } from '../../domain/store.ts';
import { installationStep, organizationSteps, type Step } from '../organization/new-organization.ts';
import { prepareQuestion } from './ask.ts';
import type { Database } from './connection.ts';

type Verbs = Pick<InstallationStore, 'bootstrap' | 'addOrganization'>;
export type InstallationWriter = {
  [V in keyof Verbs]: (...args: Parameters<Verbs[V]>) => Awaited<ReturnType<Verbs[V]>>;
};

export function prepareInstallationWriter(db: Database): InstallationWriter {
  const { get: findAnyOrganization } = prepareQuestion(db, changes.findAnyOrganization);
  const run = (steps: readonly Step[]) => {
    for (const { text, cells } of steps) db.prepare<unknown[]>(text).run(...cells);
  };
  const bootstrap = db.transaction((plan: Bootstrap): boolean => {
    if (findAnyOrganization({}) !== undefined) return false;
    run([installationStep(changes, plan), ...organizationSteps(changes, plan, 'bootstrap')]);
    return true;
  });
  const addOrganization = db.transaction((plan: NewOrganization): void => {
    run(organizationSteps(changes, plan, 'cli'));
  });
  return { bootstrap: (plan) => bootstrap.immediate(plan), addOrganization: (plan) => addOrganization.immediate(plan) };
}
