/** What becomes of a request when something more is learnt about it, from whatever producer and in whatever order. */

import type { EventKind } from './request-event.ts';

/** Who tells: a gateway's report, or a collected span. */
export type RequestSource = 'report' | 'span';

export type StoredRequestState =
  | { readonly status: 'admitted' | 'settled' }
  | { readonly status: 'success' | 'error'; readonly source: RequestSource };

export type RequestState = { readonly status: 'none' } | StoredRequestState;

export type RequestNews =
  | { readonly status: 'admitted' }
  | { readonly status: 'success' | 'error'; readonly source: RequestSource }
  /** The grace period of an admitted request is over. */
  | { readonly status: 'overdue' };

export type RequestTransition = {
  readonly state: RequestState;
  /** The event to append, null for none. */
  readonly emits: EventKind | null;
  /** How the news are counted; `rejected` is told to the sender as already_completed. */
  readonly result: 'stored' | 'emitted' | 'duplicate' | 'superseded' | 'rejected';
};

/** The first outcome wins across producers, and only a report may correct a report. */
export function nextRequestState(current: RequestState, news: RequestNews): RequestTransition {
  switch (news.status) {
    case 'admitted':
      return admit(current);
    case 'overdue':
      return current.status === 'admitted' ? emit({ status: 'settled' }, 'settled') : keep(current, 'superseded');
    default:
      return complete(current, { status: news.status, source: news.source });
  }
}

type Outcome = Extract<RequestState, { source: RequestSource }>;

function admit(current: RequestState): RequestTransition {
  switch (current.status) {
    case 'none':
      return { state: { status: 'admitted' }, emits: null, result: 'stored' };
    case 'admitted':
      return keep(current, 'duplicate');
    default:
      return keep(current, 'superseded');
  }
}

function complete(current: RequestState, outcome: Outcome): RequestTransition {
  if (!('source' in current)) return emit(outcome, 'completed');
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
