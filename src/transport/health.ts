/** grpc.health.v1: whether the process, and each of its services, accepts calls. */

import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceImpl } from '@connectrpc/connect';
import { type Health, HealthCheckResponse_ServingStatus as Status } from '../../gen/grpc/health/v1/health_pb.js';
import { Fault } from '../domain/fault.ts';
import type { Method } from '../rpc/method.ts';
import { shareRead } from './shared-read.ts';

type HealthDeps = {
  readonly methods: readonly Method[];
  /** False while the process drains. */
  readonly accepting: () => boolean;
  /** Rejects while the store cannot read and write. */
  readonly ready: () => Promise<void>;
  readonly monotonicMs: () => number;
};

const POLL_INTERVAL_MS = 500;
/** How long a result of `ready` is reused. */
const FRESH_MS = 250;
/** After this time the store counts as not ready: checks of health give up after a second or more. */
const TIMEOUT_MS = 900;

/** Knows each service of `methods`, and the whole process by the empty name. */
export function createHealth({ methods, accepting, ready, monotonicMs }: HealthDeps): ServiceImpl<typeof Health> {
  const known = new Set(['', ...methods.map(({ desc }) => desc.parent.typeName)]);
  const readiness = shareReadiness(ready, monotonicMs);
  const statusOf = async (service: string) => {
    if (!known.has(service)) return Status.SERVICE_UNKNOWN;
    return accepting() && (await readiness()).isReady ? Status.SERVING : Status.NOT_SERVING;
  };
  return {
    async check({ service }) {
      const status = await statusOf(service);
      if (status !== Status.SERVICE_UNKNOWN) return { status };
      throw new Fault('route_not_found', 'There is no such service.', { kind: 'not_found' });
    },
    async *watch({ service }, { signal }) {
      for (let sent: Status | null = null; !signal.aborted; await pause(signal)) {
        const status = await statusOf(service);
        if (status !== sent) yield { status };
        sent = status;
        // An open watch would delay the drain.
        if (!accepting()) return;
      }
    },
  };
}

async function pause(signal: AbortSignal): Promise<void> {
  await delay(POLL_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => {});
}

/** `detail` says what to do about a store that is not ready. */
export type Readiness = { readonly isReady: boolean; readonly detail?: string };

/** Callers need no credential, so their number does not change how often the store is checked. */
export function shareReadiness(ready: () => Promise<void>, monotonicMs: () => number): () => Promise<Readiness> {
  const check = () =>
    ready().then<Readiness, Readiness>(
      () => ({ isReady: true }),
      (error) => ({ isReady: false, ...(error instanceof Fault ? { detail: error.message } : {}) }),
    );
  const read = shareRead(check, monotonicMs, { freshMs: FRESH_MS, timeoutMs: TIMEOUT_MS });
  // A store that takes too long counts as not ready.
  return () => read().catch(() => ({ isReady: false }));
}
