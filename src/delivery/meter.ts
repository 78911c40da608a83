/** The metrics of deliveries. */

import type { DeadReason } from '../domain/delivery/delivery.ts';

/** Open sockets: those in use by attempts, from the first packet on, and idle ones. */
export type SocketCounts = { readonly inUse: number; readonly idle: number };

export type DeliveryMeter = {
  attempt(ended: {
    readonly kind: 'http' | 'sqs';
    readonly outcome: 'success' | 'retryable' | 'terminal';
    /** Short and from a closed set, without addresses and ids. */
    readonly reason: string;
    readonly seconds: number;
  }): void;
  /** From the commit of the oldest event of a delivery to its first attempt. */
  lag(seconds: number): void;
  dead(reason: DeadReason, deliveries?: number): void;
  disabled(reason: string): void;
  leaseLost(): void;
  staleResult(): void;
  policyRefusal(): void;
  replayEnqueued(events: number): void;
  capped(): void;
  test(delivered: `${boolean}`): void;
};
