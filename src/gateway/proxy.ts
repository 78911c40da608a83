/** The data routes of the gateway: checks a request and its key, and serves it. */

import type { Clock, RandomBytes } from '../domain/clock.ts';
import { createGatewayRequestId } from '../domain/events/request-event.ts';
import { Fault } from '../domain/fault.ts';
import { readBody, readLargeBody } from '../domain/gateway/dialects/read-body.ts';
import type { RecentOutputs } from '../domain/gateway/estimate.ts';
import {
  faultOf,
  type GatewayFault,
  gatewayFault,
  INTERNAL_FAULT,
  INVALID_KEY,
  keyFault,
  UNAVAILABLE_FAULT,
} from '../domain/gateway/gateway-fault.ts';
import { type ChoiceRefusal, chooseProviders } from '../domain/gateway/provider-choice.ts';
import type { ProxiedRequest } from '../domain/gateway/proxied-request.ts';
import type { RateLimit, RateLimiter } from '../domain/gateway/rate-limits.ts';
import { expectedTokens, needsEndUser, spenderOf } from '../domain/gateway/request-budgets.ts';
import type { TriedPrompt } from '../domain/gateway/tried-prompt.ts';
import type { KeyStore } from '../domain/management/management-port.ts';
import type { PriceResolver } from '../domain/pricing/prices.ts';
import type { RunCooperatively } from '../domain/steps.ts';
import { checkState, createKeyCheck, readVirtualKey, type VerifiedKey } from '../domain/virtual-keys/presented-key.ts';
import type { PresentedKey, VirtualKeyConfig } from '../domain/virtual-keys/virtual-key.ts';
import { isLargeJson } from '../json/json-text.ts';
import { type AnswerHeaders, answerHeaders, sendAllowed, sendFault } from './answering.ts';
import type { BodyRoute, DataRoute } from './data-routes.ts';
import type { Dispatch } from './dispatch.ts';
import type { Prepared } from './prepared.ts';
import type { ProxyCall, Served } from './proxy-call.ts';
import { endUserIn, metadataIn, placeOf, threadIn } from './request-place.ts';

type ProxyDeps = {
  readonly keys: Pick<KeyStore, 'findVirtualKey' | 'findGatewaySetup'>;
  readonly pepper: Buffer;
  readonly prefix: string;
  readonly prices: PriceResolver;
  readonly limiter: RateLimiter;
  readonly recent: RecentOutputs;
  readonly dispatch: Dispatch;
  readonly runCooperatively: RunCooperatively;
  /** Serves the routes by which the holder of a key learns its limits and models. */
  readonly tell: (call: ProxyCall, presented: PresentedKey) => Promise<Served>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** Notes that a key is used. */
  readonly onUse: (keyId: string, nowMs: number) => void;
  readonly onError: (error: unknown, message: string) => void;
};

const BACKGROUND = gatewayFault(
  400,
  'background_not_supported',
  'background must be false: responses that go on without a connection are not served.',
  { param: 'background' },
);
const END_USER_REQUIRED = gatewayFault(
  400,
  'end_user_required',
  'A budget for each end user counts the request: name the end user in user, metadata.user_id or x-langwatch-end-user-id.',
);

export type Proxy = ReturnType<typeof createProxy>;

export function createProxy(deps: ProxyDeps) {
  const checkKey = createKeyCheck(deps);

  /** Everything that is decided before a budget or a provider is asked. */
  async function prepare(call: ProxyCall, route: BodyRoute, request: ProxiedRequest): Promise<Prepared | GatewayFault> {
    const { key, organization, project } = request.presented;
    const bytes = await call.readBody();
    if ('httpStatus' in bytes) return bytes;
    const body = isLargeJson(bytes)
      ? await deps.runCooperatively(readLargeBody(route.kind, bytes))
      : readBody(route.kind, bytes);
    if ('code' in body) return gatewayFault(400, body.code, body.message, { param: body.param });
    if (body.isBackground) return BACKGROUND;
    const sent = metadataIn(call.header);
    if ('fault' in sent) return sent.fault;
    const setup = await deps.keys.findGatewaySetup(organization.id);
    const asked = { config: key.config, providers: setup.providers, projectId: project.id, dialect: route.dialect };
    const candidates = chooseProviders({ ...asked, model: body.model });
    if ('code' in candidates) return choiceFault(candidates);
    const endUserId = request.endUserId ?? body.endUserId;
    const known = { ...request, body, endUserId, metadata: sent.metadata };
    // A request that counts nowhere needs nobody to count for.
    const isCounted = route.kind !== 'count_tokens';
    const providerIds = candidates.map(({ provider }) => provider.id);
    if (isCounted && endUserId === null && needsEndUser(setup, spenderOf(known), providerIds)) return END_USER_REQUIRED;
    const prices = await deps.prices.of(organization, () => candidates.map(({ model }) => model));
    const medianOutputTokens = deps.recent.medianOf(key.id);
    const rated = {
      key: { organizationNumber: organization.number, virtualKeyId: key.id },
      limits: limitsOf(key.config),
      tokens: expectedTokens(body, medianOutputTokens),
    };
    const isLimited = isCounted && rated.limits.length > 0;
    const refusal = isLimited ? await deps.limiter.pass(rated) : null;
    if (refusal !== null) return faultOf(refusal);
    return { call, route, bytes, request: known, body, setup, candidates, prices, medianOutputTokens, rated };
  }

  async function serveKnown(call: ProxyCall, { route, verified, tried }: Known): Promise<Served> {
    const request: ProxiedRequest = {
      gatewayRequestId: createGatewayRequestId(deps.random),
      presented: verified,
      route: route.kind,
      startedAtMs: deps.clock(),
      place: placeOf(call.header, deps.random),
      body: null,
      endUserId: endUserIn(call.header),
      threadId: threadIn(call.header),
      metadata: {},
      tried,
    };
    const isRefused = verified.kind === 'refused';
    if (!isRefused) deps.onUse(verified.key.id, request.startedAtMs);
    const prepared = isRefused ? keyFault(verified.reason) : await prepare(call, route, request);
    if (!('httpStatus' in prepared)) return await deps.dispatch.serve(prepared);
    // A refusal of a known key is an outcome that costs nothing.
    if (route.kind !== 'count_tokens') await deps.dispatch.recordRefusal(request, prepared);
    sendFault(call.response, { dialect: route.dialect, fault: prepared }, answerHeaders(request));
    return { status: prepared.httpStatus, fault: prepared, isKnownKey: true };
  }

  async function serve(call: ProxyCall, route: Exclude<DataRoute, { kind: 'unserved' | 'options' }>): Promise<Served> {
    const secret = readVirtualKey(call.header, deps.prefix);
    const verified = secret === null ? null : await checkKey(secret, deps.clock());
    if (verified === null || verified.kind === 'unknown') return refuse(call, INVALID_KEY);
    // A request that finds no room leaves no record: that would take more of what is short.
    const busy = call.identify(verified.key.id);
    if (busy !== null) return refuse(call, busy);
    if ('path' in route) return await serveKnown(call, { route, verified, tried: null });
    return verified.kind === 'refused' ? refuse(call, keyFault(verified.reason)) : await deps.tell(call, verified);
  }

  /** Never rejects. */
  async function answering(call: ProxyCall, serving: () => Promise<Served>): Promise<Served> {
    try {
      return await serving();
    } catch (error) {
      const isAway = error instanceof Fault && error.code === 'unavailable';
      if (!isAway) deps.onError(error, 'a request through the gateway failed');
      const served = refuse(call, isAway ? UNAVAILABLE_FAULT : INTERNAL_FAULT);
      // Of an answer that has begun nobody can tell that it ends here.
      if (!call.response.writableEnded) call.response.destroy();
      return served;
    }
  }

  return {
    /** Serves a request of this server for somebody who may use the key. Never rejects. */
    serveOwn(call: ProxyCall, { route, presented, tried }: OwnRequest): Promise<Served> {
      const verified = checkState(presented, deps.clock());
      const busy = call.identify(presented.key.id);
      if (busy !== null) return Promise.resolve(refuse(call, busy));
      return answering(call, () => serveKnown(call, { route, verified, tried }));
    },
    /** Never rejects. */
    async serve(call: ProxyCall): Promise<Served> {
      const { route } = call;
      if (route.kind === 'options') {
        sendAllowed(call.response, route.allow);
        return { status: 204, fault: null, isKnownKey: false };
      }
      if (route.kind === 'unserved') {
        const { httpStatus, message, allow } = route;
        return refuse(call, gatewayFault(httpStatus, 'unsupported_route', message), allow === null ? {} : { allow });
      }
      return await answering(call, () => serve(call, route));
    },
  };
}

type Known = {
  readonly route: BodyRoute;
  readonly verified: Exclude<VerifiedKey, { kind: 'unknown' }>;
  readonly tried: TriedPrompt | null;
};

export type OwnRequest = {
  readonly route: BodyRoute;
  readonly presented: PresentedKey;
  readonly tried: TriedPrompt;
};

function refuse({ response, route }: ProxyCall, fault: GatewayFault, headers: AnswerHeaders = {}): Served {
  sendFault(response, { dialect: route.dialect, fault }, headers);
  return { status: fault.httpStatus, fault, isKnownKey: false };
}

function choiceFault({ code, httpStatus, message }: ChoiceRefusal): GatewayFault {
  return gatewayFault(httpStatus, code, message, { param: 'model' });
}

function limitsOf({ rateLimits }: VirtualKeyConfig): readonly RateLimit[] {
  return (['rpm', 'tpm', 'rpd'] as const).flatMap((dimension) => {
    const limit = rateLimits[dimension];
    return limit === null ? [] : { dimension, limit };
  });
}
