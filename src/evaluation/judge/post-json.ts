/** Posts JSON to the configured endpoint once: with a time limit and a size limit, and without redirects. */

export type Exchanged =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly text: string;
      readonly retryAfter: string | null;
    }
  | { readonly kind: 'timeout'; readonly afterMs: number }
  /** The reason contains no addresses, which users may not see. `isSent`: the endpoint may have got the request. */
  | { readonly kind: 'broken'; readonly reason: string; readonly isSent: boolean };

export type PostJson = (body: string, signal: AbortSignal) => Promise<Exchanged>;

type EndpointOptions = {
  readonly url: string;
  /** Null: no authorization is sent. */
  readonly apiKey: string | null;
  readonly timeoutMs: number;
};

/** Far more than a judgement of a few sentences takes. */
const RESPONSE_MAX_BYTES = 1_048_576;

export function createPostJson({ url, apiKey, timeoutMs }: EndpointOptions): PostJson {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
  };
  // An endpoint may echo the request: the key must not become visible to users.
  const hide = (text: string) => (apiKey === null ? text : text.replaceAll(apiKey, '***'));
  return async (body, signal) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers,
        body,
        // The key is sent to this address only.
        redirect: 'manual',
        signal: AbortSignal.any([signal, timeout]),
      });
      const text = await readCapped(answer);
      if (text === null) return brokenBy(`The answer is larger than ${RESPONSE_MAX_BYTES} bytes.`);
      return {
        kind: 'answered',
        status: answer.status,
        text: hide(text),
        retryAfter: answer.headers.get('retry-after'),
      };
    } catch (error) {
      if (signal.aborted) return brokenBy('The run was stopped.');
      if (timeout.aborted) return { kind: 'timeout', afterMs: timeoutMs };
      const code = codeOf(error);
      return brokenBy(`No connection to the LLM endpoint: ${code ?? 'it broke'}`, !UNSENT.has(code ?? ''));
    }
  };
}

/** Null beyond the limit, which applies after decompression. */
async function readCapped({ body }: Response): Promise<string | null> {
  if (body === null) return '';
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.byteLength;
    // Leaving the loop cancels the response.
    if (bytes > RESPONSE_MAX_BYTES) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** Failures before a connection exists: the endpoint has not seen the request. */
const UNSENT = new Set([
  ...['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'],
  ...['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID', 'SELF_SIGNED_CERT_IN_CHAIN'],
]);

function brokenBy(reason: string, isSent = true): Exchanged {
  return { kind: 'broken', reason, isSent };
}

/** The code of the failed connection, for example ECONNREFUSED. */
function codeOf(error: unknown): string | null {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : null;
}
