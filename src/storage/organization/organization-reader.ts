/** What every start asks of the database, and what reports ask of their organization. */

import type { InstallationStore, RequestStore } from '../../domain/store.ts';
import { type Asking, askInTurns, type Compiled } from '../questions.ts';
import type * as source from './questions.ts';

type OrganizationQuestions = { readonly [Name in keyof typeof source]: Compiled<(typeof source)[Name]> };

export type InstallationReader = Pick<InstallationStore, 'readVerifier'> & { hasOrganization(): Promise<boolean> };

export function createInstallationReader({ questions, ask }: Asking<OrganizationQuestions>): InstallationReader {
  return {
    readVerifier: async () => (await ask(questions.findVerifier, {}))[0]?.verifier ?? null,
    hasOrganization: async () => (await ask(questions.findAnyOrganization, {})).length > 0,
  };
}

/** The numbers of projects that reports name. */
export function createProjectNumbers(asking: Asking<OrganizationQuestions>): RequestStore['projectNumbers'] {
  const { questions, ask, pointsAtOnce } = asking;
  return async (organizationId, ids) => {
    const find = (some: readonly string[]) => ask(questions.findProjectNumbers, { organizationId, ids: some });
    const rows = await askInTurns(ids, pointsAtOnce, find);
    return new Map(rows.map(({ id, number }) => [id, number]));
  };
}
