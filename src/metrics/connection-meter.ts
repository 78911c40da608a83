/** Counts connections that were cut or refused for what their clients did. */

import type { Registry } from './registry.ts';

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
