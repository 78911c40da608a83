/** The log of events, events that are in no log, and the requests that they tell of. */

import { defineEntity } from '@mikro-orm/core';
import { ADMITTED, eventTypes } from '../rows/codes.ts';
import { code, id, instant, json, large, nanoUsd, requestKey, text, whole } from './kinds.ts';

const SETTLED = `type = ${eventTypes.code('gateway.request.settled')}`;

/** SQLite: the envelopes alone. What orders and finds them is in events_by_time. */
export const EventOnSqlite = defineEntity({
  name: 'Event',
  tableName: 'events',
  properties: {
    organizationNumber: whole().primary(),
    seq: large().primary(),
    envelope: text(),
  },
});

/** PostgreSQL: all in one table, because the month of a row has to be in it. */
export const EventOnPostgres = defineEntity({
  name: 'Event',
  tableName: 'events',
  properties: {
    organizationNumber: whole().primary(),
    createdAtMs: instant('created_at').primary(),
    id: id().primary(),
    type: code(),
    seq: large(),
    envelope: text(),
  },
  indexes: [
    { name: 'events_by_seq', properties: ['organizationNumber', 'seq'] },
    { name: 'events_settled', properties: ['organizationNumber', 'createdAtMs', 'id'], where: SETTLED },
  ],
});

/**
 * SQLite only: the order of the log, WITHOUT ROWID as the migration says. Apart from the envelopes, so that ids are kept
 * once and pages hold many entries.
 */
export const EventByTime = defineEntity({
  name: 'EventByTime',
  tableName: 'events_by_time',
  properties: {
    organizationNumber: whole().primary(),
    createdAtMs: instant('created_at').primary(),
    id: id().primary(),
    type: code(),
    seq: large(),
  },
  indexes: [{ name: 'events_settled', properties: ['organizationNumber', 'createdAtMs', 'id'], where: SETTLED }],
});

/** Events that are emitted and not listed: their envelopes are among the events, and this keeps their ids unique. */
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

// What became of requests. They refer to their events, which SQLite has by their place and PostgreSQL by their month.

const subject = {
  projectNumber: whole(),
  // Kept only where the key is not that id itself.
  gatewayRequestId: id().strictNullable(),
  state: code(),
  completedBy: code().strictNullable(),
};

const facts = {
  receivedAtMs: instant('received_at'),
  costNanoUsd: nanoUsd('nano_usd').strictNullable(),
  // What the request was admitted with; kept until no outcome can follow any more.
  admissionJson: json('admission').strictNullable(),
  // The events of all corrections before the last, oldest first, as a JSON array; null when there are none.
  earlierCorrections: text().strictNullable(),
};

const WAITING = { name: 'requests_admitted', properties: 'receivedAtMs', where: `state = ${ADMITTED}` } as const;

/** WITHOUT ROWID, as the migration says: found by their key, and by little else. */
export const RequestOnSqlite = defineEntity({
  name: 'Request',
  tableName: 'requests',
  properties: {
    organizationNumber: whole().primary(),
    key: requestKey().primary(),
    ...subject,
    // Where in the log their events are.
    completedEvent: large().fieldName('completed_seq').strictNullable(),
    settledEvent: large().fieldName('settled_seq').strictNullable(),
    correctionEvent: large().fieldName('correction_seq').strictNullable(),
    ...facts,
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
    ...subject,
    // When their events were created, which is where the log has them.
    completedEvent: instant('completed_at').strictNullable(),
    settledEvent: instant('settled_at').strictNullable(),
    correctionEvent: instant('correction_at').strictNullable(),
    ...facts,
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
