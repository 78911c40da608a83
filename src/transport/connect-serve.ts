/** Passes one HTTP exchange through the Connect library. */

import { AsyncLocalStorage } from 'node:async_hooks';
import { Readable } from 'node:stream';
import type { ConnectError, ContextValues } from '@connectrpc/connect';
import type { UniversalHandler, UniversalServerResponse } from '@connectrpc/connect/protocol';
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from '@connectrpc/connect-node';
import type { RunCooperatively } from '../domain/steps.ts';
import { toFault } from '../rpc/invoke.ts';
import { refusalKey, shapeKey, toConnectError } from './connect-errors.ts';
import { type Exchange, isDisconnected } from './connect-exchange.ts';
import { checkMessages } from './connect-json.ts';
import { refuseRpc } from './connect-refusal.ts';
import { createGrowingBuffer } from './growing-buffer.ts';
import type { ReadBudget } from './read-budget.ts';
import { type ResponseWatch, responseSinkOf } from './response-watch.ts';
import { isGrpc } from './rpc-request.ts';
import { percentEncode } from './status.ts';

/** Before a message of gRPC: whether it is compressed, and its length. */
const PREFIX_BYTES = 5;
const MESSAGE_TRAILER = 'grpc-message';

type Running = { readonly exchange: Exchange; readonly values: ContextValues };

type ExchangeTools = {
  readonly values: ContextValues;
  readonly responses: ResponseWatch;
  readonly reading: ReadBudget;
  /** Resolves in a turn of the event loop of its own. */
  readonly yieldToEventLoop: () => Promise<void>;
  readonly runCooperatively: RunCooperatively;
};

/** The library decompresses messages without saying of which exchange they are. */
const running = new AsyncLocalStorage<Running>();

/**
 * Does what connectNodeAdapter does, with three differences: a client that hangs up is not logged, a deadline also ends
 * the wait for a body, and the bytes of bodies and responses are counted against quotas.
 */
export async function runExchange(
  handler: UniversalHandler,
  exchange: Exchange,
  { values, responses, reading, yieldToEventLoop, runCooperatively }: ExchangeTools,
): Promise<void> {
  const { request, response } = exchange;
  exchange.bodyEnd.promise.catch(() => {});
  try {
    const universal = universalRequestFromNodeRequest(request, response, undefined, values);
    // The library may get a shorter body than the client announced.
    universal.header.delete('content-length');
    // The library knows gzip by one name.
    if (universal.header.get('content-encoding')?.toLowerCase() === 'x-gzip')
      universal.header.set('content-encoding', 'gzip');
    const answer = await running.run({ exchange, values }, async () => {
      const body = yieldOnDisconnect(exchange, readBody({ exchange, values }, reading), yieldToEventLoop);
      const answered = await checkMessages(
        request,
        { values, runCooperatively, method: exchange.method },
        body,
        (checked) => handler({ ...universal, body: checked }),
      );
      const isReplaced = values.get(refusalKey) !== null && !isDisconnected(exchange);
      // A refusal ends the call before its body is read, in the protocol of the call.
      const spelled = reencodeTrailer(isReplaced ? await handler({ ...universal, body: Readable.from([]) }) : answered);
      return exchange.method?.kind === 'unary' && spelled.body
        ? budgetResponse({ exchange, responses }, spelled)
        : spelled;
    });
    if (!answer) return;
    exchange.report.finish(answer.status);
    if (isDisconnected(exchange)) throw hangUp();
    await universalResponseToNodeResponse(answer, response);
  } catch (error) {
    exchange.origin.quota.release();
    if (!isHangUp(error)) process.emitWarning(error instanceof Error ? error : new Error(String(error)));
    response.destroy();
  }
}

/** Counts bytes of the body that is being read or decompressed. Throws the error that the library sends to the client. */
export function countBody(bytes: number, at: Running | undefined = running.getStore()): void {
  if (!at?.exchange.method) return;
  try {
    at.exchange.origin.quota.receive(bytes);
  } catch (error) {
    const shape = at.values.get(shapeKey);
    throw shape ? toConnectError(toFault(error), shape) : error;
  }
}

/** Whether the client of the running exchange has disconnected. */
export function isAbandoned(): boolean {
  return running.getStore()?.exchange.response.destroyed === true;
}

/**
 * Escapes the error message as gRPC does: the library escapes more, which clients do not undo. The trailers are complete
 * only after the body.
 */
function reencodeTrailer(answered: UniversalServerResponse): UniversalServerResponse {
  const { body, trailer } = answered;
  if (trailer === undefined) return answered;
  const spelled = new Headers();
  return { ...answered, body: endWith(body ?? [], () => copyTrailer(trailer, spelled)), trailer: spelled };
}

async function* endWith(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  onEnd: () => void,
): AsyncGenerator<Uint8Array> {
  yield* body;
  onEnd();
}

function copyTrailer(from: Headers, to: Headers): void {
  for (const [name, value] of from) {
    to.append(name, name === MESSAGE_TRAILER ? percentEncode(decodeURIComponent(value)) : value);
  }
}

type Counting = { readonly exchange: Exchange; readonly responses: ResponseWatch };

/** Buffers a unary response, which the library has whole already, and counts its bytes; null where it was refused. */
async function budgetResponse(
  { exchange, responses }: Counting,
  answered: UniversalServerResponse,
): Promise<UniversalServerResponse | null> {
  const { origin, method, response } = exchange;
  const chunks: Uint8Array[] = [];
  for await (const chunk of answered.body ?? []) chunks.push(chunk);
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  try {
    responses.send({ quota: origin.quota, sink: responseSinkOf(response), bytes, force: !method?.isRead });
  } catch (error) {
    origin.quota.release();
    refuseRpc(exchange, toFault(error));
    return null;
  }
  return { ...answered, body: Readable.from(chunks, { objectMode: true }) };
}

/** Spreads the cleanup of clients that disconnect together over turns of the event loop. */
async function* yieldOnDisconnect(
  exchange: Exchange,
  body: AsyncIterable<Uint8Array>,
  yieldToEventLoop: ExchangeTools['yieldToEventLoop'],
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    if (isDisconnected(exchange)) await yieldToEventLoop();
    throw error;
  }
}

/**
 * Yields the chunks of health and reflection as they arrive, and the message of every other rpc whole: the library scans all
 * chunks it holds again with each new one.
 */
async function* readBody(at: Running, reading: ReadBudget): AsyncGenerator<Uint8Array> {
  const { request, bodyEnd, method } = at.exchange;
  // Ending the loop early must not close the connection, which still has to carry the response.
  const chunks = request.iterator({ destroyOnReturn: false });
  const message = createGrowingBuffer();
  let announcedBytes: number | null = method && isGrpc(request.headers['content-type'] ?? '') ? null : 0;
  let turn: Promise<void> = Promise.resolve();
  const readNext = () => turn.then(() => chunks.next());
  for (;;) {
    const next: IteratorResult<Buffer> = await Promise.race([readNext(), bodyEnd.promise]);
    if (next.done) break;
    countBody(next.value.length, at);
    if (!method) {
      yield next.value;
      continue;
    }
    message.add(next.value);
    if (announcedBytes === null && message.size() >= PREFIX_BYTES) announcedBytes = message.bytes().readUInt32BE(1);
    // The library refuses a message that is too large from this much of it.
    if (Math.max(message.size() - PREFIX_BYTES, announcedBytes ?? 0) > method.sizeMaxBytes) break;
    const bytes = next.value.length;
    turn = new Promise((goOn) => {
      if (reading.spend(bytes, message.size(), goOn)) goOn();
    });
  }
  if (isDisconnected(at.exchange)) throw hangUp();
  if (message.size() > 0) yield message.bytes();
}

function hangUp(): Error {
  return Object.assign(new Error('the caller left before its message was complete'), { code: 'ECONNRESET' });
}

/** Errors of streams and sockets carry a code of Node's; bugs do not. */
function isHangUp(error: unknown): boolean {
  const cause = (error as ConnectError).cause ?? error;
  return typeof (cause as NodeJS.ErrnoException).code === 'string';
}
