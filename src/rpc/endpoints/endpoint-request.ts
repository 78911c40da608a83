/** Converts requests about webhook endpoints for the domain, and checks their enum fields. */

import { create } from '@bufbuild/protobuf';
import type { FieldMask } from '@bufbuild/protobuf/wkt';
import {
  type CreateEndpointRequest,
  EndpointSchema,
  type ReplayEventsRequest,
  type SqsDestination,
  type UpdateEndpointRequest,
} from '../../../gen/spandrel/v1/endpoints_pb.js';
import type { EndpointDraft, SqsDraft } from '../../domain/endpoints/endpoint-draft.ts';
import type { ReplayRange } from '../../domain/endpoints/replays.ts';
import type { Reason } from '../../domain/fault.ts';
import type { CursorPageRequest } from '../../domain/management/listing.ts';
import { typeReason } from '../../domain/reasons.ts';
import { msOfTimestamp } from '../epoch-ms.ts';
import { enumNameOf } from '../keys/grant-enums.ts';
import { isSent } from '../update-mask.ts';
import { destinationKindNumbers, endpointStatusNumbers } from './endpoint-enums.ts';

/** Reads a new endpoint. An unknown enum value reads like a missing one; the field rules report it. */
export function readNewEndpoint(request: CreateEndpointRequest): EndpointDraft {
  const { url, sqs, enabledEvents, maxBatchSize, maxBatchDelayMs, maxInFlight, description } = request;
  return {
    destinationKind: enumNameOf(destinationKindNumbers, request.destinationKind) ?? undefined,
    url,
    sqs: sqs === undefined ? undefined : queueOf(sqs),
    enabledEvents: enabledEvents.length > 0 ? enabledEvents : undefined,
    maxBatchSize,
    maxBatchDelayMs,
    maxInFlight,
    description,
  };
}

const NOTHING = create(EndpointSchema);

/** Reads the fields that an update sends. */
export function readEndpointChange({ endpoint = NOTHING, updateMask: mask }: UpdateEndpointRequest): EndpointDraft {
  /** Undefined: not sent; null: sent without a value. */
  const sent = <V>(path: string, value: V | undefined): V | null | undefined =>
    isSent(mask, path, value) ? (value ?? null) : undefined;
  const { enabledEvents } = endpoint;
  const selectors = enabledEvents.length > 0 ? enabledEvents : undefined;
  return {
    destinationKind: enumNameOf(destinationKindNumbers, endpoint.destinationKind) ?? undefined,
    url: sent('url', endpoint.url),
    sqs: readQueueChange(endpoint.sqs, mask),
    enabledEvents: isSent(mask, 'enabled_events', selectors) ? enabledEvents : undefined,
    status: enumNameOf(endpointStatusNumbers, endpoint.status) ?? undefined,
    maxBatchSize: sent('max_batch_size', endpoint.maxBatchSize),
    maxBatchDelayMs: sent('max_batch_delay_ms', endpoint.maxBatchDelayMs),
    maxInFlight: sent('max_in_flight', endpoint.maxInFlight),
    description: sent('description', endpoint.description),
  };
}

const QUEUE_FIELDS = [
  ['queueUrl', 'sqs.queue_url'],
  ['roleArn', 'sqs.role_arn'],
  ['externalId', 'sqs.external_id'],
  ['accessKeyId', 'sqs.access_key_id'],
  ['secretAccessKey', 'sqs.secret_access_key'],
] as const satisfies readonly (readonly [keyof SqsDestination & keyof SqsDraft, string])[];

function queueOf(sqs: SqsDestination): SqsDraft {
  return Object.fromEntries(
    QUEUE_FIELDS.flatMap(([field]) => (sqs[field] === undefined ? [] : [[field, sqs[field]] as const])),
  );
}

/** A mask may name the queue as a whole, which sends the fields that have a value, or its fields one by one. */
function readQueueChange(sqs: SqsDestination | undefined, mask: FieldMask | undefined): SqsDraft | null | undefined {
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

/** Problems of enum fields that the mask names without a value. */
export function unnamedWordProblems({ endpoint = NOTHING, updateMask }: UpdateEndpointRequest): readonly Reason[] {
  const named = new Set(updateMask?.paths ?? []);
  const unset = (path: string, number: number) =>
    named.has(path) && number === 0 ? [typeReason(path, 'string', 'null')] : [];
  return [...unset('destination_kind', endpoint.destinationKind), ...unset('status', endpoint.status)];
}

/** Null if an end of the range is missing. */
export function readRange({ createdFrom, createdTo, eventType }: ReplayEventsRequest): ReplayRange | null {
  if (createdFrom === undefined || createdTo === undefined) return null;
  return { fromMs: msOfTimestamp(createdFrom), toMs: msOfTimestamp(createdTo), type: eventType ?? null };
}

export function readPage({
  pageToken,
  pageSize,
}: {
  readonly pageToken: string;
  readonly pageSize?: number | undefined;
}): CursorPageRequest {
  return { cursor: pageToken, limit: pageSize ?? null };
}
