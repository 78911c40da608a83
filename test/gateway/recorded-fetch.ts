/** A fetch that keeps what passes, so that a test can tell what an unmodified client sent and got. */

export type Exchange = {
  readonly path: string;
  readonly sentHeaders: Headers;
  readonly status: number;
  readonly headers: Headers;
  /** The whole body of the answer, as it came. Rejects where it broke off. */
  readonly text: Promise<string>;
};

export type RecordedFetch = {
  readonly fetch: typeof fetch;
  readonly exchanges: readonly Exchange[];
  /** The newest. */
  last(): Exchange;
};

export function recordFetch(): RecordedFetch {
  const exchanges: Exchange[] = [];
  return {
    exchanges,
    async fetch(input, init) {
      const request = new Request(input, init);
      const answer = await fetch(input, init);
      const text = answer.clone().text();
      // Clients see the same error; only tests that ask for the text need it.
      text.catch(() => undefined);
      const { status, headers } = answer;
      exchanges.push({ path: new URL(request.url).pathname, sentHeaders: request.headers, status, headers, text });
      return answer;
    },
    last() {
      const exchange = exchanges.at(-1);
      if (exchange === undefined) throw new Error('nothing passed');
      return exchange;
    },
  };
}

export async function collect<T>(stream: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const each of stream) all.push(each);
  return all;
}
