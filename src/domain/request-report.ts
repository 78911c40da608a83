/** What gateways report, validated, as rules and storage see it. */

import type { NewEvent } from './event.ts';
import type { GovernanceEventType } from './event-type.ts';
import type { RequestContent, RequestCost, RequestUsage } from './request-content.ts';
import type { RequestTransition } from './request-state.ts';

/** One call of a gateway: committed as a whole or not at all. */
export type RequestReport = {
  readonly kind: 'requests';
  readonly organizationId: string;
  readonly organizationNumber: number;
  readonly receivedAtMs: number;
  /** Told one after the other. */
  readonly records: readonly ReportedRequest[];
};

export type ReportedRequest = {
  readonly projectId: string;
  readonly projectNumber: number;
  readonly gatewayRequestId: string;
  readonly status: 'admitted' | 'success' | 'error';
  readonly content: RequestContent;
  /** As the gateway says. */
  readonly cost: RequestCost | null;
  readonly price: Price;
};

/** What an outcome costs if no gateway says: that depends on what its request was admitted with. */
export type Price = Priced & { readonly cost: RequestCost | null };

/** What a price was made of. */
export type Priced = { readonly model: string | null; readonly usage: RequestUsage | null };

/** What became of one record. */
export type RequestResult = RequestTransition['result'];

export type RequestsReported =
  | { readonly kind: 'reported'; readonly results: readonly RequestResult[] }
  /** Nothing is stored: these records must be priced anew, by what their requests were admitted with. */
  | { readonly kind: 'unpriced'; readonly records: readonly Unpriced[] };

export type Unpriced = Priced & { readonly index: number };

/** Events of a gateway's own keys and budgets: committed as a whole or not at all. */
export type GovernanceReport = {
  readonly kind: 'governance';
  readonly organizationNumber: number;
  readonly events: readonly NewEvent<GovernanceEventType>[];
};

/** Whether the event is emitted, or was before. */
export type GovernanceResult = 'emitted' | 'duplicate';

/** Requests that were admitted so long ago that nobody waits for their outcome any more. */
export type Settlement = {
  readonly kind: 'settlement';
  /** Admitted at or before the instant. */
  readonly admittedByMs: number;
  readonly countMax: number;
};

export type Settled = {
  readonly count: number;
  /** Whether there may be more. */
  readonly hasMore: boolean;
};
