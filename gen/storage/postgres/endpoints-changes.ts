// Compiled from src/storage/endpoints/questions-changes.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/questions.ts';
import { replayStatuses } from '../../../src/storage/rows/webhook-codes.ts';
import type * as source from '../../../src/storage/endpoints/questions-changes.ts';

export const cancelReplays: Compiled<typeof source.cancelReplays> = {
  name: 'endpoints-changes.cancelReplays',
  text: "update \"webhook_replays\" set \"status\" = 2, \"completed_at\" = $1 where \"endpoint_number\" = $2 and \"status\" = 0",
  cells: (given) => [given.completedAtMs ?? null, given.endpointNumber],
};

export const countEndpoints: Compiled<typeof source.countEndpoints> = {
  name: 'endpoints-changes.countEndpoints',
  text: "select count(*) as \"count\" from \"webhook_endpoints\" where \"organization_id\" = $1 and \"archived_at\" is null",
  cells: (given) => [given.organizationId],
  row: (row) => row,
};

export const countUnfinishedReplays: Compiled<typeof source.countUnfinishedReplays> = {
  name: 'endpoints-changes.countUnfinishedReplays',
  text: "select count(*) as \"count\" from \"webhook_replays\" where \"endpoint_number\" = $1 and \"status\" = 0",
  cells: (given) => [given.endpointNumber],
  row: (row) => row,
};

export const findNumber: Compiled<typeof source.findNumber> = {
  name: 'endpoints-changes.findNumber',
  text: "select \"number\" as \"number\" from \"webhook_endpoints\" where \"organization_id\" = $1 and \"id\" = $2",
  cells: (given) => [given.organizationId, given.id],
  row: (row) => row,
};

export const findOrganizationNumber: Compiled<typeof source.findOrganizationNumber> = {
  name: 'endpoints-changes.findOrganizationNumber',
  text: "select \"number\" as \"number\" from \"organizations\" where \"id\" = $1",
  cells: (given) => [given.id],
  row: (row) => row,
};

export const findReplay: Compiled<typeof source.findReplay> = {
  name: 'endpoints-changes.findReplay',
  text: "select \"webhook_replays\".\"id\" as \"id\", \"webhook_replays\".\"endpoint_number\" as \"endpointNumber\", \"webhook_replays\".\"from_ms\" as \"fromMs\", \"webhook_replays\".\"to_ms\" as \"toMs\", \"webhook_replays\".\"type\" as \"type\", \"webhook_replays\".\"matched\" as \"matched\", \"webhook_replays\".\"enqueued\" as \"enqueued\", \"webhook_replays\".\"delivered\" as \"delivered\", \"webhook_replays\".\"dead\" as \"dead\", \"webhook_replays\".\"status\" as \"status\", \"webhook_replays\".\"created_at\" as \"createdAtMs\", \"webhook_replays\".\"completed_at\" as \"completedAtMs\" from \"webhook_replays\" where (\"endpoint_number\" = $1 and \"id\" = $2)",
  cells: (given) => [given.endpointNumber, given.id],
  row: (row: any) => ({
    id: row.id,
    endpointNumber: row.endpointNumber,
    fromMs: row.fromMs,
    toMs: row.toMs,
    type: row.type,
    matched: row.matched,
    enqueued: row.enqueued,
    delivered: row.delivered,
    dead: row.dead,
    status: replayStatuses.word(row.status),
    createdAtMs: row.createdAtMs,
    completedAtMs: row.completedAtMs,
  }),
};

export const insertEndpoint: Compiled<typeof source.insertEndpoint> = {
  name: 'endpoints-changes.insertEndpoint',
  text: "insert into \"webhook_endpoints\" (\"id\", \"organization_id\", \"organization_number\", \"destination_kind\", \"url\", \"sqs\", \"sqs_secret\", \"enabled_events\", \"status\", \"disabled_reason\", \"disabled_at\", \"max_batch_size\", \"max_batch_delay_ms\", \"max_in_flight\", \"description\", \"secret\", \"previous_secret\", \"previous_secret_until\", \"destination_version\", \"run\", \"version\", \"change_number\", \"created_at\", \"updated_at\", \"archived_at\") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25)",
  cells: (given) => [given.id, given.organizationId, given.organizationNumber, given.destinationKind, given.url ?? null, given.sqs ?? null, given.sqsSecret ?? null, given.enabledEvents, given.status, given.disabledReason ?? null, given.disabledAtMs ?? null, given.maxBatchSize, given.maxBatchDelayMs, given.maxInFlight, given.description ?? null, given.secret, given.previousSecret ?? null, given.previousSecretUntilMs ?? null, given.destinationVersion, given.run, given.version, given.changeNumber, given.createdAtMs, given.updatedAtMs, given.archivedAtMs ?? null],
};

export const insertReplay: Compiled<typeof source.insertReplay> = {
  name: 'endpoints-changes.insertReplay',
  text: "insert into \"webhook_replays\" (\"id\", \"endpoint_number\", \"from_ms\", \"to_ms\", \"type\", \"mask\", \"position\", \"to_seq\", \"matched\", \"enqueued\", \"delivered\", \"dead\", \"status\", \"created_at\", \"completed_at\") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
  cells: (given) => [given.id, given.endpointNumber, given.fromMs, given.toMs, given.type ?? null, given.mask, given.position, given.toSeq, given.matched, given.enqueued, given.delivered, given.dead, replayStatuses.code(given.status), given.createdAtMs, given.completedAtMs ?? null],
};

export const insertState: Compiled<typeof source.insertState> = {
  name: 'endpoints-changes.insertState',
  text: "insert into \"webhook_states\" (\"endpoint_number\", \"position\", \"in_flight\", \"subscriptions\", \"failing_since\", \"last_success_at\", \"last_failure_at\", \"consecutive_failures\") values ($1, $2, $3, $4, $5, $6, $7, $8)",
  cells: (given) => [given.endpointNumber, given.position, given.inFlight, given.subscriptionsJson, given.failingSinceMs ?? null, given.lastSuccessAtMs ?? null, given.lastFailureAtMs ?? null, given.consecutiveFailures],
};

export const markChanged: Compiled<typeof source.markChanged> = {
  name: 'endpoints-changes.markChanged',
  text: "update \"webhook_endpoints\" set \"change_number\" = $1 where \"number\" = $2",
  cells: (given) => [given.changeNumber, given.number],
};

export const updateEndpoint: Compiled<typeof source.updateEndpoint> = {
  name: 'endpoints-changes.updateEndpoint',
  text: "update \"webhook_endpoints\" set \"id\" = $1, \"organization_id\" = $2, \"destination_kind\" = $3, \"url\" = $4, \"sqs\" = $5, \"sqs_secret\" = $6, \"enabled_events\" = $7, \"status\" = $8, \"disabled_reason\" = $9, \"disabled_at\" = $10, \"max_batch_size\" = $11, \"max_batch_delay_ms\" = $12, \"max_in_flight\" = $13, \"description\" = $14, \"secret\" = $15, \"previous_secret\" = $16, \"previous_secret_until\" = $17, \"destination_version\" = $18, \"run\" = $19, \"version\" = $20, \"change_number\" = $21, \"created_at\" = $22, \"updated_at\" = $23, \"archived_at\" = $24 where \"number\" = $25",
  cells: (given) => [given.id, given.organizationId, given.destinationKind, given.url ?? null, given.sqs ?? null, given.sqsSecret ?? null, given.enabledEvents, given.status, given.disabledReason ?? null, given.disabledAtMs ?? null, given.maxBatchSize, given.maxBatchDelayMs, given.maxInFlight, given.description ?? null, given.secret, given.previousSecret ?? null, given.previousSecretUntilMs ?? null, given.destinationVersion, given.run, given.version, given.changeNumber, given.createdAtMs, given.updatedAtMs, given.archivedAtMs ?? null, given.number],
};
