/** The error codes of a route, by HTTP status. */

import { BodyRule, Credential } from '../../gen/spandrel/v1/options_pb.js';
import { Fault, type FaultCode, isFaultCode } from '../../src/domain/fault.ts';
import { familyOf, statusOf } from '../../src/transport/status.ts';
import type { Operation } from './operations.ts';

export type Refusals = ReadonlyMap<number, Refusal>;

export type Refusal = {
  readonly codes: readonly FaultCode[];
  /** True if the policy implies all codes. */
  readonly isUsual: boolean;
};

type Refusable = Pick<Operation, 'rules' | 'sent' | 'takesBody' | 'errors'>;

/** Sorted by ascending status. */
export function refusalsOf(operation: Refusable): Refusals {
  const usual = new Set(usualCodes(operation));
  const codes = [...new Set([...usual, ...namedCodes(operation)])];
  const byStatus = Map.groupBy(codes, (code) => httpStatus(code, operation));
  const sorted = [...byStatus].toSorted(([one], [other]) => one - other);
  return new Map(
    sorted.map(([status, each]) => [status, { codes: each, isUsual: each.every((code) => usual.has(code)) }]),
  );
}

/** The status of a code. A tolerant body with no valid item is malformed in both families. */
export function httpStatus(code: FaultCode, { rules }: Pick<Operation, 'rules'>): number {
  if (code === 'validation_error' && rules.body === BodyRule.TOLERANT) return 400;
  return statusOf(new Fault(code, ''), familyOf(rules));
}

/** The text of an operation's own errors with HTTP statuses. Throws on an unknown code. */
export function errorsText(operation: Operation): string {
  return operation.errors
    .replace(CODE, (text, status: string | undefined, code: string) => {
      if (isFaultCode(code)) return `${httpStatus(code, operation)} \`${code}\``;
      if (status !== undefined) throw new Error(`a comment names the error ${code}, which is not in the catalogue`);
      return text;
    })
    .replace(/\bUNAVAILABLE\b/g, '503 `unavailable`');
}

/** A code, optionally after its gRPC status. */
const CODE = /(?:\b([A-Z]+(?:_[A-Z]+)*) )?\b([a-z]+(?:_[a-z]+)+)\b/g;

function namedCodes({ errors }: Refusable): FaultCode[] {
  return [...errors.matchAll(CODE)].flatMap(([, , code = '']) => (isFaultCode(code) ? [code] : []));
}

/** Codes that policy and fields imply. */
function usualCodes({ rules, sent, takesBody }: Refusable): FaultCode[] {
  const takesFields = sent.param.length + sent.query.length + sent.json.length > 0 || rules.idempotent;
  return [
    ...credentialCodes(rules.credential),
    ...(takesBody ? BODY_CODES : []),
    ...(takesFields ? (['validation_error'] as const) : []),
    ...(rules.idempotent ? (['idempotency_error'] as const) : []),
    'payload_too_large',
    'internal_error',
    'unavailable',
  ];
}

const BODY_CODES = ['malformed_request', 'request_timeout', 'unsupported_encoding'] as const;

function credentialCodes(credential: Credential): FaultCode[] {
  const any = ['missing_credentials', 'invalid_credentials', 'origin_not_allowed'] as const;
  if (credential === Credential.OPEN) return [];
  if (credential === Credential.ORGANIZATION) return [...any, 'credential_class_mismatch', 'insufficient_permissions'];
  return [...any, 'project_scope_required', 'unknown_project', 'api_key_permission_denied'];
}
