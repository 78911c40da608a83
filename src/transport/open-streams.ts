/**
 * Streams of health and reflection. Nobody proves a credential for them, so what one connection and one address can
 * hold open is bounded, beside the whole.
 */

import type { HandlerContext } from '@connectrpc/connect';
import { Fault } from '../domain/fault.ts';
import { type Exchange, exchangeKey } from './connect-exchange.ts';
import { createShares, type Holder, type SharesOptions } from './shares.ts';

/** No address can take more than a quarter of them. */
export const WATCH_SHARES: SharesOptions = { totalMax: 1_000, perAddressMax: 250, perConnectionMax: 16 };
export const REFLECTION_SHARES: SharesOptions = { totalMax: 256, perAddressMax: 64, perConnectionMax: 4 };

type OpenStream<I, O> = (input: I, context: HandlerContext) => AsyncIterable<O>;

/** `serve` for as many streams at once as `options` allow; `what` names them to whoever is refused. */
export function limitStreams<I, O>(
  serve: OpenStream<I, O>,
  what: string,
  options: SharesOptions,
): (input: I, context: HandlerContext) => AsyncGenerator<O> {
  const shares = createShares(options);
  return async function* (input, context) {
    const release = shares.acquire(holderOf(context));
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

/** A stream that has lost its connection counts for itself, until that is noticed. */
function connectionOf(request: Exchange['request']): object {
  return 'stream' in request ? (request.stream.session ?? request) : request.socket;
}
