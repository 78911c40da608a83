/** Reads the status details of an error as a third-party client does. */

import { fromBinary } from '@bufbuild/protobuf';
import { anyUnpack } from '@bufbuild/protobuf/wkt';
import { expect } from 'vitest';
import {
  BadRequestSchema,
  type ErrorInfo,
  ErrorInfoSchema,
  RetryInfoSchema,
} from '../../gen/google/rpc/error_details_pb.js';
import { StatusSchema } from '../../gen/google/rpc/status_pb.js';

export type ShownError = {
  /** As REST writes it. */
  readonly code: string;
  readonly type: string;
  readonly traceId: string;
  readonly spanId: string;
  /** The members under the names of REST. */
  readonly meta: { readonly [name: string]: unknown };
};

/** Decodes grpc-status-details-bin; fails unless it holds exactly one ErrorInfo, of this service. */
export function readStatus(bytes: Uint8Array) {
  const status = fromBinary(StatusSchema, bytes);
  const infos = status.details.flatMap((detail) => anyUnpack(detail, ErrorInfoSchema) ?? []);
  expect(infos, 'exactly one ErrorInfo').toHaveLength(1);
  const [info] = infos;
  if (!info) throw new Error('no ErrorInfo');
  return {
    status,
    info: readInfo(info),
    retry: status.details.flatMap((detail) => anyUnpack(detail, RetryInfoSchema) ?? []),
    violations: status.details.flatMap((detail) => anyUnpack(detail, BadRequestSchema)?.fieldViolations ?? []),
  };
}

/** The parts of an ErrorInfo. */
export function readInfo({ reason, domain, metadata }: ErrorInfo): ShownError {
  expect(domain).toBe('spandrel');
  expect(reason).toMatch(/^[A-Z][A-Z0-9_]*[A-Z0-9]$/);
  const { type = '', trace_id: traceId = '', span_id: spanId = '', ...members } = metadata;
  const meta = Object.fromEntries(Object.entries(members).map(([name, text]) => [name, valueOfText(text)]));
  return { code: reason.toLowerCase(), type, traceId, spanId, meta };
}

/** Texts are plain, other values JSON. */
function valueOfText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
