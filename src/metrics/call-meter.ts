/** Counts requests as they end, refused credentials, and connections. No text of a caller becomes a label. */

import { DROPPED_FIELDS, type LossMeter } from '../domain/traces/collector/losses.ts';
import type { Registry } from './registry.ts';

/** About a hundred routes and rpcs, each with a few statuses. */
const SERIES_MAX = 2_000;
const ROUTES_MAX = 600;
const CALL_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const REASONS = [
  'missing_credentials',
  'invalid_credentials',
  'credential_class_mismatch',
  'project_scope_required',
  'unknown_project',
];

export function createCallMeter(registry: Registry) {
  const ended = registry.counter({
    name: 'spandrel_calls_total',
    help: 'Requests that were answered, by route or rpc; the status is that of HTTP, also for gRPC.',
    labels: ['transport', 'route', 'status'],
    seriesMax: SERIES_MAX,
  });
  const took = registry.histogram({
    name: 'spandrel_call_seconds',
    help: 'How long requests took, by route or rpc; a stream takes as long as it is read.',
    labels: ['transport', 'route'],
    bounds: CALL_BOUNDS,
    seriesMax: ROUTES_MAX,
  });
  return {
    ended(transport: string, route: string, status: number, seconds: number) {
      ended({ transport, route, status: String(status) });
      took({ transport, route }, seconds);
    },
    refused: registry.counter({
      name: 'spandrel_refusals_total',
      help: 'Requests that were refused, by the code of the failure.',
      labels: ['code'],
    }),
    credentialRefused: registry.countBy({
      name: 'spandrel_credentials_refused_total',
      help: 'Requests whose credential was missing or not accepted.',
      label: 'reason',
      values: REASONS,
    }),
  };
}

export function createConnectionMeter(registry: Registry) {
  return {
    sessionCut: registry.countBy({
      name: 'spandrel_sessions_cut_total',
      help: 'HTTP/2 sessions cut for header lists that were too large again and again, or for streams reset as fast as opened.',
      label: 'reason',
      values: ['headers', 'resets'],
    }),
    connectionRefused: registry.count({
      name: 'spandrel_connections_refused_total',
      help: 'Connections refused because a session of the same address had been cut shortly before.',
    }),
  };
}

export function createOtlpMeter(registry: Registry) {
  return registry.countBy({
    name: 'spandrel_otlp_discarded_total',
    help: 'Records of OpenTelemetry that were taken and not kept, by signal.',
    label: 'signal',
    values: ['logs', 'metrics'],
  });
}

export function createLossMeter(registry: Registry): LossMeter {
  return {
    fieldsDropped: registry.countBy({
      name: 'spandrel_ingest_fields_dropped_total',
      help: 'Fields of spans that were left empty because their values were wrong, by field.',
      label: 'field',
      values: DROPPED_FIELDS,
    }),
    spansRefused: registry.count({
      name: 'spandrel_ingest_spans_refused_total',
      help: 'Spans that were not stored, for their ids, type, times or size.',
    }),
  };
}
