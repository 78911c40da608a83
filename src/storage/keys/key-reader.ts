/** What authentication reads: one question of each kind, for all who ask it at the same time. */

import type { ApiKey } from '../../domain/caller.ts';
import { type Asking, askInTurns, type Questions, type RowOf } from '../questions.ts';
import { createFreshLookup, createFreshness } from './freshness.ts';
import type { KeyReader, ProjectByKey } from './key-cache.ts';
import { unpackGrant } from './key-records.ts';

type KeyQuestions = Questions['keys'];

export function createKeyReader({ questions: { keys }, ask, pointsAtOnce }: Asking): KeyReader & ListKeyIds {
  const findProjectByKey = createFreshLookup(async (hashes) => {
    const keyHashes = hashes.map((hash) => Buffer.from(hash, 'hex'));
    return byKey(await askInTurns(keyHashes, pointsAtOnce, (some) => ask(keys.findProjectsByKey, { keyHashes: some })));
  });

  return {
    findApiKey: createFreshLookup(async (ids) => {
      const rows = await askInTurns(ids, pointsAtOnce, (some) => ask(keys.findApiKeys, { ids: some }));
      return new Map(rows.map((row) => [row.id, toApiKey(row)]));
    }),
    listKeyIds: async () => (await ask(keys.listKeyIds, {})).map(({ id }) => id),
    findProjectByKey: (keyHash) => findProjectByKey(keyHash.toString('hex')),
    findProject: createFreshLookup(async (ids) => {
      const rows = await askInTurns(ids, pointsAtOnce, (some) => ask(keys.findProjects, { ids: some }));
      return new Map(rows.map((project) => [project.id, project]));
    }),
    hasImportedCredentials: createFreshness(async () => (await ask(keys.hasImported, {}))[0]?.hasImported === true),
  };
}

type ListKeyIds = { readonly listKeyIds: NonNullable<KeyReader['listKeyIds']> };
type ApiKeyRow = RowOf<KeyQuestions['findApiKeys']>;
type ProjectByKeyRow = RowOf<KeyQuestions['findProjectsByKey']>;

function toApiKey({
  organizationId,
  organizationNumber,
  priceVersion,
  bindings,
  ownerBindings,
  ...rest
}: ApiKeyRow): ApiKey {
  return {
    ...rest,
    organization: { id: organizationId, number: organizationNumber, priceVersion },
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
