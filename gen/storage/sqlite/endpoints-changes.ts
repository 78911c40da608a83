// Compiled from src/storage/endpoints/questions-changes.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/questions.ts';
import { replayStatuses } from '../../../src/storage/rows/webhook-codes.ts';
import type * as source from '../../../src/storage/endpoints/questions-changes.ts';

export const cancelReplays: Compiled<typeof source.cancelReplays> = {
  name: 'endpoints-changes.cancelReplays',
  text: "update \"webhook_replays\" set \"status\" = 2, \"completed_at\" = ? where \"endpoint_number\" = ? and \"status\" = 0",
  cells: (given) => [given.completedAtMs ?? null, given.endpointNumber],
};

export const countEndpoints: Compiled<typeof source.countEndpoints> = {
  name: 'endpoints-changes.countEndpoints',
  text: "select count(*) as \"count\" from \"webhook_endpoints\" where \"organization_id\" = ? and \"archived_at\" is null",
  cells: (given) => [given.organizationId],
  row: (row: any) => ({
    count: row[0],
  }),
};

export const countUnfinishedReplays: Compiled<typeof source.countUnfinishedReplays> = {
  name: 'endpoints-changes.countUnfinishedReplays',
  text: "select count(*) as \"count\" from \"webhook_replays\" where \"endpoint_number\" = ? and \"status\" = 0",
  cells: (given) => [given.endpointNumber],
  row: (row: any) => ({
    count: row[0],
  }),
};

export const findNumber: Compiled<typeof source.findNumber> = {
  name: 'endpoints-changes.findNumber',
  text: "select \"number\" as \"number\" from \"webhook_endpoints\" where \"organization_id\" = ? and \"id\" = ?",
  cells: (given) => [given.organizationId, given.id],
  row: (row: any) => ({
    number: row[0],
  }),
};

export const findOrganizationNumber: Compiled<typeof source.findOrganizationNumber> = {
  name: 'endpoints-changes.findOrganizationNumber',
  text: "select \"number\" as \"number\" from \"organizations\" where \"id\" = ?",
  cells: (given) => [given.id],
  row: (row: any) => ({
    number: row[0],
  }),
};

export const findReplay: Compiled<typeof source.findReplay> = {
  name: 'endpoints-changes.findReplay',
  text: "select \"webhook_replays\".\"id\" as \"id\", \"webhook_replays\".\"endpoint_number\" as \"endpointNumber\", \"webhook_replays\".\"from_ms\" as \"fromMs\", \"webhook_replays\".\"to_ms\" as \"toMs\", \"webhook_replays\".\"type\" as \"type\", \"webhook_replays\".\"matched\" as \"matched\", \"webhook_replays\".\"enqueued\" as \"enqueued\", \"webhook_replays\".\"delivered\" as \"delivered\", \"webhook_replays\".\"dead\" as \"dead\", \"webhook_replays\".\"status\" as \"status\", \"webhook_replays\".\"created_at\" as \"createdAtMs\", \"webhook_replays\".\"completed_at\" as \"completedAtMs\" from \"webhook_replays\" where (\"endpoint_number\" = ? and \"id\" = ?)",
  cells: (given) => [given.endpointNumber, given.id],
  row: (row: any) => ({
    id: row[0],
    endpointNumber: row[1],
    fromMs: row[2],
    toMs: row[3],
    type: row[4],
    matched: row[5],
    enqueued: row[6],
    delivered: row[7],
    dead: row[8],
    status: replayStatuses.word(row[9]),
    createdAtMs: row[10],
    completedAtMs: row[11],
  }),
};

export const insertEndpoint: Compiled<typeof source.insertEndpoint> = {
  name: 'endpoints-changes.insertEndpoint',
  text: "insert into \"webhook_endpoints\" (\"id\", \"organization_id\", \"organization_number\", \"destination_kind\", \"url\", \"sqs\", \"sqs_secret\", \"enabled_events\", \"status\", \"disabled_reason\", \"disabled_at\", \"max_batch_size\", \"max_batch_delay_ms\", \"max_in_flight\", \"description\", \"secret\", \"previous_secret\", \"previous_secret_until\", \"destination_version\", \"run\", \"version\", \"change_number\", \"created_at\", \"updated_at\", \"archived_at\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (given) => [given.id, given.organizationId, given.organizationNumber, given.destinationKind, given.url ?? null, given.sqs ?? null, given.sqsSecret ?? null, given.enabledEvents, given.status, given.disabledReason ?? null, given.disabledAtMs ?? null, given.maxBatchSize, given.maxBatchDelayMs, given.maxInFlight, given.description ?? null, given.secret, given.previousSecret ?? null, given.previousSecretUntilMs ?? null, given.destinationVersion, given.run, given.version, given.changeNumber, given.createdAtMs, given.updatedAtMs, given.archivedAtMs ?? null],
};

export const insertReplay: Compiled<typeof source.insertReplay> = {
  name: 'endpoints-changes.insertReplay',
  text: "insert into \"webhook_replays\" (\"id\", \"endpoint_number\", \"from_ms\", \"to_ms\", \"type\", \"mask\", \"position\", \"to_seq\", \"matched\", \"enqueued\", \"delivered\", \"dead\", \"status\", \"created_at\", \"completed_at\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (given) => [given.id, given.endpointNumber, given.fromMs, given.toMs, given.type ?? null, given.mask, given.position, given.toSeq, given.matched, given.enqueued, given.delivered, given.dead, replayStatuses.code(given.status), given.createdAtMs, given.completedAtMs ?? null],
};

export const insertState: Compiled<typeof source.insertState> = {
  name: 'endpoints-changes.insertState',
  text: "insert into \"webhook_states\" (\"endpoint_number\", \"position\", \"in_flight\", \"subscriptions\", \"failing_since\", \"last_success_at\", \"last_failure_at\", \"consecutive_failures\") values (?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (given) => [given.endpointNumber, given.position, given.inFlight, given.subscriptionsJson, given.failingSinceMs ?? null, given.lastSuccessAtMs ?? null, given.lastFailureAtMs ?? null, given.consecutiveFailures],
};

export const markChanged: Compiled<typeof source.markChanged> = {
  name: 'endpoints-changes.markChanged',
  text: "update \"webhook_endpoints\" set \"change_number\" = ? where \"number\" = ?",
  cells: (given) => [given.changeNumber, given.number],
};

export const updateEndpoint: Compiled<typeof source.updateEndpoint> = {
  name: 'endpoints-changes.updateEndpoint',
  text: "update \"webhook_endpoints\" set \"id\" = ?, \"organization_id\" = ?, \"destination_kind\" = ?, \"url\" = ?, \"sqs\" = ?, \"sqs_secret\" = ?, \"enabled_events\" = ?, \"status\" = ?, \"disabled_reason\" = ?, \"disabled_at\" = ?, \"max_batch_size\" = ?, \"max_batch_delay_ms\" = ?, \"max_in_flight\" = ?, \"description\" = ?, \"secret\" = ?, \"previous_secret\" = ?, \"previous_secret_until\" = ?, \"destination_version\" = ?, \"run\" = ?, \"version\" = ?, \"change_number\" = ?, \"created_at\" = ?, \"updated_at\" = ?, \"archived_at\" = ? where \"number\" = ?",
  cells: (given) => [given.id, given.organizationId, given.destinationKind, given.url ?? null, given.sqs ?? null, given.sqsSecret ?? null, given.enabledEvents, given.status, given.disabledReason ?? null, given.disabledAtMs ?? null, given.maxBatchSize, given.maxBatchDelayMs, given.maxInFlight, given.description ?? null, given.secret, given.previousSecret ?? null, given.previousSecretUntilMs ?? null, given.destinationVersion, given.run, given.version, given.changeNumber, given.createdAtMs, given.updatedAtMs, given.archivedAtMs ?? null, given.number],
};
