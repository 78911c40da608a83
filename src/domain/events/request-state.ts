/** The state machine of a request. Its signals come from any producer, in any order. */

import type { EventKind } from './request-event.ts';

/** A gateway's report, or a collected span. */
export type RequestSource = 'report' | 'span';

/** A resent span may change its own outcome. */
type SignalSource = RequestSource | 'resent_span';

export type StoredRequestState =
  | { readonly status: 'admitted' | 'settled' }
  | { readonly status: 'success' | 'error'; readonly source: RequestSource };

export type RequestState = { readonly status: 'none' } | StoredRequestState;

export type RequestSignal =
  | { readonly status: 'admitted' }
  | { readonly status: 'success' | 'error'; readonly source: SignalSource }
  /** The grace period of an admitted request is over. */
  | { readonly status: 'overdue' };

export type RequestTransition = {
  readonly state: RequestState;
  /** The event to append, null for none. */
  readonly emits: EventKind | null;
  /** Metrics count it; the sender gets `rejected` as already_completed. */
  readonly result: 'stored' | 'emitted' | 'duplicate' | 'superseded' | 'rejected';
};

/**
 * The first outcome wins across producers. A report may correct only a report, and a resent span only a span: the
 * caller checks whether the span changes anything.
 */
export function nextRequestState(current: RequestState, signal: RequestSignal): RequestTransition {
  switch (signal.status) {
    case 'admitted':
      return admit(current);
    case 'overdue':
      return current.status === 'admitted' ? emit({ status: 'settled' }, 'settled') : keep(current, 'superseded');
    default:
      return complete(current, signal);
  }
}

type Outcome = Extract<RequestState, { source: RequestSource }>;

function admit(current: RequestState): RequestTransition {
  if (current.status === 'none') return keep({ status: 'admitted' }, 'stored');
  return keep(current, current.status === 'admitted' ? 'duplicate' : 'superseded');
}

type OutcomeSignal = Extract<RequestSignal, { source: SignalSource }>;

function complete(current: RequestState, { status, source }: OutcomeSignal): RequestTransition {
  const outcome: Outcome = { status, source: source === 'resent_span' ? 'span' : source };
  if (!('source' in current)) return emit(outcome, 'completed');
  if (source === 'resent_span' && current.source === 'span') return emit(outcome, 'correction');
  if (current.status === outcome.status) return keep(current, 'duplicate');
  if (current.source !== 'report' || outcome.source !== 'report') return keep(current, 'superseded');
  return outcome.status === 'success' ? emit(outcome, 'correction') : keep(current, 'rejected');
}

function keep(state: RequestState, result: RequestTransition['result']): RequestTransition {
  return { state, emits: null, result };
}

function emit(state: RequestState, event: EventKind): RequestTransition {
  return { state, emits: event, result: 'emitted' };
}
