/** What becomes of a request when something more is learnt about it, from whatever producer and in whatever order. */

import type { EventKind } from './request-event.ts';

/** Who tells: a gateway's report, or a collected span. */
export type RequestSource = 'report' | 'span';

/** A span that told the outcome before may tell it anew. */
export type NewsSource = RequestSource | 'resent_span';

export type StoredRequestState =
  | { readonly status: 'admitted' | 'settled' }
  | { readonly status: 'success' | 'error'; readonly source: RequestSource };

export type RequestState = { readonly status: 'none' } | StoredRequestState;

export type RequestNews =
  | { readonly status: 'admitted' }
  | { readonly status: 'success' | 'error'; readonly source: NewsSource }
  /** The grace period of an admitted request is over. */
  | { readonly status: 'overdue' };

export type RequestTransition = {
  readonly state: RequestState;
  /** The event to append, null for none. */
  readonly emits: EventKind | null;
  /** How the news are counted; `rejected` is told to the sender as already_completed. */
  readonly result: 'stored' | 'emitted' | 'duplicate' | 'superseded' | 'rejected';
};

/**
 * The first outcome wins across producers. Only a report may correct a report, and a span only what it told itself:
 * that it tells anything new is for the caller to find out.
 */
export function nextRequestState(current: RequestState, news: RequestNews): RequestTransition {
  switch (news.status) {
    case 'admitted':
      return admit(current);
    case 'overdue':
      return current.status === 'admitted' ? emit({ status: 'settled' }, 'settled') : keep(current, 'superseded');
    default:
      return complete(current, news);
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

type OutcomeNews = Extract<RequestNews, { source: NewsSource }>;

function complete(current: RequestState, { status, source }: OutcomeNews): RequestTransition {
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
