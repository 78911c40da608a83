/** Counts requests and their events. */

import { EVENT_TYPES } from '../domain/events/event-type.ts';
import type { RequestMeter } from '../domain/events/request-meter.ts';
import type { Registry } from './registry.ts';

const APPEND_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

export function createRequestMeter(registry: Registry): RequestMeter {
  const counters = {
    appended: registry.countBy({
      name: 'spandrel_events_appended_total',
      help: 'Events that came into being, by type.',
      label: 'type',
      values: EVENT_TYPES.map(({ type }) => type),
    }),
    reported: registry.counter({
      name: 'spandrel_requests_total',
      help: 'What was reported of requests, by who reported it and what came of it.',
      labels: ['source', 'status', 'result'],
    }),
    capped: registry.count({
      name: 'spandrel_corrections_capped_total',
      help: 'Spans sent again with a change that made no event, because their request has its last correction.',
    }),
    settled: registry.count({
      name: 'spandrel_settlement_total',
      help: 'Admitted requests that were settled because no outcome arrived in time.',
    }),
    retentionErased: registry.count({
      name: 'spandrel_traces_retention_erased_total',
      help: 'Traces that retention erased.',
    }),
    retentionDeleted: registry.count({
      name: 'spandrel_events_retention_deleted_total',
      help: 'Events that retention removed one by one; months that PostgreSQL drops whole are not counted.',
    }),
    logRecordsDropped: registry.countBy({
      name: 'spandrel_log_records_dropped_total',
      help: 'Log records that were kept for a span which has not come: the oldest of a project without room, and those of a day ago.',
      label: 'reason',
      values: ['room', 'age'],
    }),
  };
  const took = registry.histogram({
    name: 'spandrel_events_append_seconds',
    help: 'From asking for an append until it is on disk, waiting for its turn included.',
    bounds: APPEND_BOUNDS,
  });
  return {
    ...counters,
    reported({ source, status, result }) {
      if (result === 'capped') counters.capped(1);
      counters.reported({ source, status, result: result === 'capped' ? 'duplicate' : result });
    },
    observeAppend: (seconds) => took({}, seconds),
  };
}
