/** Sends one request and reads the response. */

import { type ClientRequestArgs, type IncomingMessage, request } from 'node:http';
import { Socket } from 'node:net';
import { cutToCharacters } from '../domain/text-limits.ts';
import type { Stop } from './attempt-stop.ts';
import { BAD_RESPONSE, CONNECTION_RESET, type Failure, failure, SENDER_LOST } from './failure.ts';
import type { Pinned } from './http-agent.ts';
import { type Answer, isAcceptedStatus, requestFailure } from './http-verdict.ts';

type ExchangeOptions = {
  readonly request: ClientRequestArgs & Pick<Pinned, 'poolKey'>;
  readonly body: Buffer;
  readonly dial: () => Promise<Socket | Failure>;
  /** For a receiver that did not finish. */
  readonly reset: (socket: Socket) => void;
  readonly stop: Stop;
  /** Milliseconds since the start of the attempt. */
  readonly elapsedMs: () => number;
  /** Whether the body is needed even if the response is a success. */
  readonly needsText: boolean;
};

/** An idle connection was closed before a byte of the answer came: most likely the receiver closed it while it was idle. */
export const STALE = failure(CONNECTION_RESET.error);

/** The limit of all header blocks of a response, interim ones included. */
const HEAD_MAX_BYTES = 16_384;
/** Reading stops here. The last read of the socket may bring as much again, which is dropped. */
const READ_MAX_BYTES = 65_536;
/** A text goes out in one write with the headers, which costs less than a copy of a body up to this size. */
const ONE_WRITE_MAX_BYTES = 32_768;
const TEXT_MAX_CHARACTERS = 1_000;
/** A character has at most four bytes. */
const TEXT_MAX_BYTES = TEXT_MAX_CHARACTERS * 4;
/**
 * How long to wait for the rest of a body once the status is known, so that the connection can be reused. Then the
 * connection is closed, because a receiver could otherwise hold one for every attempt.
 */
const BODY_GRACE_MS = 250;
/** The same, while text is missing that the API shows. */
const TEXT_GRACE_MS = 2_000;

/**
 * The status decides as soon as the headers are complete, regardless of the body. Resolves when the connection is closed or
 * idle.
 */
export function exchange({ dial, reset, stop, elapsedMs, ...options }: ExchangeOptions): Promise<Answer | Failure> {
  return new Promise((resolve, reject) => {
    let socket: Socket | null = null;
    let readBefore = 0;
    let unreached: Failure | null = null;
    let isFinished = false;
    let answer: { readonly read: () => Answer } | null = null;

    const readBytes = () => (socket ? socket.bytesRead - readBefore : 0);
    const finish = (reason: Failure) => {
      if (isFinished) return;
      isFinished = true;
      stop.onStop(null);
      resolve(answer?.read() ?? reason);
    };
    const cut = (reason: Failure) => {
      finish(reason);
      if (socket) reset(socket);
    };
    const begin = (response: IncomingMessage) => {
      if (isFinished || !isValid(response)) return cut(BAD_RESPONSE);
      const latencyMs = elapsedMs();
      const isTextShown = options.needsText || !isAcceptedStatus(response.statusCode);
      const readText = followBody(response, { isTextShown, readBytes, cut: () => cut(BAD_RESPONSE) });
      const { statusCode: status } = response;
      answer = { read: () => ({ status, retryAfter: readRetryAfter(response), text: readText(), latencyMs }) };
    };

    const sent = startRequest(options, async () => {
      const reached = await dial().catch((error) => {
        reject(error);
        return SENDER_LOST;
      });
      if (reached instanceof Socket) return reached;
      unreached = reached;
      return new Socket();
    });
    sent.on('socket', (given) => {
      if (unreached) {
        finish(unreached);
        given.destroy();
        return;
      }
      socket = given;
      readBefore = given.bytesRead;
      stop.onStop(cut);
    });
    sent.on('information', () => {
      if (readBytes() > HEAD_MAX_BYTES) cut(BAD_RESPONSE);
    });
    sent.on('upgrade', (response) => {
      begin(response);
      cut(BAD_RESPONSE);
    });
    sent.on('response', (response) => {
      begin(response);
      response.on('end', () => {
        if (!sent.writableFinished || !hasOneLength(response)) cut(BAD_RESPONSE);
      });
    });
    sent.on('error', (error) => {
      if (sent.reusedSocket && readBytes() === 0) cut(STALE);
      else cut(requestFailure(error, readBytes() > 0));
    });
    // After a complete response, the connection is idle or closed now.
    sent.on('close', () => finish(BAD_RESPONSE));
  });
}

function startRequest({ request: options, body }: Pick<ExchangeOptions, 'request' | 'body'>, dial: Pinned['dial']) {
  const pinned: ClientRequestArgs & Pinned = {
    ...options,
    dial,
    // Receivers may fold headers and end lines with LF (RFC 9112, 2.2 and 5.2). What the parser allows beyond, `isValid` refuses.
    insecureHTTPParser: true,
    maxHeaderSize: HEAD_MAX_BYTES,
  };
  const sent = request(pinned);
  if (body.length > ONE_WRITE_MAX_BYTES) sent.end(body);
  else sent.end(body.toString('latin1'), 'latin1');
  return sent;
}

type Following = {
  readonly isTextShown: boolean;
  /** Bytes of the response so far. */
  readonly readBytes: () => number;
  readonly cut: () => void;
};

/** Keeps the first characters of the body, and cuts one that is slow or long. */
function followBody(response: IncomingMessage, { isTextShown, readBytes, cut }: Following): () => string {
  const pieces: Buffer[] = [];
  let keptBytes = 0;
  let grace = setTimeout(cut, isTextShown ? TEXT_GRACE_MS : BODY_GRACE_MS);
  const keep = (kept: Buffer) => {
    if (kept.length === 0) return;
    pieces.push(kept);
    keptBytes += kept.length;
    if (!isTextShown || keptBytes < TEXT_MAX_BYTES) return;
    clearTimeout(grace);
    grace = setTimeout(cut, BODY_GRACE_MS);
  };
  response.on('data', (bytes: Buffer) => {
    keep(bytes.subarray(0, TEXT_MAX_BYTES - keptBytes));
    if (readBytes() >= READ_MAX_BYTES) cut();
  });
  response.on('error', cut);
  response.on('close', () => clearTimeout(grace));
  return () => cutToCharacters(Buffer.concat(pieces).toString('utf8').replaceAll('\0', ''), TEXT_MAX_CHARACTERS);
}

/** Refuses what a lenient parser accepts and RFC 9112 and 9110 (5.5) do not. */
function isValid(response: IncomingMessage): response is IncomingMessage & { statusCode: number } {
  const { httpVersionMajor, httpVersionMinor, statusCode = 0, rawHeaders } = response;
  if (httpVersionMajor !== 1 || httpVersionMinor > 1 || statusCode < 100) return false;
  return rawHeaders.every((text) => !text.includes('\0'));
}

/** With two ways to mark its end, proxies may disagree about where the body ends. */
function hasOneLength({ rawHeaders }: IncomingMessage): boolean {
  const isFraming = (text: string, index: number) => index % 2 === 0 && FRAMING.test(text);
  return rawHeaders.filter(isFraming).length <= 1;
}

const FRAMING = /^(content-length|transfer-encoding)\s*$/i;

function readRetryAfter(response: IncomingMessage & { statusCode: number }): string | null {
  // A success needs none, and the headers are parsed only when they are read.
  if (isAcceptedStatus(response.statusCode)) return null;
  return response.headersDistinct['retry-after']?.join(',') ?? null;
}
