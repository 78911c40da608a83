/** Converts requests about webhook endpoints for the domain, and checks their enum fields. */

import { create } from '@bufbuild/protobuf';
import type { FieldMask } from '@bufbuild/protobuf/wkt';
import {
  type CreateEndpointRequest,
  CreateEndpointRequestSchema,
  CredentialMode,
  DestinationKind,
  type Endpoint,
  EndpointSchema,
  EndpointStatus,
  type ReplayEventsRequest,
  type SqsAccessKeys,
  type SqsDestination,
  type UpdateEndpointRequest,
} from '../../../gen/spandrel/v1/endpoints_pb.js';
import type { EndpointDraft, SqsDraft } from '../../domain/endpoints/endpoint-draft.ts';
import type { ReplayRange } from '../../domain/endpoints/replays.ts';
import type { Reason } from '../../domain/fault.ts';
import { typeReason } from '../../domain/reasons.ts';
import { wordOf } from '../enums.ts';
import { msOfTimestamp } from '../epoch-ms.ts';
import { fieldValue } from '../field-values.ts';
import { isSent, sentFields } from '../update-mask.ts';

/** Reads a new endpoint. An unknown enum value reads like a missing one; the field rules report it. */
export function readNewEndpoint(request: CreateEndpointRequest): EndpointDraft {
  const { enabledEvents, maxBatchSize, maxBatchDelayMs, maxInFlight, description } = request;
  const { url, sqs } = destinationsOf(CreateEndpointRequestSchema.field, request);
  return {
    destinationKind: wordOf(DestinationKind, request.destinationKind) ?? undefined,
    url,
    sqs: sqs === undefined ? undefined : queueOf(sqs),
    enabledEvents: enabledEvents.length > 0 ? enabledEvents : undefined,
    maxBatchSize,
    maxBatchDelayMs,
    maxInFlight,
    status: wordOf(EndpointStatus, request.status) ?? undefined,
    description,
  };
}

/** Over RPC, the destination of a new endpoint implies its kind. Over REST the kind must be sent, unless it is http. */
export function implyKind(request: CreateEndpointRequest): void {
  const { destinationKind, destination } = request;
  if (destinationKind === DestinationKind.UNSPECIFIED && destination.case === 'sqs') {
    request.destinationKind = DestinationKind.SQS;
  }
}

type Destinations = { readonly url: string | undefined; readonly sqs: SqsDestination | undefined };

/** Both destinations, because a REST body can set both. */
function destinationsOf(
  fields: Pick<(typeof EndpointSchema | typeof CreateEndpointRequestSchema)['field'], keyof Destinations>,
  message: Endpoint | CreateEndpointRequest,
): Destinations {
  return {
    url: fieldValue(message, fields.url) as string | undefined,
    sqs: fieldValue(message, fields.sqs) as SqsDestination | undefined,
  };
}

const NOTHING = create(EndpointSchema);
const PLAIN = ['enabledEvents', 'maxBatchSize', 'maxBatchDelayMs', 'maxInFlight', 'description'] as const;

/** Reads the fields that an update sends. */
export function readEndpointChange({ endpoint = NOTHING, updateMask: mask }: UpdateEndpointRequest): EndpointDraft {
  const { url, sqs } = destinationsOf(EndpointSchema.field, endpoint);
  return {
    ...sentFields(EndpointSchema, { resource: endpoint, mask }, PLAIN),
    destinationKind: wordOf(DestinationKind, endpoint.destinationKind) ?? undefined,
    url: isSent(mask, 'url', url) ? (url ?? null) : undefined,
    sqs: readQueueChange(sqs, mask),
    status: wordOf(EndpointStatus, endpoint.status) ?? undefined,
  };
}

/** A queue as sent, without the fields that have no value. */
function queueOf(sqs: SqsDestination): SqsDraft {
  const { queueUrl, credentials } = sqs;
  const stated = statedOf(sqs);
  switch (credentials.case) {
    case 'assumeRole': {
      const { roleArn, externalId, base } = credentials.value;
      return { queueUrl, roleArn, externalId, ...pairOf(base), stated };
    }
    case 'accessKeys':
      return { queueUrl, ...pairOf(credentials.value), stated };
    default:
      return { queueUrl, stated };
  }
}

function statedOf({ region, accountId, queueName, expectedMode }: SqsDestination): NonNullable<SqsDraft['stated']> {
  const mode = wordOf(CredentialMode, expectedMode);
  return {
    ...(region === '' ? {} : { region }),
    ...(accountId === '' ? {} : { accountId }),
    ...(queueName === '' ? {} : { queueName }),
    ...(mode === null ? {} : { credentialMode: mode }),
  };
}

function pairOf(pair: SqsAccessKeys | undefined): Pick<SqsDraft, 'accessKeyId' | 'secretAccessKey'> {
  return { accessKeyId: pair?.accessKeyId, secretAccessKey: pair?.secretAccessKey };
}

const ROLE = 'sqs.assume_role';
const KEYS = 'sqs.access_keys';
const BASE = `${ROLE}.base`;
const AMBIENT = 'sqs.ambient';

/** The paths of each field in a mask. */
const QUEUE_PATHS: { readonly [K in keyof Omit<SqsDraft, 'pairOf' | 'stated'>]-?: readonly string[] } = {
  queueUrl: ['sqs.queue_url'],
  roleArn: [`${ROLE}.role_arn`],
  externalId: [`${ROLE}.external_id`],
  accessKeyId: [`${KEYS}.access_key_id`, `${BASE}.access_key_id`],
  secretAccessKey: [`${KEYS}.secret_access_key`, `${BASE}.secret_access_key`],
};
const STATED_PATHS = ['sqs.region', 'sqs.account_id', 'sqs.queue_name', 'sqs.expected_mode'];
const PATHS_INSIDE = [ROLE, KEYS, BASE, AMBIENT, ...STATED_PATHS, ...Object.values(QUEUE_PATHS).flat()];

/** A mask may name the queue or its credentials as a whole, which sends the fields that have a value, or its fields one by one. */
function readQueueChange(sqs: SqsDestination | undefined, mask: FieldMask | undefined): SqsDraft | null | undefined {
  const named = new Set(mask?.paths ?? []);
  const isNamedInside = PATHS_INSIDE.some((path) => named.has(path));
  if (!isNamedInside && !isSent(mask, 'sqs', sqs)) return undefined;
  if (!isNamedInside && sqs === undefined) return null;
  const sent: SqsDraft = sqs === undefined ? {} : queueOf(sqs);
  const fields = Object.entries(QUEUE_PATHS).flatMap(([field, own]) => {
    const value = sent[field as keyof typeof QUEUE_PATHS];
    // A field with a value is named, itself or by what it is in: the pipeline refuses any other.
    if (value !== undefined) return [[field, value] as const];
    return own.some((path) => named.has(path)) ? [[field, null] as const] : [];
  });
  return {
    ...clearedCredentials(sqs, named),
    ...Object.fromEntries(fields),
    pairOf: modeOfPair(sqs, named),
    stated: sent.stated,
  };
}

/** A REST body does not say which pair it means, so its mask names both. */
function modeOfPair(sqs: SqsDestination | undefined, named: ReadonlySet<string>): SqsDraft['pairOf'] {
  const credentials = sqs?.credentials;
  const names = (parent: string) => [...named].some((path) => path === parent || path.startsWith(`${parent}.`));
  const isStatic = names(KEYS) || credentials?.case === 'accessKeys';
  const isBase =
    named.has(ROLE) || names(BASE) || (credentials?.case === 'assumeRole' && credentials.value.base !== undefined);
  if (isStatic === isBase) return undefined;
  return isStatic ? 'static' : 'assume_role';
}

/** Credentials that a mask names as a whole without a value are removed; ambient ones replace all others. */
function clearedCredentials(sqs: SqsDestination | undefined, named: ReadonlySet<string>): SqsDraft {
  const credentials = sqs?.credentials;
  const isAmbient = credentials?.case === 'ambient';
  const role = credentials?.case === 'assumeRole' ? credentials.value : undefined;
  const clearsRole = isAmbient || (named.has(ROLE) && role === undefined);
  const clearsKeys = named.has(KEYS) && credentials?.case !== 'accessKeys';
  // A role takes its base along.
  const clearsBase = clearsRole || (named.has(BASE) && role?.base === undefined);
  return {
    ...(clearsRole ? { roleArn: null } : {}),
    ...(isAmbient || clearsKeys || clearsBase ? { accessKeyId: null } : {}),
  };
}

/**
 * Problems of credentials that are set without a value, which would otherwise be taken for those of the server. A mask may
 * name what is cleared in them.
 */
export function emptyCredentialProblems({ destination }: Destined, mask?: FieldMask): readonly Reason[] {
  const credentials = destination.case === 'sqs' ? destination.value.credentials : undefined;
  const isNamed = (parent: string) => mask?.paths.some((path) => path.startsWith(`${parent}.`)) ?? false;
  if (credentials?.case === 'assumeRole') {
    const { roleArn, externalId, base } = credentials.value;
    const isEmpty = (roleArn ?? externalId) === undefined && !isNamed(ROLE);
    const isBaseEmpty = base !== undefined && (base.accessKeyId ?? base.secretAccessKey) === undefined;
    return [
      ...(isEmpty ? [typeReason('sqs.role_arn', 'string', 'undefined')] : []),
      ...(isBaseEmpty && !isNamed(BASE) ? [typeReason('sqs.access_key_id', 'string', 'undefined')] : []),
    ];
  }
  if (credentials?.case === 'accessKeys' && !isNamed(KEYS)) {
    const { accessKeyId, secretAccessKey } = credentials.value;
    const isEmpty = (accessKeyId ?? secretAccessKey) === undefined;
    return isEmpty ? [typeReason('sqs.access_key_id', 'string', 'undefined')] : [];
  }
  return [];
}

/** The key pair of a stored role cannot be changed: a pair that an update names takes the place of the role. */
export function changedBaseProblems({ destination }: Destined): readonly Reason[] {
  const credentials = destination.case === 'sqs' ? destination.value.credentials : undefined;
  if (credentials?.case !== 'assumeRole') return [];
  const { roleArn, base } = credentials.value;
  // The rules refuse a role together with a pair.
  if (roleArn !== undefined || base?.accessKeyId === undefined) return [];
  const message = 'sqs.access_key_id of a role can only be set when the endpoint is created';
  return [{ field: 'sqs.access_key_id', type: 'custom', message }];
}

type Destined = Pick<Endpoint, 'destination'>;

/** Problems of enum fields that the mask names without a value. */
export function unsetEnumProblems({ endpoint = NOTHING, updateMask }: UpdateEndpointRequest): readonly Reason[] {
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
