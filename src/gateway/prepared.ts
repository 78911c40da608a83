/** A request that passed all checks but its budgets and guardrails. */

import type { ReadBody } from '../domain/gateway/dialects/dialect.ts';
import type { GatewaySetup } from '../domain/gateway/gateway-setup.ts';
import type { ProxiedRequest } from '../domain/gateway/proxied-request.ts';
import type { RatedRequest } from '../domain/gateway/rate-limits.ts';
import type { Prices } from '../domain/pricing/prices.ts';
import type { Candidate } from './attempts.ts';
import type { BodyRoute } from './data-routes.ts';
import type { ProxyCall } from './proxy-call.ts';

export type Prepared = {
  readonly call: ProxyCall;
  readonly route: BodyRoute;
  readonly bytes: Buffer;
  readonly request: ProxiedRequest;
  readonly body: ReadBody;
  readonly setup: GatewaySetup;
  /** At least one. */
  readonly candidates: readonly Candidate[];
  readonly prices: Prices;
  readonly medianOutputTokens: number | null;
  readonly rated: RatedRequest;
};
