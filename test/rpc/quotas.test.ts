import { describe, expect, it } from 'vitest';
import { type Amounts, createQuotas } from '../../src/rpc/quotas.ts';

const LIMITS: Amounts = { arriving: 8, inFlight: 8, bodyBytes: 800, responseBytes: 800 };
const NOTHING: Amounts = { arriving: 0, inFlight: 0, bodyBytes: 0, responseBytes: 0 };
const REFUSED = { code: 'unavailable', retryAfterSeconds: 1 };

function createFixture(limits: Partial<Amounts> = {}) {
  const quotas = createQuotas({ ...LIMITS, ...limits });
  const open = (address: string, hasBody = true) => quotas.open({ address, hasBody });
  /** A request that has begun. */
  const begin = (address: string, hasBody = true) => {
    const quota = open(address, hasBody);
    quota.begin();
    return quota;
  };
  return { quotas, open, begin };
}

function faultOf(act: () => void): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('it was let in');
}

describe('slots', () => {
  it('are limited to a quarter for each address', () => {
    const { begin, open } = createFixture();
    const held = [begin('a'), begin('a')];
    expect(faultOf(() => open('a').begin())).toMatchObject(REFUSED);
    begin('b');
    held[0]?.finish();
    begin('a');
  });

  it('are limited to a quarter for each credential, from any address', () => {
    const { begin } = createFixture();
    for (const address of ['a', 'b']) begin(address).identify('key');
    const third = begin('c');
    expect(faultOf(() => third.identify('key'))).toMatchObject(REFUSED);
    third.identify('other');
  });

  it('of requests with arriving bodies are separate from those of requests in work', () => {
    const { quotas, begin, open } = createFixture();
    const slow = [begin('a'), begin('a')];
    expect(quotas.held()).toEqual({ ...NOTHING, arriving: 2 });
    begin('a', false);
    slow[0]?.start();
    expect(quotas.held()).toEqual({ ...NOTHING, arriving: 1, inFlight: 2 });
    expect(faultOf(() => slow[1]?.start())).toMatchObject(REFUSED);
    expect(faultOf(() => open('a', false).begin())).toMatchObject(REFUSED);
  });

  it('run out for everybody together, and no body is awaited then', () => {
    const { begin, open } = createFixture();
    for (const address of ['a', 'b', 'c', 'd']) for (const _ of [1, 2]) begin(address, false);
    expect(faultOf(() => open('e', false).begin())).toMatchObject(REFUSED);
    expect(faultOf(() => open('e').begin())).toMatchObject(REFUSED);
  });

  it('come back from requests that ended, however they ended', () => {
    const { quotas, begin, open } = createFixture();
    for (let round = 0; round < 50; round += 1) {
      const quota = begin('a');
      quota.identify('key');
      quota.receive(100);
      if (round % 3 > 0) quota.start();
      if (round % 3 > 1) quota.addResponse(100);
      quota.finish();
      quota.release();
      begin('a').finish();
    }
    open('a');
    expect(quotas.held()).toEqual(NOTHING);
  });
});

describe('bytes', () => {
  it('of bodies are held by one caller up to a quarter, unless there is nothing else of it', () => {
    const { begin } = createFixture();
    const large = begin('a');
    large.receive(700);
    expect(faultOf(() => begin('a').receive(1))).toMatchObject(REFUSED);
    begin('b').receive(100);
    expect(faultOf(() => begin('c').receive(1))).toMatchObject(REFUSED);
    large.finish();
    begin('c').receive(200);
  });

  it('of answers stay counted after the work is done, until they are taken', () => {
    const { quotas, begin } = createFixture();
    const quota = begin('a', false);
    quota.addResponse(150);
    quota.setResponse(200, false);
    quota.finish();
    expect(quotas.held()).toEqual({ ...NOTHING, responseBytes: 200 });
    expect(faultOf(() => begin('a', false).addResponse(1))).toMatchObject(REFUSED);
    quota.release();
    expect(quotas.held().responseBytes).toBe(0);
  });

  it('of an answer that must be sent exceed the limit', () => {
    const { quotas, begin } = createFixture();
    begin('a', false).addResponse(200);
    begin('b', false).addResponse(600);
    begin('a', false).setResponse(50, true);
    expect(quotas.held().responseBytes).toBe(850);
  });

  it('of answers count for the credential too, from any address', () => {
    const { begin } = createFixture();
    const [first, second] = ['a', 'b'].map((address) => begin(address, false));
    first?.identify('key');
    second?.identify('key');
    first?.addResponse(200);
    expect(faultOf(() => second?.addResponse(1))).toMatchObject(REFUSED);
  });
});
