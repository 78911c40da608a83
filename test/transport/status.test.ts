import { describe, expect, it } from 'vitest';
import { Fault, type FaultCode, type FaultKind, type Reason, validationFault } from '../../src/domain/fault.ts';
import { errorTrailers, type Family, faultType, grpcCode } from '../../src/transport/status.ts';
import { readStatus } from '../support/error-info.ts';

const IDS = { requestId: 'req_1', traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };

function statusOf(fault: Fault, family: Family = 'flat') {
  const trailers = errorTrailers(fault, family, IDS);
  const bytes = Buffer.from(trailers['grpc-status-details-bin'] ?? '', 'base64');
  return { trailers, ...readStatus(bytes), bytes: bytes.length };
}

/** One fault of each kind, whatever code the catalogue gives it. */
const ofKind = (kind: FaultKind, code: FaultCode = 'malformed_request') => new Fault(code, 'No.', { kind });

describe('the gRPC status of a failure', () => {
  it.each([
    ['bad_request', 3],
    ['invalid', 3],
    ['unauthenticated', 16],
    ['permission_denied', 7],
    ['not_found', 5],
    ['route_not_found', 12],
    ['method_not_allowed', 12],
    ['unsupported_media_type', 12],
    ['request_timeout', 4],
    ['payload_too_large', 8],
    ['rate_limited', 8],
    ['internal_error', 13],
    ['unavailable', 14],
  ] as const)('%s is %i', (kind, number) => {
    expect(grpcCode(ofKind(kind))).toBe(number);
    expect(statusOf(ofKind(kind)).trailers['grpc-status']).toBe(String(number));
  });

  it.each([
    ['slug_taken', 6],
    ['role_already_exists', 6],
    ['idempotency_error', 10],
    ['ambiguous_trace_id', 9],
    ['already_revoked', 9],
  ])('a conflict %s is %i', (code, number) => {
    // Codes of future operations follow the same rule.
    expect(grpcCode(ofKind('conflict', code as FaultCode))).toBe(number);
  });

  it.each([
    ['invalid', 'canonical', 'bad_request'],
    ['invalid', 'flat', 'unprocessable_entity'],
    ['route_not_found', 'flat', 'not_found'],
    ['conflict', 'canonical', 'conflict'],
    ['unsupported_media_type', 'flat', 'unsupported_media_type'],
  ] as const)('the class of %s in the %s family is %s', (kind, family, type) => {
    expect(faultType(kind, family)).toBe(type);
  });
});

describe('the details of a failure', () => {
  it('carry the code, the ids and the members under the names of the family', () => {
    const fault = new Fault('insufficient_permissions', 'No.', {
      meta: { requiredPermission: 'traces:view', deepValue: { innerName: 1 } },
    });
    const { info } = statusOf(fault, 'canonical');
    expect(info).toMatchObject({
      type: 'permission_denied',
      code: 'insufficient_permissions',
      ...{ traceId: IDS.traceId, spanId: IDS.spanId },
    });
    expect(info.meta).toEqual({ required_permission: 'traces:view', deep_value: { innerName: 1 } });
    expect(statusOf(fault, 'flat').info.meta).toEqual({
      requiredPermission: 'traces:view',
      deepValue: { innerName: 1 },
    });
  });

  it('say when to retry exactly when a retry can help', () => {
    const busy = statusOf(new Fault('unavailable', 'Busy.', { retryAfterSeconds: 7 }));
    expect(busy.retry[0]?.retryDelay?.seconds).toBe(7n);
    expect(busy.trailers['retry-after']).toBe('7');
    expect(statusOf(new Fault('rate_limited', 'Slow down.')).retry).toHaveLength(1);
    expect(statusOf(new Fault('payload_too_large', 'Too large.')).retry).toHaveLength(0);
    expect(statusOf(new Fault('internal_error', 'An unknown error occurred')).retry).toHaveLength(0);
  });

  it('name each broken field', () => {
    const { violations, info } = statusOf(
      validationFault('json', [
        { field: 'name', type: 'invalid_type', message: 'name is required', expected: 'string', received: 'undefined' },
        { field: 'spans.0.id', type: 'too_big', message: 'spans.0.id is too long' },
      ]),
    );
    expect(violations.map(({ field, description }) => [field, description])).toEqual([
      ['name', 'name is required'],
      ['spans.0.id', 'spans.0.id is too long'],
    ]);
    expect(info.meta).toMatchObject({ target: 'json', fields: ['name', 'spans.0.id'] });
  });
});

describe('the size of a failure', () => {
  const reason = (index: number, more: Partial<Reason>): Reason => ({
    field: `field${index}`,
    type: 'custom',
    message: `field${index} is wrong`,
    ...more,
  });

  it('gives up lists of allowed values before any reason', () => {
    const expected = Array.from({ length: 50 }, (_, index) => `allowed value number ${index}`);
    const reasons = Array.from({ length: 8 }, (_, index) => reason(index, { expected }));
    const { info, violations, bytes } = statusOf(
      validationFault('json', [...reasons, reason(8, { expected: '8 to 255 characters' })]),
    );
    expect(bytes).toBeLessThanOrEqual(4_096);
    expect(violations).toHaveLength(9);
    expect(JSON.stringify(info.meta)).not.toContain('allowed value');
    expect(JSON.stringify(info.meta)).toContain('8 to 255 characters');
  });

  it('then gives up reasons from the end, with their fields', () => {
    const reasons = Array.from({ length: 20 }, (_, index) =>
      reason(index, { message: `field${index} ${'x'.repeat(200)}` }),
    );
    const { info, violations, bytes } = statusOf(validationFault('json', reasons));
    expect(bytes).toBeLessThanOrEqual(4_096);
    expect(violations.length).toBeGreaterThan(2);
    expect(violations.length).toBeLessThan(20);
    expect(violations[0]?.field).toBe('field0');
    expect(info.meta.fields).toEqual(violations.map(({ field }) => field));
    expect(info.meta.reasons).toHaveLength(violations.length);
  });

  it('stays within the limit for any members', () => {
    const { info, bytes } = statusOf(
      new Fault('ambiguous_trace_id', 'Which?', { meta: { candidateTraceIds: ['x'.repeat(9_000)] } }),
    );
    expect(bytes).toBeLessThanOrEqual(4_096);
    expect(info.code).toBe('ambiguous_trace_id');
  });

  it('cuts the message at 1 KiB between two characters', () => {
    const { status, trailers } = statusOf(new Fault('malformed_request', `x${'€'.repeat(1_000)}`));
    expect(Buffer.byteLength(status.message)).toBeLessThanOrEqual(1_024);
    expect(Buffer.byteLength(status.message)).toBeGreaterThan(1_020);
    expect(status.message).toMatch(/^x€+$/);
    expect(decodeURIComponent(trailers['grpc-message'] ?? '')).toBe(status.message);
  });
});

describe('the trailers of a failure', () => {
  it('hold only printable ASCII, for any message', () => {
    const { trailers } = statusOf(new Fault('malformed_request', 'a b\r\nc%d é 😀 \ud800 "~'));
    for (const value of Object.values(trailers)) expect(value).toMatch(/^[ -~]*$/);
    expect(trailers['grpc-message']).toBe('a b%0D%0Ac%25d %C3%A9 %F0%9F%98%80 %EF%BF%BD "~');
  });

  it('hold binary details without padding', () => {
    for (const message of ['a', 'ab', 'abc']) {
      expect(errorTrailers(new Fault('malformed_request', message), 'flat', IDS)['grpc-status-details-bin']).toMatch(
        /^[A-Za-z0-9+/]+$/,
      );
    }
  });
});
