/** Reads of authentication: concurrent callers share one query of each kind. */

import type { ApiKey, PresentedSession } from '../../domain/caller.ts';
import { setUpGateway } from '../../domain/gateway/gateway-setup.ts';
import type { ManagementStore } from '../../domain/management/management.ts';
import type { RowOf } from '../statements/statement.ts';
import { type Queries, type QueryRunner, queryInBatches } from '../transaction.ts';
import { createFreshLookup, createFreshness } from './freshness.ts';
import { unpackGrant } from './grants.ts';
import type { KeyReader, ProjectByKey, VirtualKeyBySecret } from './key-cache.ts';

export function createKeyReader(
  { queries: { keys }, runQuery, pointsPerQuery }: QueryRunner,
  gateway: Pick<ManagementStore, 'modelProviders' | 'activeBudgets'>,
): KeyReader {
  const findProjectByKey = createFreshLookup(async (hashes) => {
    const keyHashes = hashes.map((hash) => Buffer.from(hash, 'hex'));
    return byKey(
      await queryInBatches(keyHashes, pointsPerQuery, (some) => runQuery(keys.findProjectsByKey, { keyHashes: some })),
    );
  });

  const findVirtualKey = createFreshLookup(async (hashes) => {
    const secretHashes = hashes.map((hash) => Buffer.from(hash, 'hex'));
    return bySecret(
      await queryInBatches(secretHashes, pointsPerQuery, (some) =>
        runQuery(keys.findVirtualKeys, { secretHashes: some }),
      ),
    );
  });

  const findSession = createFreshLookup(async (hashes) => {
    const secretHashes = hashes.map((hash) => Buffer.from(hash, 'hex'));
    const rows = await queryInBatches(secretHashes, pointsPerQuery, (some) =>
      runQuery(keys.findSessions, { secretHashes: some }),
    );
    return new Map(rows.map((row) => [row.secretHash.toString('hex'), toSession(row)]));
  });

  return {
    findSession: (secretHash) => findSession(secretHash.toString('hex')),
    findVirtualKey: (secretHash) => findVirtualKey(secretHash.toString('hex')),
    async findGatewaySetup(organizationId) {
      const [providers, budgets] = await Promise.all([
        gateway.modelProviders(organizationId),
        gateway.activeBudgets(organizationId),
      ]);
      return setUpGateway(providers, budgets);
    },
    findApiKey: createFreshLookup(async (ids) => {
      const rows = await queryInBatches(ids, pointsPerQuery, (some) => runQuery(keys.findApiKeys, { ids: some }));
      return new Map(rows.map((row) => [row.id, toApiKey(row)]));
    }),
    listKeyIds: async () => (await runQuery(keys.listKeyIds, {})).map(({ id }) => id),
    findProjectByKey: (keyHash) => findProjectByKey(keyHash.toString('hex')),
    findProject: createFreshLookup(async (ids) => {
      const rows = await queryInBatches(ids, pointsPerQuery, (some) => runQuery(keys.findProjects, { ids: some }));
      return new Map(rows.map((project) => [project.id, project]));
    }),
    hasImportedCredentials: createFreshness(
      async () => (await runQuery(keys.hasImported, {}))[0]?.hasImported === true,
    ),
  };
}

/** A secret has one key: both hashes of a key are of random secrets. */
function bySecret(rows: readonly RowOf<Queries['keys']['findVirtualKeys']>[]): ReadonlyMap<string, VirtualKeyBySecret> {
  return new Map(
    rows.map(({ hash, untilMs, principalActive, ...key }) => [hash.toString('hex'), { key, principalActive, untilMs }]),
  );
}

type ApiKeyRow = RowOf<Queries['keys']['findApiKeys']>;
type ProjectByKeyRow = RowOf<Queries['keys']['findProjectsByKey']>;

function toApiKey({ organizationId, organizationNumber, priceVersion, promptVersion, ...rest }: ApiKeyRow): ApiKey {
  return {
    ...rest,
    organization: { id: organizationId, number: organizationNumber, priceVersion, promptVersion },
    bindings: rest.bindings.map(unpackGrant),
    ownerBindings: rest.ownerBindings.map(unpackGrant),
  };
}

function toSession(row: RowOf<Queries['keys']['findSessions']>): PresentedSession {
  const { organizationNumber, priceVersion, promptVersion, ownerBindings, ...session } = row;
  const organization = { id: session.organizationId, number: organizationNumber, priceVersion, promptVersion };
  return { ...session, organization, ownerBindings: ownerBindings.map(unpackGrant) };
}

/**
 * One key may be the current key of a project and the previous one of others; the project whose key ends last counts.
 */
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
