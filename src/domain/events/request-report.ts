/** Validated reports of gateways, for rules and storage. */

import type { NewEvent } from './event.ts';
import type { GovernanceEventType } from './event-type.ts';
import type { RequestContent, RequestCost, RequestUsage } from './request-content.ts';
import type { RequestTransition } from './request-state.ts';

/** One call of a gateway, committed as a whole or not at all. */
export type RequestReport = {
  readonly kind: 'requests';
  readonly organizationId: string;
  readonly organizationNumber: number;
  readonly receivedAtMs: number;
  /** Applied in this order. */
  readonly records: readonly ReportedRequest[];
};

export type ReportedRequest = {
  readonly projectId: string;
  readonly projectNumber: number;
  readonly gatewayRequestId: string;
  readonly status: 'admitted' | 'success' | 'error';
  readonly content: RequestContent;
  /** As reported. */
  readonly cost: RequestCost | null;
  readonly price: Price;
};

/** A computed cost, with the model and usage it is for: the admission may provide both. */
export type Price = Priced & { readonly cost: RequestCost | null };

/** What a price depends on. */
export type Priced = { readonly model: string | null; readonly usage: RequestUsage | null };

/** The result of one record. */
/** `capped`: a resent span changes its request, which has no correction left. */
export type RequestResult = RequestTransition['result'] | 'capped';

export type RequestsReported =
  | { readonly kind: 'reported'; readonly results: readonly RequestResult[] }
  /** Nothing is stored: the caller must price these records by the given model and usage. */
  | { readonly kind: 'unpriced'; readonly records: readonly Unpriced[] };

export type Unpriced = Priced & { readonly index: number };

/** Events of a gateway's keys and budgets, committed as a whole or not at all. */
export type GovernanceReport = {
  readonly kind: 'governance';
  readonly organizationNumber: number;
  readonly events: readonly NewEvent<GovernanceEventType>[];
};

/** `duplicate`: emitted before. */
export type GovernanceResult = 'emitted' | 'duplicate';

/** Selects admitted requests whose outcome is overdue. */
export type Settlement = {
  readonly kind: 'settlement';
  /** Admitted by this instant. */
  readonly admittedByMs: number;
  readonly countMax: number;
};

/** Identifies a request. */
export type RequestIdentity = {
  readonly projectId: string;
  readonly projectNumber: number;
  readonly gatewayRequestId: string;
};

/** Requests whose process still works on them. */
export type RequestRenewal = {
  readonly kind: 'renewal';
  readonly organizationNumber: number;
  readonly receivedAtMs: number;
  readonly requests: readonly RequestIdentity[];
};

export type Settled = {
  readonly count: number;
  /** More may be left. */
  readonly hasMore: boolean;
};
