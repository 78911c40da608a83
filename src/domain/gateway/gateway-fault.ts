/** Why the gateway itself refuses a request, or ends it. Transports write it in the dialect of the route. */

import type { GatewayRefusal, RefusingBudget } from './refusal.ts';

export type GatewayFault = {
  readonly httpStatus: number;
  readonly code: string;
  readonly message: string;
  /** The member of the request that is wrong; null: none is. */
  readonly param: string | null;
  readonly retryAfterSeconds: number | null;
  readonly details: Readonly<Record<string, string>>;
};

export function gatewayFault(
  httpStatus: number,
  code: string,
  message: string,
  of: Partial<Pick<GatewayFault, 'param' | 'retryAfterSeconds' | 'details'>> = {},
): GatewayFault {
  return { httpStatus, code, message, param: null, retryAfterSeconds: null, details: {}, ...of };
}

export const INVALID_KEY = gatewayFault(
  401,
  'invalid_api_key',
  'The request needs a virtual key of this gateway, as Authorization: Bearer, x-api-key or api-key.',
);

const KEY_STATES = {
  revoked: gatewayFault(403, 'virtual_key_revoked', 'The virtual key was revoked.'),
  disabled: gatewayFault(403, 'virtual_key_disabled', 'The virtual key is disabled.'),
  expired: gatewayFault(403, 'virtual_key_expired', 'The virtual key has expired.'),
  principal_inactive: gatewayFault(
    403,
    'virtual_key_disabled',
    'The virtual key is for a member who is disabled or was removed.',
  ),
} as const;

export function keyFault(reason: keyof typeof KEY_STATES): GatewayFault {
  return KEY_STATES[reason];
}

export const UNAVAILABLE_FAULT = gatewayFault(
  503,
  'unavailable',
  'The request could not be recorded, so it is not served; try again.',
  { retryAfterSeconds: 1 },
);

export const INTERNAL_FAULT = gatewayFault(500, 'internal_error', 'The gateway failed to serve the request.');

const MS_PER_SECOND = 1_000;

/** `waitMs`: until a provider is tried again. */
export function circuitOpen(waitMs: number): GatewayFault {
  return gatewayFault(
    503,
    'circuit_open',
    'All providers of the model have failed repeatedly, and are tried again within a minute.',
    { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / MS_PER_SECOND)) },
  );
}

const BUDGET_REASONS = {
  spent: 'is spent',
  estimate_exceeds_budget: 'has less left than the request may cost',
  price_unknown: 'refuses models without a known price',
} as const;

const DIMENSIONS = { rpm: 'requests a minute', tpm: 'tokens a minute', rpd: 'requests a day' } as const;

export function faultOf(refusal: GatewayRefusal): GatewayFault {
  switch (refusal.code) {
    case 'budget_exceeded':
      return gatewayFault(
        refusal.httpStatus,
        refusal.code,
        `A budget (${nameOf(refusal.budget)}) ${BUDGET_REASONS[refusal.reason]}.`,
        {
          details: { ...detailsOf(refusal.budget), reason: refusal.reason },
        },
      );
    case 'budget_reserved':
      return gatewayFault(
        refusal.httpStatus,
        refusal.code,
        `What is left of a budget (${nameOf(refusal.budget)}) is reserved by requests in progress; try again.`,
        { retryAfterSeconds: refusal.retryAfterSeconds, details: detailsOf(refusal.budget) },
      );
    case 'rate_limited':
      return gatewayFault(
        refusal.httpStatus,
        refusal.code,
        `The virtual key has used its ${DIMENSIONS[refusal.dimension]}.`,
        {
          retryAfterSeconds: refusal.retryAfterSeconds,
          details: { dimension: refusal.dimension },
        },
      );
    case 'unbounded_request':
      return gatewayFault(
        refusal.httpStatus,
        refusal.code,
        `A budget that reserves the worst case needs a bound on what the request may cost: ${refusal.param} has none.`,
        { param: refusal.param },
      );
    case 'unavailable':
      return { ...UNAVAILABLE_FAULT, retryAfterSeconds: refusal.retryAfterSeconds };
  }
}

function nameOf({ id, scope, window }: RefusingBudget): string {
  return `${id}, ${scope.kind}, ${window}`;
}

function detailsOf({ id, scope, window }: RefusingBudget): Readonly<Record<string, string>> {
  return { budget_id: id, scope: scope.kind, window };
}
