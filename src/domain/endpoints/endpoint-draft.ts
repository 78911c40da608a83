/** The fields of an endpoint as a request sends them, and the problems of their shape. */

import { Fault, type Reason } from '../fault.ts';
import { lengthReason, typeReason } from '../reasons.ts';
import { hasMoreCharactersThan } from '../text-limits.ts';
import type { CredentialMode, EndpointRecord, EndpointStatus, SqsRecord } from './endpoint.ts';

/** A queue as sent. Undefined: not sent; null: sent as null. */
export type SqsDraft = { readonly [Field in keyof SqsRecord]?: string | null | undefined } & {
  /** The only mode whose key pair a sent null or a sent secret alone concerns; undefined: that of the stored queue. */
  readonly pairOf?: 'assume_role' | 'static' | undefined;
  /** What the request says that follows from the rest; null: sent without a value. */
  readonly stated?: Partial<StatedQueue> | undefined;
};

/** What the address and the credentials of a queue imply. */
export type StatedQueue = {
  readonly region: string;
  readonly accountId: string;
  readonly queueName: string;
  readonly credentialMode: CredentialMode;
};

/** An endpoint as sent. Undefined: not sent; null: sent as null. */
export type EndpointDraft = { readonly [Control in ControlName]?: number | null | undefined } & {
  readonly destinationKind?: EndpointRecord['destinationKind'] | undefined;
  readonly url?: string | null | undefined;
  readonly sqs?: SqsDraft | null | undefined;
  readonly enabledEvents?: readonly string[] | undefined;
  readonly status?: EndpointStatus | undefined;
  readonly description?: string | null | undefined;
};

export type ControlName = 'maxBatchSize' | 'maxBatchDelayMs' | 'maxInFlight';

type Control = {
  readonly name: ControlName;
  readonly field: string;
  readonly min: number;
  readonly max: number;
  readonly fallback: number;
};

/** The numbers that control batches, in the order of the API. */
export const CONTROLS: readonly Control[] = [
  { name: 'maxBatchSize', field: 'max_batch_size', min: 1, max: 100, fallback: 100 },
  { name: 'maxBatchDelayMs', field: 'max_batch_delay_ms', min: 0, max: 60_000, fallback: 250 },
  { name: 'maxInFlight', field: 'max_in_flight', min: 1, max: 8, fallback: 4 },
];

const SELECTORS_MAX = 100;
const QUEUE_URL_CHARACTERS_MAX = 2_000;
const QUEUE_URL = 'sqs.queue_url';

/** All problems in the shape of a new endpoint. */
export function creationProblems(draft: EndpointDraft): readonly Reason[] {
  const { destinationKind = 'http', url, sqs, enabledEvents } = draft;
  const found: Reason[] = [];
  if (destinationKind === 'http') {
    if (url == null) found.push(typeReason('url', 'string', 'undefined'));
    if (sqs != null) found.push(custom('sqs', 'sqs can only be set when destination_kind is sqs'));
  } else {
    if (url != null) found.push(custom('url', 'url can only be set when destination_kind is http'));
    if (sqs?.queueUrl == null) found.push(typeReason(QUEUE_URL, 'string', 'undefined'));
  }
  if (enabledEvents === undefined) found.push(typeReason('enabled_events', 'array', 'undefined'));
  return [...found, ...fieldProblems(draft)];
}

/** All problems in the shape of an update that show without the stored endpoint. */
export function changeProblems(draft: EndpointDraft): readonly Reason[] {
  const clearsQueue = draft.sqs?.queueUrl === null;
  return [...(clearsQueue ? [typeReason(QUEUE_URL, 'string', 'null')] : []), ...fieldProblems(draft)];
}

/** The fault for a value of the right shape that is not allowed. */
export function endpointInvalid(message: string): Fault {
  return new Fault('webhook_endpoint_invalid', message);
}

function fieldProblems(draft: EndpointDraft): readonly Reason[] {
  const { enabledEvents, sqs } = draft;
  const found = CONTROLS.filter(({ name }) => draft[name] === null).map(({ field }) =>
    typeReason(field, 'integer', 'null'),
  );
  if (enabledEvents?.length === 0 || (enabledEvents?.length ?? 0) > SELECTORS_MAX) {
    found.push(lengthReason('enabled_events', `1 to ${SELECTORS_MAX} items`));
  }
  const queueUrl = sqs?.queueUrl?.trim();
  if (queueUrl === '' || hasMoreCharactersThan(queueUrl ?? '', QUEUE_URL_CHARACTERS_MAX)) {
    found.push(lengthReason(QUEUE_URL, `1 to ${QUEUE_URL_CHARACTERS_MAX} characters`));
  }
  return found;
}

function custom(field: string, message: string): Reason {
  return { field, type: 'custom', message };
}
