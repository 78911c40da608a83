/**
 * Admits and completes requests of the gateway on a new database, and prints how many pairs a second:
 * node bench/load/ledger.ts <database url> <seconds>
 */

import { randomBytes } from 'node:crypto';
import { readConfig } from '../../src/config/config.ts';
import { compileBudgets } from '../../src/domain/budgets/active-budgets.ts';
import type { Budget } from '../../src/domain/budgets/budget.ts';
import type { RequestContent } from '../../src/domain/events/request-content.ts';
import { bucketsAt } from '../../src/domain/gateway/budget-demands.ts';
import { createLeaseHolder } from '../../src/domain/gateway/lease-holder.ts';
import { bootstrap } from '../../src/domain/organization/bootstrap.ts';
import { deriveRootKeys } from '../../src/domain/secrets.ts';
import { openStore } from '../../src/storage/open.ts';
import { quietLog } from '../fill/quiet-log.ts';

const CLIENTS = 256;
const WARM_UP_MS = 2000;
const USD = 1_000_000_000;
const COST_NANO_USD = 20_000;
const ESTIMATE_NANO_USD = 50_000;
const PERIOD_MS = Date.UTC(2026, 0, 1);
const USAGE = {
  inputTokens: 100,
  outputTokens: 50,
  cacheReadInputTokens: 0,
  cacheCreationInputTokens: 0,
  reasoningTokens: 0,
};
const QUEUE_MAX_BYTES = 64 * 1024 * 1024;

const [url, seconds] = process.argv.slice(2);
if (url === undefined || seconds === undefined) throw new Error('Usage: node ledger.ts <database url> <seconds>');
const store = await openStore({ url, queueMaxBytes: QUEUE_MAX_BYTES, log: quietLog });
const tenant = await createTenant();
const active = compileBudgets(tenant.budgets, 1);
const holder = createLeaseHolder({ store: store.leases, processId: 'bench', nowMs: () => performance.now() });
let sent = 0;
let completed = 0;
let isOver = false;

const clients = Array.from({ length: CLIENTS }, runClient);
await passMs(WARM_UP_MS);
const [before, beganAtMs] = [completed, performance.now()];
await passMs(Number(seconds) * 1000);
const perSecond = ((completed - before) * 1000) / (performance.now() - beganAtMs);
isOver = true;
await Promise.all(clients);
await holder.close();
await checkSpent();
await store.close();
process.stdout.write(`${JSON.stringify({ perSecond })}\n`);

async function runClient(): Promise<void> {
  const { organizationId, organizationNumber, projectId, projectNumber } = tenant;
  const ids = { organizationId, organizationNumber };
  const spender = { organizationId, projectId, teamId: null, virtualKeyId: 'vk_bench', principalUserId: null };
  while (!isOver) {
    sent += 1;
    const receivedAtMs = Date.now();
    const request = { projectId, projectNumber, gatewayRequestId: `gwreq_${randomBytes(18).toString('base64url')}` };
    const matched = active.matching({ ...spender, endUserId: null, modelProviderId: 'provider' });
    const buckets = bucketsAt(matched, { organizationNumber, atMs: receivedAtMs });
    const demands = buckets.map((bucket) => ({ bucket, nanoUsd: ESTIMATE_NANO_USD, isLimited: true }));
    const reservation = await holder.reserve(demands);
    if ('code' in reservation) throw new Error(`A request was refused: ${reservation.code}.`);
    const content = contentAt(receivedAtMs);
    const admitted = await store.requests.admit({
      kind: 'admission',
      ...ids,
      ...request,
      ...reservation,
      receivedAtMs,
      content,
    });
    holder.conclude(reservation, admitted);
    if (admitted === 'lost') throw new Error('A lease was lost.');
    const cost = { nanoUsd: COST_NANO_USD, rateVersion: 'bench' };
    const record = { ...request, status: 'success', content: { ...content, usage: USAGE }, cost } as const;
    const price = { model: content.model, usage: USAGE, cost: null };
    await store.requests.report({ kind: 'requests', ...ids, receivedAtMs, records: [{ ...record, price }] });
    completed += 1;
  }
}

function contentAt(occurredAtMs: number): RequestContent {
  return {
    occurredAtMs,
    virtualKeyId: 'vk_bench',
    principalUserId: null,
    endUserId: null,
    traceId: '',
    model: 'gpt-4o-mini',
    modelProviderId: 'provider',
    requestType: 'chat',
    usage: null,
    error: null,
    durationMs: null,
    labelsJson: '[]',
    metadataJson: '{}',
  };
}

/** The budgets must have counted every request. */
async function checkSpent(): Promise<void> {
  const periods = tenant.budgets.map(({ id: budgetId }) => ({ budgetId, periodStartedAtMs: PERIOD_MS }));
  for (const { spentNanoUsd, leasedNanoUsd } of await store.budgets.sums(tenant.organizationNumber, periods)) {
    if (spentNanoUsd === BigInt(completed) * BigInt(COST_NANO_USD) && leasedNanoUsd === 0n) continue;
    throw new Error(
      `After ${completed} of ${sent} requests the budget has spent ${spentNanoUsd}, leased ${leasedNanoUsd}.`,
    );
  }
}

/** An organization with a budget of its own and one of its project. */
async function createTenant() {
  const config = readConfig({});
  const deps = { store: store.installation, keyPrefixes: config.keyPrefixes, random: randomBytes };
  const rootKeys = deriveRootKeys(randomBytes(32).toString('hex'));
  await bootstrap({ ...deps, rootKeys }, { ...config.bootstrap, projectId: 'project_bench' }, Date.now());
  const project = await store.keys.findProject('project_bench');
  if (project === null) throw new Error('The first project is missing.');
  const { organizationId, organizationNumber, id: projectId, number: projectNumber } = project;
  const budgets = [
    budgetOf(organizationId, { id: 'budget_1', scope: { kind: 'organization', id: organizationId } }),
    budgetOf(organizationId, { id: 'budget_2', scope: { kind: 'project', id: projectId } }),
  ];
  const expectedVersion = await store.management.version(organizationId);
  await store.management.commit({ organizationId, expectedVersion, audit: [], budgets });
  return { organizationId, organizationNumber, projectId, projectNumber, budgets };
}

function budgetOf(organizationId: string, { id, scope }: Pick<Budget, 'id' | 'scope'>): Budget {
  return {
    organizationId,
    id,
    scope,
    name: id,
    window: 'total',
    cycleAnchorAtMs: PERIOD_MS,
    resetAtMs: null,
    resetReason: null,
    limitNanoUsd: 1000 * USD,
    onBreach: 'block',
    providerId: null,
    reserve: 'expected',
    archivedAtMs: null,
    createdAtMs: PERIOD_MS,
    updatedAtMs: PERIOD_MS,
  };
}

function passMs(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
