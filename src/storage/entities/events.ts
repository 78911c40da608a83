/** The log of events, the ids of events without a request, and requests. */

import { defineEntity } from '@mikro-orm/core';
import { ADMITTED, eventTypes } from '../rows/codes.ts';
import {
  bigInteger,
  code,
  id,
  instant,
  integer,
  json,
  nanoUsd,
  packedEnvelope,
  requestKey,
  table,
  text,
} from './kinds.ts';

const SETTLED = `type = ${eventTypes.code('gateway.request.settled')}`;

/** The columns of an event but its envelope. */
const event = {
  organizationNumber: integer().primary(),
  createdAtMs: instant('created_at').primary(),
  id: id().primary(),
  type: code(),
  seq: bigInteger(),
};

type Key = 'organizationNumber' | 'createdAtMs' | 'id';

const SETTLED_EVENTS = {
  name: 'events_settled',
  properties: ['organizationNumber', 'createdAtMs', 'id'] satisfies Key[] as Key[],
  where: SETTLED,
};

/** WITHOUT ROWID (beyond-mapper.ts): ids are stored once, and pages hold many entries. */
export const EventOnSqlite = defineEntity({
  name: 'Event',
  tableName: 'events',
  properties: event,
  indexes: [SETTLED_EVENTS],
});

/** SQLite only: the envelopes of events, by sequence number. */
export const Envelope = table('Envelope', 'envelopes', {
  organizationNumber: integer().primary(),
  seq: bigInteger().primary(),
  envelope: packedEnvelope(),
});

/** PostgreSQL: with its envelope, because a month of the log is dropped whole. */
export const EventOnPostgres = defineEntity({
  name: 'Event',
  tableName: 'events',
  properties: { ...event, envelope: text() },
  indexes: [{ name: 'events_by_seq', properties: ['organizationNumber', 'seq'] }, SETTLED_EVENTS],
});

/** Keeps the ids unique of events that belong to no request; the events are in the log with all others. */
export const GovernanceEvent = defineEntity({
  name: 'GovernanceEvent',
  tableName: 'governance_events',
  properties: {
    organizationNumber: integer().primary(),
    id: id().primary(),
    createdAtMs: instant('created_at'),
    seq: bigInteger(),
  },
  indexes: [{ name: 'governance_events_by_time', properties: ['createdAtMs'] }],
});

/** The ends of the logs. */
export const LogHead = table('LogHead', 'log_heads', {
  organizationNumber: integer().primary().autoincrement(false),
  seq: bigInteger(),
  createdAtMs: instant('created_at'),
  lastKeyIndex: integer(),
  // How often the end was ahead of the clock, and went back to it.
  resets: integer().default(0),
});

// Requests and their outcomes.

const request = {
  projectNumber: integer(),
  // Null where it equals the key.
  gatewayRequestId: id().strictNullable(),
  state: code(),
  completedBy: code().strictNullable(),
  // The creation instants of its events, which are part of their keys in the log.
  completedEvent: instant('completed_at').strictNullable(),
  settledEvent: instant('settled_at').strictNullable(),
  correctionEvent: instant('correction_at').strictNullable(),
  receivedAtMs: instant('received_at'),
  costNanoUsd: nanoUsd('nano_usd').strictNullable(),
  // The admission of the request; null once no outcome can follow.
  admissionJson: json('admission').strictNullable(),
  // The creation instants of all corrections but the last, oldest first, as a JSON array; null when there are none.
  earlierCorrections: text().strictNullable(),
  // The budgets that it counts in, and what it counts there (domain/budgets/charges.ts); null: in none.
  chargesJson: json('charges').strictNullable(),
};

const WAITING = { name: 'requests_admitted', properties: 'receivedAtMs', where: `state = ${ADMITTED}` } as const;

/** In the order in which requests came, so that new rows lie next to each other. */
export const RequestOnSqlite = defineEntity({
  name: 'Request',
  tableName: 'requests',
  properties: {
    sequence: integer().primary().autoincrement(false),
    organizationNumber: integer(),
    key: requestKey(),
    ...request,
  },
  indexes: [WAITING],
});

/** SQLite only: finds requests by their keys, but for the newest ones (engine/sqlite/request-keys.ts). WITHOUT ROWID. */
export const RequestKeyOnSqlite = table('RequestKey', 'request_keys', {
  organizationNumber: integer().primary(),
  key: requestKey().primary(),
  sequence: bigInteger(),
});

/** SQLite only, one row: the keys of all requests up to this sequence are in request_keys. */
export const IndexedRequests = table('IndexedRequests', 'indexed_requests', {
  id: integer().primary().autoincrement(false),
  sequence: bigInteger(),
});

export const RequestOnPostgres = defineEntity({
  name: 'Request',
  tableName: 'requests',
  properties: {
    organizationNumber: integer().primary(),
    // When the request last changed: its partition outlives the events that are found through it.
    changedAtMs: instant('changed_at').primary(),
    key: requestKey().primary(),
    ...request,
  },
  indexes: [WAITING],
});

/**
 * PostgreSQL only: the month of a request. It keeps keys unique over all months, which no index of a partitioned table
 * can.
 */
export const RequestKeyOnPostgres = table('RequestKey', 'request_keys', {
  organizationNumber: integer().primary(),
  key: requestKey().primary(),
  changedAtMs: instant('changed_at'),
});
