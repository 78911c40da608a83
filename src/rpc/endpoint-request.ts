/** Requests about webhook endpoints, as their rules take them, and what is wrong with their words. */

import {
  type CreateEndpointRequest,
  DestinationKindSchema,
  EndpointStatusSchema,
  type ReplayEventsRequest,
  type SqsSettings,
  type UpdateEndpointRequest,
} from '../../gen/spandrel/v1/endpoints_pb.js';
import type { EndpointDraft, SqsDraft } from '../domain/endpoint-draft.ts';
import type { Reason } from '../domain/fault.ts';
import type { CursorWish } from '../domain/listing.ts';
import { typeReason } from '../domain/reasons.ts';
import type { ReplayRange } from '../domain/replays.ts';
import { destinationKindNumbers, endpointStatusNumbers } from './endpoint-words.ts';
import { wordOf } from './grant-words.ts';
import { wordProblems } from './management-problems.ts';
import { isSent } from './update-mask.ts';

type WriteRequest = CreateEndpointRequest | UpdateEndpointRequest;

/** What the request sends. A word that is none reads like one that is missing; `endpointWordProblems` tells of it. */
export function readEndpointDraft(request: WriteRequest): EndpointDraft {
  const { updateMask: mask, destinationKind, enabledEvents } = request;
  const status = 'status' in request ? (wordOf(endpointStatusNumbers, request.status) ?? undefined) : undefined;
  /** Undefined: not sent; null: sent without a value. */
  const sent = <V>(path: string, value: V | undefined): V | null | undefined =>
    isSent(mask, path, value) ? (value ?? null) : undefined;
  const sentInteger = (path: string, value: bigint | undefined) =>
    sent(path, value === undefined ? undefined : Number(value));
  const kind = wordOf(destinationKindNumbers, destinationKind) ?? undefined;
  const selectors = enabledEvents.length > 0 ? enabledEvents : undefined;
  return {
    destinationKind: sent('destination_kind', kind) ?? undefined,
    url: sent('url', request.url),
    sqs: readQueueDraft(request),
    enabledEvents: isSent(mask, 'enabled_events', selectors) ? enabledEvents : undefined,
    status: sent('status', status) ?? undefined,
    maxBatchSize: sentInteger('max_batch_size', request.maxBatchSize),
    maxBatchDelayMs: sentInteger('max_batch_delay_ms', request.maxBatchDelayMs),
    maxInFlight: sentInteger('max_in_flight', request.maxInFlight),
    description: sent('description', request.description),
  };
}

const QUEUE_FIELDS = [
  ['queueUrl', 'sqs.queue_url'],
  ['roleArn', 'sqs.role_arn'],
  ['externalId', 'sqs.external_id'],
  ['accessKeyId', 'sqs.access_key_id'],
  ['secretAccessKey', 'sqs.secret_access_key'],
] as const satisfies readonly (readonly [keyof SqsSettings & keyof SqsDraft, string])[];

/** A mask may name the queue as a whole, and then what is there of it counts, or what is in it one by one. */
function readQueueDraft({ updateMask: mask, sqs }: WriteRequest): SqsDraft | null | undefined {
  const named = new Set(mask?.paths ?? []);
  const isNamedInside = QUEUE_FIELDS.some(([, path]) => named.has(path));
  if (!isNamedInside && !isSent(mask, 'sqs', sqs)) return undefined;
  if (!isNamedInside && sqs === undefined) return null;
  const isWhole = named.size === 0 || named.has('sqs');
  const fields = QUEUE_FIELDS.flatMap(([field, path]) => {
    const value = sqs?.[field];
    if (named.has(path)) return [[field, value ?? null] as const];
    return isWhole && value !== undefined ? [[field, value] as const] : [];
  });
  return Object.fromEntries(fields);
}

/** Numbers that stand for no word of the contract, and words that are named without one. */
export function endpointWordProblems(request: WriteRequest): readonly Reason[] {
  const { updateMask, destinationKind } = request;
  const status = 'status' in request ? request.status : undefined;
  const named = new Set(updateMask?.paths ?? []);
  const unset = (path: string, number: number) =>
    named.has(path) && number === 0 ? [typeReason(path, 'string', 'null')] : [];
  return [
    ...wordProblems(DestinationKindSchema, { path: 'destination_kind', number: destinationKind, required: false }),
    ...unset('destination_kind', destinationKind),
    ...(status === undefined
      ? []
      : [
          ...wordProblems(EndpointStatusSchema, { path: 'status', number: status, required: false }),
          ...unset('status', status),
        ]),
  ];
}

/** Null as long as an end of the range is missing. */
export function readRange({ from, to, type }: ReplayEventsRequest): ReplayRange | null {
  if (from === undefined || to === undefined) return null;
  return { fromMs: Number(from), toMs: Number(to), type: type ?? null };
}

export function readPage({
  cursor,
  limit,
}: {
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}): CursorWish {
  return { cursor: cursor ?? '', limit: limit ?? null };
}
