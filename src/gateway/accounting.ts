/** Accounts for requests: their outcomes with cost and span, and what limits and estimates learn from them. */

import { NO_PARTS } from '../domain/gateway/dialects/dialect.ts';
import type { RecentOutputs } from '../domain/gateway/estimate.ts';
import type { GatewayFault } from '../domain/gateway/gateway-fault.ts';
import type { Account } from '../domain/gateway/model-request.ts';
import { type Ending, type ProxiedRequest, reportOf, spanOf, usageOf } from '../domain/gateway/proxied-request.ts';
import type { RatedRequest, RateLimiter } from '../domain/gateway/rate-limits.ts';
import type { PriceResolver, Prices } from '../domain/pricing/prices.ts';
import type { TraceAppend } from '../domain/traces/trace.ts';
import type { Traces } from '../domain/traces/traces.ts';
import type { Outcomes } from './outcomes.ts';

type AccountingDeps = {
  readonly outcomes: Outcomes;
  readonly traces: Pick<Traces, 'prepare'>;
  readonly prices: PriceResolver;
  readonly limiter: RateLimiter;
  readonly recent: RecentOutputs;
  readonly clock: () => number;
  readonly onError: (error: unknown, message: string) => void;
};

/** A request that was sent, with what its account needs. */
export type Accounted = {
  readonly request: ProxiedRequest;
  readonly prices: Prices;
  readonly rated: RatedRequest;
};

const NOTHING_READ = {
  usage: null,
  parts: NO_PARTS,
  serviceTier: null,
  isCachedInInput: false,
  outputBytes: 0,
  isComplete: false,
  hasOutput: false,
  output: null,
  others: [],
  isWhole: false,
  model: null,
  error: null,
} as const;

const NO_RECORD = { cost: null, price: { usage: null, cost: null } } as const;

export type Accounting = ReturnType<typeof createAccounting>;

export function createAccounting(deps: AccountingDeps) {
  const { outcomes, limiter, recent, clock } = deps;
  const refusals = limitRefusals(clock);

  /** Null: the request has an outcome without a span. */
  async function spanAppend(request: ProxiedRequest, ending: Ending): Promise<TraceAppend | null> {
    const { project } = request.presented;
    try {
      return await deps.traces.prepare(spanOf(request, ending), { project, nowMs: Math.round(ending.endedAtMs) });
    } catch (error) {
      deps.onError(error, 'the span of a request through the gateway could not be made');
      return null;
    }
  }

  function learn({ request, rated }: Accounted, ending: Ending): void {
    const counted = usageOf(request, ending);
    const { inputTokens = 0, outputTokens = 0 } = counted?.usage ?? {};
    limiter.correct(rated, inputTokens + outputTokens);
    if (ending.error !== null || counted === null || ending.cache === 'hit') return;
    // They have no output, which says nothing of other requests.
    if (request.route === 'embeddings') return;
    recent.note(request.presented.key.id, Math.ceil(outputTokens / Math.max(1, request.body?.size.choices ?? 1)));
  }

  return {
    /** The request is admitted. */
    begin({ presented, gatewayRequestId }: ProxiedRequest): void {
      const { project, organization } = presented;
      outcomes.begin({
        organizationNumber: organization.number,
        projectId: project.id,
        projectNumber: project.number,
        gatewayRequestId,
      });
    },
    /** Resolves once the outcome is stored, or waits for the store. */
    async conclude(accounted: Accounted, ending: Ending): Promise<Account> {
      const { request, prices } = accounted;
      learn(accounted, ending);
      const trace = await spanAppend(request, ending);
      const report = reportOf(request, ending, prices);
      await outcomes.conclude({ kind: 'outcome', report, trace });
      const [{ cost, price } = NO_RECORD] = report.records;
      const { target } = ending;
      return {
        ...{ usage: price.usage, cost: cost ?? price.cost, traceId: trace && request.place.traceId },
        target: target && { provider: target.provider.name, model: target.model },
      };
    },
    /** The request ends by a defect of this server, and settles. */
    abandon({ presented, gatewayRequestId }: ProxiedRequest): void {
      const { id: projectId, number: projectNumber } = presented.project;
      outcomes.forget({ projectId, projectNumber, gatewayRequestId });
    },
    /** The request used no tokens of the limits that it passed. */
    giveBack: (rated: RatedRequest) => limiter.correct(rated, 0),
    /** An outcome without cost and span; none for a key that is refused all the time. */
    async refuse(request: ProxiedRequest, { code, httpStatus, message }: GatewayFault): Promise<void> {
      if (!refusals.mayRecord(request.presented.key.id)) return;
      const ending: Ending = {
        endedAtMs: clock(),
        firstTokenAtMs: null,
        facts: NOTHING_READ,
        error: { class: code, httpStatus },
        errorMessage: message,
        target: null,
        fallbackCount: 0,
        cache: 'bypass',
        isDispatched: false,
        isAnswered: false,
      };
      await outcomes.noteRefusal({
        kind: 'outcome',
        report: reportOf(request, ending, deps.prices.listed),
        trace: null,
      });
    },
    nothingRead: NOTHING_READ,
  };
}

/** Records of refusals in a second, of one key and of all: a caller that is refused costs nobody anything but these. */
const KEY_REFUSALS_MAX = 100;
const REFUSALS_MAX = 1_000;
const MS_PER_SECOND = 1_000;

function limitRefusals(clock: () => number) {
  let second = 0;
  let all = 0;
  const byKey = new Map<string, number>();
  return {
    mayRecord(keyId: string): boolean {
      const now = Math.floor(clock() / MS_PER_SECOND);
      if (now !== second) byKey.clear();
      if (now !== second) all = 0;
      second = now;
      const recorded = byKey.get(keyId) ?? 0;
      if (recorded >= KEY_REFUSALS_MAX || all >= REFUSALS_MAX) return false;
      all += 1;
      byKey.set(keyId, recorded + 1);
      return true;
    },
  };
}
