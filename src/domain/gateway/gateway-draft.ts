/**
 * Drafts: requests and governance events as reported, before validation. Each transport makes drafts of its own form, so
 * that the rules know no transport.
 */

import type { LosslessJson } from '../../json/lossless-json.ts';
import type { RequestContent, RequestError, RequestUsage } from '../events/request-content.ts';

/** A sent value that its field cannot have. */
export const INVALID = Symbol('invalid');
/** An object of too many members, which is never built. */
export const WIDE = Symbol('wide');

/** undefined: not sent. JSON null means the same in some fields only. */
export type Sent<T> = T | typeof INVALID | typeof WIDE | null | undefined;

/** A list whose items are made on demand: a list that is too long costs nothing. An array is such a list. */
export type DraftList<T> = { readonly length: number; readonly at: (index: number) => Sent<T> };

/** A value whose fields are as sent. Numbers may have any value: the rules look for fractions and bounds. */
type Draft<T> = { readonly [Name in keyof T]: Sent<NonNullable<T[Name]>> };

export type RequestDraft = Draft<Omit<RequestContent, 'usage' | 'error' | 'labelsJson' | 'metadataJson'>> & {
  readonly gatewayRequestId: Sent<string>;
  readonly status: Sent<string>;
  readonly projectId: Sent<string>;
  readonly usage: Sent<UsageDraft>;
  readonly costNanoUsd: Sent<number>;
  readonly error: Sent<ErrorDraft>;
  readonly labels: Sent<DraftList<string>>;
  /** Any JSON; INVALID: text that is not JSON. */
  readonly metadata: Sent<LosslessJson>;
};

export type UsageDraft = Draft<RequestUsage>;
export type ErrorDraft = Draft<RequestError>;

/** An event of a virtual key or of a budget; its type says which of the fields it needs. */
export type GovernanceDraft = {
  readonly type: Sent<string>;
  readonly occurredAtMs: Sent<number>;
  /** Of either kind of event. */
  readonly virtualKeyId: Sent<string>;
  readonly name: Sent<string>;
  readonly displayPrefix: Sent<string>;
  readonly reason: Sent<string>;
  readonly budgetId: Sent<string>;
  readonly scopeType: Sent<string>;
  readonly bucketScopeId: Sent<string>;
  readonly anchorProjectId: Sent<string>;
  readonly endUserId: Sent<string>;
  readonly window: Sent<string>;
  readonly periodStartedAtMs: Sent<number>;
  readonly limitUsd: Sent<string>;
  readonly spentUsd: Sent<string>;
  readonly onBreach: Sent<string>;
};
