/** Reads one request body within its limits: size on the wire, size decoded, time between chunks. */

import { Fault, unavailableFault } from '../../domain/fault.ts';
import { malformed } from '../../json/json-text.ts';
import { createGrowingBuffer } from '../growing-buffer.ts';
import type { ReadBudget } from '../read-budget.ts';
import type { BodyWatch } from './body-watch.ts';
import type { RestRequest } from './exchange.ts';
import type { Encoding, Inflate } from './inflate.ts';

const ACCEPTED_ENCODINGS = 'identity, gzip, deflate, br';

export type BodyLimits = {
  readonly sizeMaxBytes: number;
  readonly watch: BodyWatch;
  readonly inflate: Inflate;
  /** The caller, for whom bodies are decompressed. */
  readonly owner: () => string;
  /** Called with the size of every chunk before it is kept; throws where there is no room for it. */
  readonly onBytes: (bytes: number) => void;
  readonly reading: ReadBudget;
};

/** Refuses a declared length over the limit, before the credential is checked. */
export function checkDeclaredLength(request: RestRequest, sizeMaxBytes: number): void {
  const declared = request.headers['content-length'];
  if (declared !== undefined && Number(declared) > sizeMaxBytes) throw tooLarge(sizeMaxBytes);
}

/** The decoded body. Memory stays within the limit, for any compression ratio. */
export function readBody(request: RestRequest, limits: BodyLimits): Promise<Buffer> {
  const encoding = contentEncoding(request);
  return encoding === 'identity' ? readRaw(request, limits) : readEncoded(request, encoding, limits);
}

async function readEncoded(request: RestRequest, encoding: Encoding, limits: BodyLimits): Promise<Buffer> {
  const raw = await readRaw(request, limits);
  if (raw.length === 0) return raw;
  const decoded = await limits.inflate(raw, encoding, { sizeMaxBytes: limits.sizeMaxBytes, owner: limits.owner() });
  if (decoded === 'too_large') throw tooLarge(limits.sizeMaxBytes);
  if (decoded === 'busy') throw unavailableFault('Too many compressed bodies are being read; try again.', 1);
  if (decoded === 'broken') throw malformed('The compressed request body is broken.', 'broken compression');
  limits.onBytes(decoded.length);
  return decoded;
}

/** Refuses a body that is not declared as JSON, or is declared in another charset than UTF-8. */
export function checkJsonMediaType(contentType: string | undefined): void {
  if (contentType === 'application/json') return;
  if (!isJsonMediaType(contentType)) {
    throw malformed('The request body must be sent as application/json.', 'not a JSON media type');
  }
  const [, ...parameters] = (contentType ?? '').split(';');
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=');
    if (name.trim().toLowerCase() !== 'charset') continue;
    if (!/^"?utf-?8"?$/i.test(value.trim())) throw malformed('The request body must be UTF-8.', 'charset is not UTF-8');
  }
}

/** Ignores the parameters of the type. */
export function isJsonMediaType(contentType: string | undefined): boolean {
  const [media = ''] = (contentType ?? '').split(';', 1);
  return /^\s*application\/([a-z0-9!#$&^_.+-]+\+)?json\s*$/i.test(media);
}

/** Recipients treat x-gzip as gzip (RFC 9110, 8.4.1.3). */
function contentEncoding(request: RestRequest): 'identity' | Encoding {
  const sent = request.headers['content-encoding'];
  if (sent === undefined || sent === '') return 'identity';
  const encoding = sent
    .trim()
    .toLowerCase()
    .replace(/^x-gzip$/, 'gzip');
  if (encoding === 'identity' || encoding === 'gzip' || encoding === 'deflate' || encoding === 'br') return encoding;
  throw new Fault('unsupported_encoding', 'The content encoding is not supported.', {
    headers: { 'accept-encoding': ACCEPTED_ENCODINGS },
  });
}

function readRaw(request: RestRequest, { sizeMaxBytes, watch, onBytes, reading }: BodyLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let held = createGrowingBuffer();
    // The listeners stay until the request is gone: taking them off would cost a small body more than reading it.
    let isOver = false;
    const finish = () => {
      isOver = true;
      watch.end(request);
    };
    const fail = (error: unknown) => {
      finish();
      held = createGrowingBuffer();
      reject(error);
    };
    const goOn = () => {
      if (!isOver) request.resume();
    };
    const onData = (chunk: Buffer) => {
      if (isOver) return;
      try {
        if (held.size() + chunk.length > sizeMaxBytes) throw tooLarge(sizeMaxBytes);
        onBytes(chunk.length);
      } catch (error) {
        request.pause();
        fail(error);
        return;
      }
      watch.touch(request);
      held.add(chunk);
      if (!reading.spend(chunk.length, held.size(), goOn)) request.pause();
    };
    const onEnd = () => {
      if (isOver) return;
      finish();
      resolve(held.bytes());
    };
    // Every request closes in the end, so the error is created only if its body was lost.
    const onLost = () => {
      if (!isOver) fail(malformed('The request body ended early.', 'connection lost'));
    };
    request.on('data', onData).on('end', onEnd).on('error', onLost).on('close', onLost);
    watch.begin(request, () => {
      if (!isOver) fail(new Fault('request_timeout', 'The request body did not arrive in time.'));
    });
    // The client may have disconnected while its credential was checked, and the events of that have passed.
    if (request.destroyed) onLost();
  });
}

function tooLarge(sizeMaxBytes: number): Fault {
  return new Fault('payload_too_large', `The request body is larger than ${sizeMaxBytes} bytes.`, {
    meta: { limitBytes: sizeMaxBytes },
  });
}
