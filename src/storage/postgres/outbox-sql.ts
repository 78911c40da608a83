/** The outbox in SQL: what lies in the log behind the position of an endpoint and is of its concern. */

import { EVENT_TYPES } from '../../domain/event-type.ts';
import { eventTypes } from '../rows/codes.ts';

const BITS = EVENT_TYPES.map(({ type }, index) => `(${1 << index}, ${eventTypes.code(type)})`).join(', ');
const SEQ_MAX = '9223372036854775807';

/**
 * To be joined laterally: the subscriptions of an endpoint that are for anything, each with the part of the log in which
 * it is in force. `endpoint` is a row with organization_number, position and subscriptions.
 */
export function partsOf(endpoint: string): string {
  return `(
    SELECT ${endpoint}.organization_number, greatest(from_seq, ${endpoint}.position + 1) AS from_seq, next_seq,
      ARRAY(SELECT code FROM (VALUES ${BITS}) AS types (bit, code) WHERE bit & mask <> 0) AS type_codes
    FROM (
      SELECT (part ->> 'fromSeq')::bigint AS from_seq, (part ->> 'mask')::integer AS mask,
        coalesce(lead((part ->> 'fromSeq')::bigint) OVER (ORDER BY (part ->> 'fromSeq')::bigint), ${SEQ_MAX}) AS next_seq
      FROM jsonb_array_elements(${endpoint}.subscriptions::jsonb) AS part
    ) AS all_parts
    WHERE mask <> 0 AND next_seq > ${endpoint}.position + 1
  )`;
}

/** Which events of such a part are of the endpoint's concern; for a question of its own about each part. */
export function eventsOf(part: string): string {
  return `events.organization_number = ${part}.organization_number AND events.seq >= ${part}.from_seq
    AND events.seq < ${part}.next_seq AND events.type = ANY (${part}.type_codes)`;
}
