import { describe, expect, it } from 'vitest';
import { describeRefusal, isCredentialFault } from '../../src/delivery/sqs-refusal.ts';

const failure = (fields: object) => Object.assign(new Error('connect 10.0.0.1:443'), fields);

describe('a failure during an attempt', () => {
  it.each([
    ['EMFILE', 'connect_failed', { isSenderFault: true }],
    ['ENFILE', 'connect_failed', { isSenderFault: true }],
    ['EADDRNOTAVAIL', 'connect_failed', { isSenderFault: true }],
    ['ECONNREFUSED', 'connect_failed', { isSenderFault: false }],
    ['ENETUNREACH', 'connect_failed', { isSenderFault: false }],
    ['EAI_AGAIN', 'dns_failed', { isSenderFault: false }],
    ['ENOTFOUND', 'dns_failed', { isSenderFault: false }],
    ['EPIPE', 'connection_reset', { isSenderFault: false }],
    ['ETIMEDOUT', 'timeout', { isSenderFault: false }],
    ['CERT_HAS_EXPIRED', 'tls_failed: CERT_HAS_EXPIRED', { terminalHint: true }],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls_failed: ERR_TLS_CERT_ALTNAME_INVALID', { terminalHint: true }],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls_failed: UNABLE_TO_VERIFY_LEAF_SIGNATURE', { terminalHint: true }],
    ['EPROTO', 'tls_failed: EPROTO', { terminalHint: false }],
    ['HPE_INVALID_CONSTANT', 'bad_response', { terminalHint: false }],
  ])('with the code %s becomes %s, regardless of the name of the SDK', (code, error, more) => {
    expect(describeRefusal(failure({ code, name: 'TimeoutError' }), [])).toMatchObject({ error, ...more });
    expect(isCredentialFault(failure({ code }))).toBe(false);
  });

  it('without a known name is still reported, and no thrown value breaks it', () => {
    expect(describeRefusal(new Error('InvalidChecksumError'), [])).toMatchObject({
      error: 'Error: InvalidChecksumError',
    });
    for (const thrown of [null, undefined, 'text', 7, {}]) {
      expect(describeRefusal(thrown, [])).toMatchObject({ kind: 'refused', error: 'Error: ', isSenderFault: false });
    }
  });
});

describe('an answer', () => {
  it('never shows a hidden secret, even when it is cut', () => {
    const secret = 'a+b/c$&';
    const long = `${'x '.repeat(245)}${secret}${secret}`;
    const { error } = describeRefusal(failure({ name: 'Odd', $fault: 'client', message: long }), [secret, '']);
    expect(error).not.toContain('a+b');
    expect(error.length).toBeLessThanOrEqual(500);
  });

  it.each([
    ['ExpiredToken', 400, true],
    ['ExpiredTokenException', 400, true],
    ['InvalidClientTokenId', 403, true],
    ['Whatever', 403, true],
    ['Whatever', 401, true],
    ['ThrottlingException', 400, false],
    ['QueueDoesNotExist', 400, false],
    ['InternalFailure', 500, false],
  ])('%s with status %d puts the credentials in doubt: %s', (name, httpStatusCode, expected) => {
    const error = failure({ name, $fault: 'client', Code: name, $metadata: { httpStatusCode } });
    expect(isCredentialFault(error)).toBe(expected);
  });
});
