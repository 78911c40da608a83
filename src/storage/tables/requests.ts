/** What became of requests. They refer to their events, which SQLite has by their place and PostgreSQL by their month. */

import { defineEntity } from '@mikro-orm/core';
import { ADMITTED } from '../rows/codes.ts';
import { code, id, instant, json, large, nanoUsd, packedId, text, whole } from './kinds.ts';

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
  // All corrections before the last, oldest first, null when there are none: on SQLite their places in the log as a JSON
  // array, on PostgreSQL the instants of their events, joined by commas.
  earlierCorrections: text().strictNullable(),
};

const WAITING = { name: 'requests_admitted', properties: 'receivedAtMs', where: `state = ${ADMITTED}` } as const;

/** WITHOUT ROWID, as the migration says: found by their key, and by little else. */
export const RequestOnSqlite = defineEntity({
  name: 'Request',
  tableName: 'requests',
  properties: {
    organizationNumber: whole().primary(),
    key: packedId().fieldName('request_key').primary(),
    ...subject,
    // Where in the log their events are.
    completedSeq: large().strictNullable(),
    settledSeq: large().strictNullable(),
    correctionSeq: large().strictNullable(),
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
    key: id().fieldName('request_key').primary(),
    ...subject,
    // When their events were created, which is where the log has them.
    completedAtMs: instant('completed_at').strictNullable(),
    settledAtMs: instant('settled_at').strictNullable(),
    correctionAtMs: instant('correction_at').strictNullable(),
    ...facts,
  },
  indexes: [WAITING],
});
