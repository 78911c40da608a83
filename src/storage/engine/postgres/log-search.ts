/** Looks through the log of an organization for events of some types: PostgreSQL has these beside the envelopes. */

import { EVENT_TYPES, type EventMask, includesType } from '../../../domain/event-type.ts';
import type { MatchedEvents } from '../../../domain/webhook-store.ts';
import type { FoundEvent, LogPart, LogSearch, OutboxCount } from '../../endpoints/outboxes.ts';
import { eventTypes } from '../../rows/codes.ts';
import type { Lane, Statement } from './connection.ts';

export function createLogSearch(lane: Lane): LogSearch {
  const cellsOf = ({ organizationNumber, fromSeq, toSeq, mask }: LogPart) => [
    organizationNumber,
    fromSeq,
    toSeq,
    typeCodes(mask),
  ];
  return {
    count: async (part) => (await lane.ask<OutboxCount>(COUNT, cellsOf(part)))[0] ?? { events: 0, oldestAtMs: null },
    findFirst: async (part) => (await lane.ask<FoundEvent>(FIRST, cellsOf(part)))[0] ?? null,
    async matchEvents(organizationNumber, { fromMs, toMs, sinceMs, mask }) {
      const values = [organizationNumber, Math.max(fromMs, sinceMs), toMs, typeCodes(mask)];
      const [row] = await lane.ask<MatchedEvents>(MATCH, values);
      return row ?? { fromSeq: 1, toSeq: 0, matched: 0 };
    },
  };
}

/** The types of a mask as rows of events have them. */
function typeCodes(mask: EventMask): readonly number[] {
  return EVENT_TYPES.filter(({ type }) => includesType(mask, type)).map(({ type }) => eventTypes.code(type));
}

const IN_PART = 'organization_number = $1 AND seq >= $2 AND seq <= $3 AND type = ANY ($4::integer[])';

const COUNT: Statement = {
  name: 'log-count',
  text: `SELECT count(*) AS events, min(created_at) AS "oldestAtMs" FROM events WHERE ${IN_PART}`,
};

const FIRST: Statement = {
  name: 'log-first',
  text: `SELECT seq, created_at AS "createdAtMs" FROM events WHERE ${IN_PART} ORDER BY seq LIMIT 1`,
};

const MATCH: Statement = {
  name: 'log-match',
  text: `SELECT coalesce(min(seq), 1) AS "fromSeq", coalesce(max(seq), 0) AS "toSeq",
      count(*) FILTER (WHERE type = ANY ($4::integer[])) AS matched
    FROM events WHERE organization_number = $1 AND created_at >= $2 AND created_at <= $3`,
};
