/** One request to the data routes, as a transport passes it on. */

import type { HoldMemory } from '../domain/gateway/dialects/held-bytes.ts';
import type { GatewayFault } from '../domain/gateway/gateway-fault.ts';
import type { Account } from '../domain/gateway/model-request.ts';
import type { DataRoute } from './data-routes.ts';
import type { CallerResponse } from './relay.ts';

export type ProxyCall = {
  readonly route: DataRoute;
  /** Of its target, without the question mark; passed on. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly header: (name: string) => string | undefined;
  readonly response: CallerResponse;
  /** Counts the request for its key. Returns why there is no room for it. */
  readonly identify: (keyId: string) => GatewayFault | null;
  /** Counts memory for its answer. */
  readonly holdMemory: HoldMemory;
  /** The body, or why it cannot be read. */
  readonly readBody: () => Promise<Buffer | GatewayFault>;
};

/** How a request ended, for the log of calls. */
export type Served = {
  readonly status: number;
  /** Null: not refused by the gateway itself. */
  readonly fault: GatewayFault | null;
  readonly isKnownKey: boolean;
  /** Of a request that was sent to a provider, or answered from the cache. */
  readonly account?: Account;
};
