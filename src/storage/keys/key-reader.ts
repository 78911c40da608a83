/** What authentication reads: one question of each kind, for all who ask it at the same time. */

import type { ApiKey } from '../../domain/caller.ts';
import { type Asking, askInTurns, type CompiledOf, type RowOf } from '../questions.ts';
import { createFreshLookup, createFreshness } from './freshness.ts';
import type { KeyReader, ProjectByKey } from './key-cache.ts';
import { unpackGrant } from './key-records.ts';
import type * as source from './questions.ts';

type KeyQuestions = CompiledOf<typeof source>;

export function createKeyReader({ questions, ask, pointsAtOnce }: Asking<KeyQuestions>): KeyReader & ListKeyIds {
  const findProjectByKey = createFreshLookup(async (hashes) => {
    const keyHashes = hashes.map((hash) => Buffer.from(hash, 'hex'));
    return byKey(
      await askInTurns(keyHashes, pointsAtOnce, (some) => ask(questions.findProjectsByKey, { keyHashes: some })),
    );
  });

  return {
    findApiKey: createFreshLookup(async (ids) => {
      const rows = await askInTurns(ids, pointsAtOnce, (some) => ask(questions.findApiKeys, { ids: some }));
      return new Map(rows.map((row) => [row.id, toApiKey(row)]));
    }),
    listKeyIds: async () => (await ask(questions.listKeyIds, {})).map(({ id }) => id),
    findProjectByKey: (keyHash) => findProjectByKey(keyHash.toString('hex')),
    findProject: createFreshLookup(async (ids) => {
      const rows = await askInTurns(ids, pointsAtOnce, (some) => ask(questions.findProjects, { ids: some }));
      return new Map(rows.map((project) => [project.id, project]));
    }),
    hasImportedCredentials: createFreshness(
      async () => (await ask(questions.hasImported, {}))[0]?.hasImported === true,
    ),
  };
}

type ListKeyIds = { readonly listKeyIds: NonNullable<KeyReader['listKeyIds']> };
type ApiKeyRow = RowOf<KeyQuestions['findApiKeys']>;
type ProjectByKeyRow = RowOf<KeyQuestions['findProjectsByKey']>;

function toApiKey({ organizationId, organizationNumber, bindings, ownerBindings, ...rest }: ApiKeyRow): ApiKey {
  return {
    ...rest,
    organization: { id: organizationId, number: organizationNumber },
    bindings: bindings.map(unpackGrant),
    ownerBindings: ownerBindings.map(unpackGrant),
  };
}

/** A key may be the one of a project and the one before of others, of which the last to end counts. */
function byKey(rows: readonly ProjectByKeyRow[]): ReadonlyMap<string, ProjectByKey> {
  const found = new Map<string, ProjectByKey>();
  for (const { keyHash, untilMs, ...project } of rows) {
    const name = keyHash.toString('hex');
    const known = found.get(name);
    if (known === undefined || endOf(untilMs) > endOf(known.untilMs)) found.set(name, { project, untilMs });
  }
  return found;
}

function endOf(untilMs: number | null): number {
  return untilMs ?? Number.POSITIVE_INFINITY;
}
