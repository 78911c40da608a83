/** Passes the bytes of an answer on, as fast as the caller takes them. */

import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import type { Readable } from 'node:stream';
import type { HoldMemory } from '../domain/gateway/dialects/held-bytes.ts';

/** What a caller is answered through. */
export type CallerResponse = ServerResponse | Http2ServerResponse;

/** Whether nobody can be answered any more. A response of HTTP/2 does not tell it itself, and a lost one never closes. */
export function isGone(response: CallerResponse): boolean {
  return 'stream' in response ? response.stream.destroyed : response.destroyed || response.socket === null;
}

/** `too_large`: an answer that is held back as a whole has more bytes than may be held. */
export type RelayEnd = 'complete' | 'caller_left' | 'provider_broke' | 'too_large';

type RelayOptions = {
  readonly response: CallerResponse;
  /** Writes the head; called before the first bytes. */
  readonly begin: () => void;
  /** Returns the bytes for the caller. */
  readonly read: (part: Buffer) => Buffer;
  /** What is kept back: the last bytes, for an answer that is complete with them, or all of them. */
  readonly holds: 'nothing' | 'last' | 'all';
  readonly holdMemory: HoldMemory;
};

export type Relayed = { readonly end: RelayEnd; readonly held: readonly Buffer[] };

const HELD_MAX_BYTES = 8 * 1024 * 1024;

/** Rejects when what came cannot be read or written. The response stays open. */
export function relay(body: Readable, { response, begin, read, holds, holdMemory }: RelayOptions): Promise<Relayed> {
  const { promise, resolve, reject } = Promise.withResolvers<Relayed>();
  const held: Buffer[] = [];
  let heldBytes = 0;
  const goOn = () => body.resume();
  const onClose = () => finish('caller_left');

  function finish(end: RelayEnd): void {
    response.off('close', onClose).off('drain', goOn);
    body.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
    // Errors may still follow, and nobody else listens.
    body.on('error', () => undefined);
    if (end !== 'complete') body.destroy();
    resolve({ end, held });
  }

  function write(bytes: Buffer): void {
    if (!response.headersSent) begin();
    if (!(response as ServerResponse).write(bytes)) body.pause();
  }

  /** An error that is thrown to an emitter would end the process. */
  function onData(part: Buffer): void {
    try {
      take(part);
    } catch (error) {
      reject(error);
      finish('provider_broke');
    }
  }

  function take(part: Buffer): void {
    const bytes = read(part);
    if (bytes.length === 0) return;
    if (holds === 'nothing') {
      write(bytes);
      return;
    }
    const [last] = holds === 'last' ? held.splice(0) : [];
    if (last !== undefined) write(last);
    held.push(bytes);
    heldBytes += bytes.length;
    if (holds === 'all' && (heldBytes > HELD_MAX_BYTES || !holdMemory(bytes.length))) finish('too_large');
  }

  const onEnd = () => finish('complete');
  const onBroken = () => finish('provider_broke');
  if (isGone(response)) {
    finish('caller_left');
    return promise;
  }
  // It broke while the request was being admitted: its events are over, and nobody listened.
  if (body.destroyed) {
    finish('provider_broke');
    return promise;
  }
  response.on('close', onClose).on('drain', goOn);
  body.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
  return promise;
}
