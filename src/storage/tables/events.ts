/** The log of events, events that are in no log, and the requests that they tell of. */

import { defineEntity } from '@mikro-orm/core';
import { ADMITTED, eventTypes } from '../rows/codes.ts';
import { code, id, instant, json, large, nanoUsd, requestKey, text, whole } from './kinds.ts';

const SETTLED = `type = ${eventTypes.code('gateway.request.settled')}`;

/** An event of the log, apart from its envelope. */
const event = {
  organizationNumber: whole().primary(),
  createdAtMs: instant('created_at').primary(),
  id: id().primary(),
  type: code(),
  seq: large(),
};

type Key = 'organizationNumber' | 'createdAtMs' | 'id';

const SETTLED_EVENTS = {
  name: 'events_settled',
  properties: ['organizationNumber', 'createdAtMs', 'id'] satisfies Key[] as Key[],
  where: SETTLED,
};

/** WITHOUT ROWID (beyond-mapper.ts): so ids are kept once, and pages hold many entries. */
export const EventOnSqlite = defineEntity({
  name: 'Event',
  tableName: 'events',
  properties: event,
  indexes: [SETTLED_EVENTS],
});

/** SQLite only: what the events say, in the order of their places. */
export const Envelope = defineEntity({
  name: 'Envelope',
  tableName: 'envelopes',
  properties: {
    organizationNumber: whole().primary(),
    seq: large().primary(),
    envelope: text(),
  },
});

/** PostgreSQL: with its envelope, because a month of the log is dropped whole. */
export const EventOnPostgres = defineEntity({
  name: 'Event',
  tableName: 'events',
  properties: { ...event, envelope: text() },
  indexes: [{ name: 'events_by_seq', properties: ['organizationNumber', 'seq'] }, SETTLED_EVENTS],
});

/** Keeps the ids of events unique that are not of requests; they are in the log with all others. */
export const GovernanceEvent = defineEntity({
  name: 'GovernanceEvent',
  tableName: 'governance_events',
  properties: {
    organizationNumber: whole().primary(),
    id: id().primary(),
    createdAtMs: instant('created_at'),
    seq: large(),
  },
  indexes: [{ name: 'governance_events_by_time', properties: ['createdAtMs'] }],
});

/** The ends of the logs. */
export const LogHead = defineEntity({
  name: 'LogHead',
  tableName: 'log_heads',
  properties: {
    organizationNumber: whole().primary().autoincrement(false),
    seq: large(),
    createdAtMs: instant('created_at'),
    lastKeyIndex: whole(),
  },
});

// What became of requests.

const request = {
  projectNumber: whole(),
  // Kept only where the key is not that id itself.
  gatewayRequestId: id().strictNullable(),
  state: code(),
  completedBy: code().strictNullable(),
  // When their events were created, which with their ids is where the log has them.
  completedEvent: instant('completed_at').strictNullable(),
  settledEvent: instant('settled_at').strictNullable(),
  correctionEvent: instant('correction_at').strictNullable(),
  receivedAtMs: instant('received_at'),
  costNanoUsd: nanoUsd('nano_usd').strictNullable(),
  // What the request was admitted with; kept until no outcome can follow any more.
  admissionJson: json('admission').strictNullable(),
  // The events of all corrections before the last, oldest first, as a JSON array; null when there are none.
  earlierCorrections: text().strictNullable(),
};

const WAITING = { name: 'requests_admitted', properties: 'receivedAtMs', where: `state = ${ADMITTED}` } as const;

/** WITHOUT ROWID (beyond-mapper.ts): found by their key, and by little else. */
export const RequestOnSqlite = defineEntity({
  name: 'Request',
  tableName: 'requests',
  properties: {
    organizationNumber: whole().primary(),
    key: requestKey().primary(),
    ...request,
  },
  indexes: [WAITING],
});

export const RequestOnPostgres = defineEntity({
  name: 'Request',
  tableName: 'requests',
  properties: {
    organizationNumber: whole().primary(),
    // When the request was last heard of: its partition outlives the events that are found through it.
    keptAtMs: instant('kept_at').primary(),
    key: requestKey().primary(),
    ...request,
  },
  indexes: [WAITING],
});

/** PostgreSQL only: in which month a request is. A key is unique over all months, and no index of a partitioned table is. */
export const RequestKey = defineEntity({
  name: 'RequestKey',
  tableName: 'request_keys',
  properties: {
    organizationNumber: whole().primary(),
    key: requestKey().primary(),
    keptAtMs: instant('kept_at'),
  },
});
