/** Spans of the server itself. Off, which is the default, nothing of OpenTelemetry is loaded, and every call goes its plain way. */

import { readVersion } from '../cli/version.ts';
import type { RootKeys } from '../domain/secrets.ts';
import type { Spans } from '../otel/spans.ts';
import type { Deps } from './deps.ts';

/** What watches the parts of the server. */
export type Tracing = Spans;

type TracingDeps = Pick<Deps, 'config' | 'clock' | 'log'> & {
  readonly rootKeys: Pick<RootKeys, 'cursorKey'>;
  readonly monotonicMs: () => number;
  /** Counts spans by what became of them. */
  readonly count: (result: 'recorded' | 'exported' | 'failed', spans: number) => void;
};

/** Adds nothing to what a request costs. */
const OFF: Tracing = {
  watchIds: (source) => source,
  watchCalls: (log) => log,
  watchUpstream: (upstream) => upstream,
  watchDeliveries: (meter) => meter,
  within: (_ids, work) => work(),
  noteSpans: () => undefined,
  stop: async () => undefined,
};

export async function startTracing({
  config,
  clock,
  log,
  rootKeys,
  monotonicMs,
  count,
}: TracingDeps): Promise<Tracing> {
  if (config.otel === null) return OFF;
  const { startSpans } = await import('../otel/spans.ts');
  return startSpans({
    protocol: config.otel.protocol,
    version: readVersion(),
    // Every process of the installation has it, so that none takes the spans of another for requests of callers.
    secretKey: rootKeys.cursorKey,
    clock,
    monotonicMs,
    count,
    log,
  });
}
