/**
 * Streams of health and reflection. They need no credential, so their number is limited in total, by address and by
 * connection.
 */

import type { HandlerContext } from '@connectrpc/connect';
import { Fault } from '../domain/fault.ts';
import { createCounts } from '../scheduling/semaphore.ts';
import { type Exchange, exchangeKey } from './connect-exchange.ts';

type SharesOptions = {
  readonly totalMax: number;
  readonly perAddressMax: number;
  readonly perConnectionMax: number;
};

type Holder = {
  /** Compared by identity. */
  readonly connection: object;
  readonly address: string;
};

/** No address can hold more than a quarter of the streams. */
export const WATCH_SHARES: SharesOptions = { totalMax: 1_000, perAddressMax: 250, perConnectionMax: 16 };
export const REFLECTION_SHARES: SharesOptions = { totalMax: 256, perAddressMax: 64, perConnectionMax: 4 };

type OpenStream<I, O> = (input: I, context: HandlerContext) => AsyncIterable<O>;

/** Limits how many streams of `serve` are open at once; `what` names the streams in the refusal. */
export function limitStreams<I, O>(
  serve: OpenStream<I, O>,
  what: string,
  options: SharesOptions,
): (input: I, context: HandlerContext) => AsyncGenerator<O> {
  const acquire = createShares(options);
  return async function* (input, context) {
    const release = acquire(holderOf(context));
    if (!release) throw new Fault('rate_limited', `Too many ${what} are open at once; try again.`);
    try {
      yield* serve(input, context);
    } finally {
      release();
    }
  };
}

function holderOf({ values }: HandlerContext): Holder {
  const exchange = values.get(exchangeKey);
  if (!exchange) throw new Error('the request was not announced');
  return { connection: connectionOf(exchange.request), address: exchange.origin.network ?? '' };
}

/** The session or socket of the request; the request itself once its session is gone. */
function connectionOf(request: Exchange['request']): object {
  return 'stream' in request ? (request.stream.session ?? request) : request.socket;
}

/**
 * A semaphore whose permits are also limited by address and by connection. Its function acquires a permit, and returns the
 * function that releases it; null when none is left for this holder.
 */
function createShares({ totalMax, perAddressMax, perConnectionMax }: SharesOptions) {
  const addresses = createCounts<string>();
  const connections = createCounts<object>();
  const count = ({ connection, address }: Holder, change: 1 | -1) => {
    addresses.add(address, change);
    connections.add(connection, change);
  };
  return (holder: Holder): (() => void) | null => {
    const isFull =
      addresses.total() >= totalMax ||
      addresses.of(holder.address) >= perAddressMax ||
      connections.of(holder.connection) >= perConnectionMax;
    if (isFull) return null;
    count(holder, 1);
    return () => count(holder, -1);
  };
}
