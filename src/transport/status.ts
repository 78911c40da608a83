/** Fault -> gRPC status and details, the same for gRPC, gRPC-Web and Connect. */

import { create, type DescMessage, type Message, toBinary } from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from '../../gen/google/rpc/error_details_pb.js';
import { StatusSchema } from '../../gen/google/rpc/status_pb.js';
import { ErrorFamily, type Policy } from '../../gen/spandrel/v1/options_pb.js';
import type { Fault, FaultKind, JsonValue } from '../domain/fault.ts';
import type { CallIds } from '../rpc/method.ts';
import { isJsonObject } from './rest/json-object.ts';

/** The shape of error bodies of an rpc, which also names the members of its error details. */
export type Family = 'canonical' | 'flat';

/** An error with its details, for any of the protocols. */
type ErrorStatus = {
  /** The gRPC status number; Connect's codes are the same numbers. */
  readonly code: number;
  readonly message: string;
  readonly details: readonly Detail[];
};

type Detail = { readonly desc: DescMessage; readonly value: Message };

/** The domain of google.rpc.ErrorInfo. */
const DOMAIN = 'spandrel';

type Members = { readonly [name: string]: JsonValue };

const INVALID_ARGUMENT = 3;
const DEADLINE_EXCEEDED = 4;
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const PERMISSION_DENIED = 7;
const RESOURCE_EXHAUSTED = 8;
const FAILED_PRECONDITION = 9;
const ABORTED = 10;
const UNIMPLEMENTED = 12;
const INTERNAL = 13;
const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;

/** The HTTP status and the gRPC status number of each kind of failure. */
const STATUSES: { readonly [K in FaultKind]: readonly [http: number, grpc: number] } = {
  bad_request: [400, INVALID_ARGUMENT],
  broken_framing: [400, INTERNAL],
  invalid: [422, INVALID_ARGUMENT],
  unauthenticated: [401, UNAUTHENTICATED],
  permission_denied: [403, PERMISSION_DENIED],
  not_found: [404, NOT_FOUND],
  route_not_found: [404, UNIMPLEMENTED],
  method_not_allowed: [405, UNIMPLEMENTED],
  request_timeout: [408, DEADLINE_EXCEEDED],
  // See conflictCode for the codes that have another number.
  conflict: [409, FAILED_PRECONDITION],
  payload_too_large: [413, RESOURCE_EXHAUSTED],
  uri_too_long: [414, RESOURCE_EXHAUSTED],
  headers_too_large: [431, RESOURCE_EXHAUSTED],
  expectation_failed: [417, INVALID_ARGUMENT],
  unsupported_media_type: [415, UNIMPLEMENTED],
  rate_limited: [429, RESOURCE_EXHAUSTED],
  internal_error: [500, INTERNAL],
  unavailable: [503, UNAVAILABLE],
};

/** gRPC clients refuse large trailers, so both the message and the details are limited. */
const MESSAGE_MAX_BYTES = 1_024;
const DETAILS_MAX_BYTES = 4_096;

/** The error family of an rpc. */
export function familyOf(policy: Policy): Family {
  return policy.errors === ErrorFamily.CANONICAL ? 'canonical' : 'flat';
}

/** The `type` of a failure in error bodies. */
export function faultType(kind: FaultKind, family: Family): string {
  if (kind === 'invalid') return family === 'canonical' ? 'bad_request' : 'unprocessable_entity';
  if (kind === 'broken_framing') return 'bad_request';
  return kind === 'route_not_found' ? 'not_found' : kind;
}

/** The HTTP status of a failure. */
export function statusOf({ kind }: Fault, family: Family): number {
  return kind === 'invalid' && family === 'canonical' ? 400 : STATUSES[kind][0];
}

/** The gRPC status number of a failure. */
export function grpcCode({ kind, code }: Fault): number {
  return (kind === 'conflict' ? conflictCode(code) : null) ?? STATUSES[kind][1];
}

/** The metadata of a failure in the naming of a family: canonical has snake_case at the top level, flat leaves names unchanged. */
export function faultMembers(fault: Fault, family: Family): Members {
  if (family === 'flat') return fault.meta;
  return Object.fromEntries(Object.entries(fault.meta).map(([name, value]) => [toSnakeCase(name), value]));
}

/** The code, message and details of an error over RPC, cut to the sizes that clients accept. */
export function errorStatus(fault: Fault, family: Family, ids: CallIds): ErrorStatus {
  const message = cutMessage(fault.message);
  const retry = retryDetails(fault);
  const build = (members: Members): readonly Detail[] => [
    infoDetail(fault, { family, ids, members }),
    ...retry,
    ...violationDetails(fault, members),
  ];
  const fits = (details: readonly Detail[]) => packStatus({ code: 0, message, details }).length <= DETAILS_MAX_BYTES;
  return { code: grpcCode(fault), message, details: cutDetails(faultMembers(fault, family), build, fits) };
}

/** Response metadata of an error. */
export function errorMetadata(fault: Fault): Record<string, string> {
  const metadata: Record<string, string> = { ...fault.headers };
  if (fault.kind === 'unauthenticated') metadata['www-authenticate'] = 'Bearer realm="spandrel"';
  if (isRetryable(fault)) metadata['retry-after'] = String(retryAfterSeconds(fault));
  return metadata;
}

/** The trailers that end a failed gRPC call. */
export function errorTrailers(fault: Fault, family: Family, ids: CallIds): Record<string, string> {
  const status = errorStatus(fault, family, ids);
  return {
    ...errorMetadata(fault),
    'grpc-status': String(status.code),
    'grpc-message': percentEncode(status.message),
    // gRPC sends binary metadata without padding.
    'grpc-status-details-bin': Buffer.from(packStatus(status)).toString('base64').replace(/=+$/, ''),
  };
}

function conflictCode(code: string): number | null {
  if (code.endsWith('_taken') || code.endsWith('_already_exists')) return ALREADY_EXISTS;
  return code === 'idempotency_error' ? ABORTED : null;
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

type Known = { readonly family: Family; readonly ids: CallIds; readonly members: Members };

function infoDetail(fault: Fault, { family, ids, members }: Known): Detail {
  const texts = Object.entries(members).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.toWellFormed() : JSON.stringify(value),
  ]);
  const traced = ids.traceId === '' ? {} : { trace_id: ids.traceId, span_id: ids.spanId };
  const metadata = { ...Object.fromEntries(texts), type: faultType(fault.kind, family), ...traced };
  const info = { reason: fault.code.toUpperCase(), domain: DOMAIN, metadata };
  return { desc: ErrorInfoSchema, value: create(ErrorInfoSchema, info) };
}

function isRetryable(fault: Fault): boolean {
  return fault.kind === 'rate_limited' || fault.kind === 'unavailable';
}

function retryAfterSeconds(fault: Fault): number {
  return fault.retryAfterSeconds ?? 1;
}

function retryDetails(fault: Fault): readonly Detail[] {
  if (!isRetryable(fault)) return [];
  const value = create(RetryInfoSchema, { retryDelay: { seconds: BigInt(retryAfterSeconds(fault)) } });
  return [{ desc: RetryInfoSchema, value }];
}

function violationDetails(fault: Fault, members: Members): readonly Detail[] {
  if (fault.code !== 'validation_error') return [];
  const fieldViolations = reasonsOf(members).map(({ meta, message }) => ({
    field: typeof meta.field === 'string' ? meta.field : '',
    description: typeof message === 'string' ? message : '',
  }));
  if (fieldViolations.length === 0) return [];
  return [{ desc: BadRequestSchema, value: create(BadRequestSchema, { fieldViolations }) }];
}

type Reason = { readonly [name: string]: JsonValue; readonly meta: Members };

function reasonsOf(members: Members): readonly Reason[] {
  return Array.isArray(members.reasons) ? members.reasons.filter(isReason) : [];
}

function isReason(value: JsonValue): value is { [name: string]: JsonValue; meta: { [name: string]: JsonValue } } {
  return isJsonObject(value) && isJsonObject(value.meta);
}

/** Drops details until they fit: first lists of allowed values, then reasons from the end, then all members but two. */
function cutDetails(
  members: Members,
  build: (members: Members) => readonly Detail[],
  fits: (details: readonly Detail[]) => boolean,
): readonly Detail[] {
  const whole = build(members);
  if (fits(whole)) return whole;
  const reasons = reasonsOf(members).map(withoutExpectedList);
  for (let kept = reasons.length; kept > 0; kept -= 1) {
    const details = build(withReasons(members, reasons.slice(0, kept)));
    if (fits(details)) return details;
  }
  const { target, fields } = members;
  return build({ ...(target === undefined ? {} : { target }), ...(fields === undefined ? {} : { fields }) });
}

function withoutExpectedList(reason: Reason): Reason {
  if (!Array.isArray(reason.meta.expected)) return reason;
  const { expected: _, ...meta } = reason.meta;
  return { ...reason, meta };
}

function withReasons(members: Members, reasons: readonly Reason[]): Members {
  const fields = [...new Set(reasons.flatMap(({ meta }) => (typeof meta.field === 'string' ? [meta.field] : [])))];
  return { ...members, fields, reasons: reasons.map((reason) => ({ ...reason, meta: { ...reason.meta } })) };
}

/** At most 1 KiB of UTF-8, never half a character. */
function cutMessage(message: string): string {
  const whole = message.toWellFormed();
  const bytes = Buffer.from(whole);
  if (bytes.length <= MESSAGE_MAX_BYTES) return whole;
  let end = MESSAGE_MAX_BYTES;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

/** google.rpc.Status. */
export function packStatus({ code, message, details }: ErrorStatus): Uint8Array {
  const packed = details.map(({ desc, value }) => anyPack(desc, value));
  return toBinary(StatusSchema, create(StatusSchema, { code, message, details: packed }));
}

/** Spaces and other printable ASCII may stay as they are; everything else travels as %XX. */
export function percentEncode(message: string): string {
  return message.replace(/[^ -$&-~]+/gu, encodeURIComponent);
}
