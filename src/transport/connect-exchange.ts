/** One HTTP exchange on its way through the Connect library, and back. */

import { AsyncLocalStorage } from 'node:async_hooks';
import { Readable } from 'node:stream';
import { type ConnectError, type ContextValues, createContextKey } from '@connectrpc/connect';
import type { UniversalHandler, UniversalServerResponse } from '@connectrpc/connect/protocol';
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from '@connectrpc/connect-node';
import type { TakeSteps } from '../domain/steps.ts';
import { toFault } from '../rpc/invoke.ts';
import type { CallIds, Method } from '../rpc/method.ts';
import { type AnswerWatch, outletOf } from './answer-watch.ts';
import type { ExchangeEnd } from './connect-end.ts';
import { shapeKey, toConnectError } from './connect-errors.ts';
import { checkMessages } from './connect-json.ts';
import { refuseRpc } from './connect-refusal.ts';
import { createGrowingBuffer } from './growing-buffer.ts';
import type { Origin } from './origin.ts';
import type { ReadBudget } from './read-budget.ts';
import { isGrpc } from './rpc-request.ts';
import type { HttpHandler } from './server.ts';
import { percentEncode } from './status.ts';

export type Exchange = {
  readonly request: Parameters<HttpHandler>[0];
  readonly response: Parameters<HttpHandler>[1];
  readonly header: (name: string) => string | undefined;
  readonly ids: CallIds;
  readonly origin: Origin;
  /** Undefined for health and reflection. */
  readonly method: Method | undefined;
  /** Rejects whoever waits for the rest of the body. */
  readonly bodyEnd: PromiseWithResolvers<never>;
  readonly end: ExchangeEnd;
};

export const exchangeKey = createContextKey<Exchange | null>(null);

/** Before a message of gRPC: whether it is compressed, and its length. */
const PREFIX_BYTES = 5;
const MESSAGE_TRAILER = 'grpc-message';

type Running = { readonly exchange: Exchange; readonly values: ContextValues };

export type ExchangeTools = {
  readonly values: ContextValues;
  readonly answers: AnswerWatch;
  readonly reading: ReadBudget;
  /** Gives away turns of the event loop. */
  readonly takeTurn: () => Promise<void>;
  readonly takeSteps: TakeSteps;
};

/** The library unpacks messages without saying whose they are. */
const running = new AsyncLocalStorage<Running>();

/**
 * What connectNodeAdapter would do, except that its log has a line for every client that hangs up, that a deadline
 * could not reach a body that does not come, and that bodies and answers count for whoever sends and takes them.
 */
export async function runExchange(
  handler: UniversalHandler,
  exchange: Exchange,
  { values, answers, reading, takeTurn, takeSteps }: ExchangeTools,
): Promise<void> {
  const { request, response } = exchange;
  exchange.bodyEnd.promise.catch(() => {});
  try {
    const universal = universalRequestFromNodeRequest(request, response, undefined, values);
    // The body that the library gets may be shorter than the one that was announced.
    universal.header.delete('content-length');
    const answer = await running.run({ exchange, values }, async () => {
      const body = inTurnsWhereLeft(exchange, readUntilStopped({ exchange, values }, reading), takeTurn);
      const answered = await checkMessages(request, { values, takeSteps, method: exchange.method }, body, (checked) =>
        handler({ ...universal, body: checked }),
      );
      const spelled = spellTrailer(answered);
      return exchange.method?.kind === 'unary' && spelled.body ? countAnswer({ exchange, answers }, spelled) : spelled;
    });
    if (!answer) return;
    exchange.end.tell(answer.status);
    if (hasLeft(exchange)) throw hangUp();
    await universalResponseToNodeResponse(answer, response);
  } catch (error) {
    exchange.origin.quota.release();
    if (!isHangUp(error)) process.emitWarning(error instanceof Error ? error : new Error(String(error)));
    response.destroy();
  }
}

/** Counts bytes of the body that is being read or unpacked here; throws what the library tells the caller. */
export function countBody(bytes: number, at: Running | undefined = running.getStore()): void {
  if (!at?.exchange.method) return;
  try {
    at.exchange.origin.quota.receive(bytes);
  } catch (error) {
    const shape = at.values.get(shapeKey);
    throw shape ? toConnectError(toFault(error), shape) : error;
  }
}

/** Whether nobody waits any more for what is read or unpacked here. */
export function isAbandoned(): boolean {
  return running.getStore()?.exchange.response.destroyed === true;
}

/** The library escapes more of a message than gRPC asks for, and than its clients undo. Trailers are known at the end. */
function spellTrailer(answered: UniversalServerResponse): UniversalServerResponse {
  const { trailer } = answered;
  if (trailer === undefined) return answered;
  const spelled = () => {
    const message = trailer.get(MESSAGE_TRAILER);
    if (message !== null) trailer.set(MESSAGE_TRAILER, percentEncode(decodeURIComponent(message)));
    return trailer;
  };
  return Object.defineProperty({ ...answered }, 'trailer', { get: spelled });
}

type Counting = { readonly exchange: Exchange; readonly answers: AnswerWatch };

/** The answer with its whole body at hand, as answers of unary rpcs are anyway; null where it was refused instead. */
async function countAnswer(
  { exchange, answers }: Counting,
  answered: UniversalServerResponse,
): Promise<UniversalServerResponse | null> {
  const { origin, method, response } = exchange;
  const chunks: Uint8Array[] = [];
  for await (const chunk of answered.body ?? []) chunks.push(chunk);
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  try {
    answers.send({ quota: origin.quota, outlet: outletOf(response), bytes, must: !method?.isRead });
  } catch (error) {
    origin.quota.release();
    refuseRpc(exchange, toFault(error));
    return null;
  }
  return { ...answered, body: Readable.from(chunks, { objectMode: true }) };
}

/** Callers that leave together are seen to one by one. */
async function* inTurnsWhereLeft(
  exchange: Exchange,
  body: AsyncIterable<Uint8Array>,
  takeTurn: ExchangeTools['takeTurn'],
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    if (hasLeft(exchange)) await takeTurn();
    throw error;
  }
}

/**
 * The pieces of a stream as they come, and the message of an rpc in one piece: the library would look at all pieces it
 * holds again with each that comes.
 */
async function* readUntilStopped(at: Running, reading: ReadBudget): AsyncGenerator<Uint8Array> {
  const { request, bodyEnd, method } = at.exchange;
  // Leaving early must not take the connection along, which still has to carry the answer.
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
    // The library refuses what is too large as soon as it sees that much.
    if (Math.max(message.size() - PREFIX_BYTES, announcedBytes ?? 0) > method.sizeMaxBytes) break;
    const bytes = next.value.length;
    turn = new Promise((goOn) => {
      if (reading.spend(bytes, message.size(), goOn)) goOn();
    });
  }
  if (hasLeft(at.exchange)) throw hangUp();
  if (message.size() > 0) yield message.bytes();
}

/** Over HTTP/2 leaving looks like an end of the body. To understand what nobody waits for any more could take long. */
export function hasLeft({ request, response }: Exchange): boolean {
  const isStreamGone = 'stream' in request && request.stream.destroyed;
  return isStreamGone || request.aborted || response.writableEnded || response.destroyed === true;
}

function hangUp(): Error {
  return Object.assign(new Error('the caller left before its message was complete'), { code: 'ECONNRESET' });
}

/** Errors of streams and sockets carry a code of Node's; bugs do not. */
function isHangUp(error: unknown): boolean {
  const cause = (error as ConnectError).cause ?? error;
  return typeof (cause as NodeJS.ErrnoException).code === 'string';
}
