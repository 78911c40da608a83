/** Answers of providers that the gateway keeps for requests that are sent again. Without them such a request costs again. */

import { defineEntity } from '@mikro-orm/core';
import { bigInteger, bytes, id, instant, integer, table, text } from './kinds.ts';

/** With rowids: large rows in the order of a key would make every search for one long. */
export const CachedAnswerRow = defineEntity({
  name: 'CachedAnswer',
  tableName: 'cached_answers',
  properties: {
    projectNumber: integer().primary(),
    // Of the request.
    hash: bytes().primary(),
    storedAtMs: instant('stored_at'),
    expiresAtMs: instant('expires_at'),
    // What it counts for in the bytes of its project.
    weight: bigInteger(),
    contentType: text(),
    model: text(),
    providerId: id(),
    // Last: reading what stands behind it would read all of it.
    body: bytes(),
  },
  indexes: [
    { name: 'cached_answers_by_age', properties: ['projectNumber', 'storedAtMs', 'hash'] },
    { name: 'cached_answers_by_expiry', properties: ['expiresAtMs'] },
  ],
});

/**
 * What the answers of a project weigh together. Every change of them locks this row first, so that the sum is exact.
 * WITHOUT ROWID (beyond-mapper.ts).
 */
export const CachedBytes = table('CachedBytes', 'cached_bytes', {
  projectNumber: integer().primary().autoincrement(false),
  weight: bigInteger(),
});
