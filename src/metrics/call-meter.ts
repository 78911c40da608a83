/** Counts requests as they are answered, and credentials that are refused. Labels are ours: no text of a caller is one. */

import type { Registry } from './registry.ts';

export type CallMeter = {
  readonly ended: (transport: string, route: string, status: number) => void;
  readonly credentialRefused: (reason: string) => void;
};

/** There are about a hundred routes and rpcs, and each ends in a few ways. */
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
