/** Counts requests as they end, refused credentials, and connections. No text of a caller becomes a label. */

import type { Registry } from './registry.ts';

export type CallMeter = {
  readonly ended: (transport: string, route: string, status: number) => void;
  readonly credentialRefused: (reason: string) => void;
};

/** About a hundred routes and rpcs, each with a few statuses. */
const SERIES_MAX = 2_000;

const REASONS = [
  'missing_credentials',
  'invalid_credentials',
  'credential_class_mismatch',
  'project_scope_required',
  'unknown_project',
];

export function createCallMeter(registry: Registry): CallMeter {
  const ended = registry.counter({
    name: 'spandrel_calls_total',
    help: 'Requests that were answered, by route or rpc; the status is that of HTTP, also for gRPC.',
    labels: ['transport', 'route', 'status'],
    seriesMax: SERIES_MAX,
  });
  const refused = registry.counter({
    name: 'spandrel_credentials_refused_total',
    help: 'Requests whose credential was missing or not accepted.',
    labels: ['reason'],
  });
  for (const reason of REASONS) refused({ reason }, 0);
  return {
    ended: (transport, route, status) => ended({ transport, route, status: String(status) }),
    credentialRefused: (reason) => refused({ reason }),
  };
}

export type ConnectionMeter = {
  readonly sessionCut: (reason: 'headers' | 'resets') => void;
  readonly connectionRefused: () => void;
};

export function createConnectionMeter(registry: Registry): ConnectionMeter {
  const cut = registry.counter({
    name: 'spandrel_sessions_cut_total',
    help: 'HTTP/2 sessions cut for header lists that were too large again and again, or for streams reset as fast as opened.',
    labels: ['reason'],
  });
  for (const reason of ['headers', 'resets']) cut({ reason }, 0);
  const refused = registry.counter({
    name: 'spandrel_connections_refused_total',
    help: 'Connections refused because a session of the same address had been cut shortly before.',
  });
  return { sessionCut: (reason) => cut({ reason }), connectionRefused: () => refused({}) };
}

export type OtlpDiscarded = (signal: 'logs' | 'metrics', records: number) => void;

export function createOtlpMeter(registry: Registry): OtlpDiscarded {
  const discarded = registry.counter({
    name: 'spandrel_otlp_discarded_total',
    help: 'Records of OpenTelemetry that were taken and not kept, by signal.',
    labels: ['signal'],
  });
  for (const signal of ['logs', 'metrics']) discarded({ signal }, 0);
  return (signal, records) => discarded({ signal }, records);
}
