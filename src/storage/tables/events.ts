/** The log of events, and events that are in no log. */

import { defineEntity } from '@mikro-orm/core';
import { eventTypes } from '../rows/codes.ts';
import { code, id, instant, large, text, whole } from './kinds.ts';

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
