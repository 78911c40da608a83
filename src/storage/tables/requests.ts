/** What became of requests. They refer to their events, which SQLite has by their place and PostgreSQL by their month. */

import { defineEntity } from '@mikro-orm/core';
import { code, id, instant, json, large, nanoUsd, packedId, text, whole } from './kinds.ts';

const subject = {
  projectNumber: whole(),
  // Kept only where the key is not that id itself.
  gatewayRequestId: id().strictNullable(),
  state: code(),
  completedBy: code().strictNullable(),
};
const receivedAtMs = instant('received_at');
const costNanoUsd = nanoUsd('nano_usd').strictNullable();
// What the request was admitted with; kept until no outcome can follow any more.
const admissionJson = json('admission').strictNullable();

const ADMITTED = { name: 'requests_admitted', properties: ['receivedAtMs'], where: 'state = 2' } as const;

/** WITHOUT ROWID, as the migration says: found by their key, and by nothing else. */
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
    receivedAtMs,
    costNanoUsd,
    admissionJson,
    // The places of all corrections before the last, oldest first; null when there are none.
    earlierCorrections: json('earlier_corrections').strictNullable(),
  },
  indexes: [{ ...ADMITTED, properties: [...ADMITTED.properties] }],
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
    receivedAtMs,
    // When their events were created, which is where the log has them.
    completedAtMs: instant('completed_at').strictNullable(),
    settledAtMs: instant('settled_at').strictNullable(),
    correctionAtMs: instant('correction_at').strictNullable(),
    costNanoUsd,
    admissionJson,
    // When all corrections before the last were created, as numbers joined by commas, oldest first; null when there are none.
    earlierCorrections: text().strictNullable(),
  },
  indexes: [{ ...ADMITTED, properties: [...ADMITTED.properties] }],
});
