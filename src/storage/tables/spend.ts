/**
 * Blocks of the log for whoever sums up what requests cost: so many events in a row, with what of each is summed up. They
 * are written once, in the order of the log, each time by one process, and removed as a whole.
 */

import { defineEntity } from '@mikro-orm/core';
import { bytes, instant, large, whole } from './kinds.ts';

/** Up to where the log of an organization is in blocks, and until when somebody may be at the next one. */
export const SpendHead = defineEntity({
  name: 'SpendHead',
  tableName: 'spend_heads',
  properties: {
    organizationNumber: whole().primary().autoincrement(false),
    seq: large(),
    leasedUntilMs: instant('leased_until'),
  },
});

export const SpendBlock = defineEntity({
  name: 'SpendBlock',
  tableName: 'spend_blocks',
  properties: {
    organizationNumber: whole().primary(),
    firstSeq: large().primary(),
    lastSeq: large(),
    // When its requests happened, and when its last event was created.
    occurredFromMs: instant('occurred_from'),
    occurredToMs: instant('occurred_to'),
    createdToMs: instant('created_to'),
    // Events that a later one corrects, a bit each; nothing where there are none.
    gone: bytes(),
  },
  indexes: [{ name: 'spend_blocks_by_time', properties: 'createdToMs' }],
});

/** What is known of all events of a block: the numbers that are summed up, or one of what they are told apart by. */
export const SpendPart = defineEntity({
  name: 'SpendPart',
  tableName: 'spend_parts',
  properties: {
    organizationNumber: whole().primary(),
    firstSeq: large().primary(),
    part: whole().primary(),
    content: bytes(),
  },
});
