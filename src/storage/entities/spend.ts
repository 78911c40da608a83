/**
 * Blocks of the log for sums of spend: a run of events with what sums need of each. A block is written once, by one
 * process, in the order of the log, and removed whole.
 */

import { defineEntity } from '@mikro-orm/core';
import { bigInteger, bytes, instant, integer, table } from './kinds.ts';

/** How far the log of an organization is in blocks, and the lease of the process that writes the next one. */
export const SpendHead = table('SpendHead', 'spend_heads', {
  organizationNumber: integer().primary().autoincrement(false),
  seq: bigInteger(),
  leasedUntilMs: instant('leased_until'),
});

export const SpendBlock = defineEntity({
  name: 'SpendBlock',
  tableName: 'spend_blocks',
  properties: {
    organizationNumber: integer().primary(),
    firstSeq: bigInteger().primary(),
    lastSeq: bigInteger(),
    // The instants of its requests, and when its last event was created.
    occurredFromMs: instant('occurred_from'),
    occurredToMs: instant('occurred_to'),
    createdToMs: instant('created_to'),
    // A bit for each event that a later one corrects; empty if there are none.
    superseded: bytes(),
  },
  indexes: [{ name: 'spend_blocks_by_time', properties: 'createdToMs' }],
});

/** A column of a block: the numbers to sum, or a value to group by. */
export const SpendPart = table('SpendPart', 'spend_parts', {
  organizationNumber: integer().primary(),
  firstSeq: bigInteger().primary(),
  part: integer().primary(),
  content: bytes(),
});
