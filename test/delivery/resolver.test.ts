import { describe, expect, it } from 'vitest';
import { createResolver, type NameServer } from '../../src/delivery/resolver.ts';

type Fixture = {
  nowMs: number;
  hosts: string;
  ipv4: NameServer['ipv4'];
  ipv6: NameServer['ipv6'];
  /** The names that were asked for, in both families together. */
  readonly queried: string[];
};

const none = () => Promise.reject(new Error('ENODATA'));

function createFixture(changes: Partial<Fixture> = {}) {
  const fixture: Fixture = { nowMs: 0, hosts: '', ipv4: none, ipv6: none, queried: [], ...changes };
  const { resolve } = createResolver({
    nowMs: () => fixture.nowMs,
    readHosts: async () => fixture.hosts,
    nameServer: {
      ipv4(host) {
        fixture.queried.push(host);
        return fixture.ipv4(host);
      },
      ipv6: (host) => fixture.ipv6(host),
    },
  });
  return { fixture, resolve };
}

describe('resolving a host', () => {
  it('answers all its addresses, IPv4 first', async () => {
    const { resolve } = createFixture({ ipv4: async () => ['1.1.1.1', '1.1.1.2'], ipv6: async () => ['2606::1'] });
    expect(await resolve('a.example', 1_000)).toEqual(['1.1.1.1', '1.1.1.2', '2606::1']);
  });

  it('is content with one family, and fails without any', async () => {
    const { fixture, resolve } = createFixture({ ipv6: async () => ['2606::1'] });
    expect(await resolve('a.example', 1_000)).toEqual(['2606::1']);
    fixture.ipv6 = none;
    await expect(resolve('b.example', 1_000)).rejects.toThrow('no address');
    fixture.ipv4 = async () => [];
    await expect(resolve('b.example', 1_000)).rejects.toThrow('no address');
  });

  it('keeps an answer for 30 seconds, and no failure', async () => {
    const { fixture, resolve } = createFixture({ ipv4: async () => ['1.1.1.1'] });
    await resolve('a.example', 1_000);
    fixture.ipv4 = async () => ['2.2.2.2'];
    fixture.nowMs = 29_999;
    expect(await resolve('a.example', 1_000)).toEqual(['1.1.1.1']);
    fixture.nowMs = 30_000;
    expect(await resolve('a.example', 1_000)).toEqual(['2.2.2.2']);
    fixture.nowMs = 60_000;
    fixture.ipv4 = none;
    await expect(resolve('a.example', 1_000)).rejects.toThrow();
    fixture.ipv4 = async () => ['3.3.3.3'];
    expect(await resolve('a.example', 1_000)).toEqual(['3.3.3.3']);
  });

  it('queries once for all concurrent lookups of a name', async () => {
    const { fixture, resolve } = createFixture({ ipv4: async () => ['1.1.1.1'] });
    await Promise.all(Array.from({ length: 50 }, () => resolve('a.example', 1_000)));
    expect(fixture.queried).toEqual(['a.example']);
  });

  it('gives up in time, and uses the late answer for the next read', async () => {
    let answer = (_addresses: string[]) => {};
    const { resolve } = createFixture({
      ipv4: () =>
        new Promise((settle) => {
          answer = settle;
        }),
    });
    await expect(resolve('a.example', 20)).rejects.toThrow('in time');
    const next = resolve('a.example', 5_000);
    answer(['1.1.1.1']);
    expect(await next).toEqual(['1.1.1.1']);
  });

  it('keeps a bounded number of answers', async () => {
    const { fixture, resolve } = createFixture({ ipv4: async () => ['1.1.1.1'] });
    for (let index = 0; index <= 10_000; index += 1) await resolve(`${index}.example`, 1_000);
    fixture.queried.length = 0;
    await resolve('10000.example', 1_000);
    await resolve('0.example', 1_000);
    expect(fixture.queried).toEqual(['0.example']);
  });

  it('uses the hosts file of the machine first', async () => {
    const hosts =
      '# 9.9.9.9 a.example\n127.0.0.1\tlocalhost\n::1 Hooks hooks.Internal # 8.8.8.8\n10.0.0.5 hooks.internal\n';
    const { fixture, resolve } = createFixture({ hosts, ipv4: async () => ['1.1.1.1'] });
    expect(await resolve('hooks.internal', 1_000)).toEqual(['10.0.0.5', '::1']);
    expect(await resolve('localhost', 1_000)).toEqual(['127.0.0.1']);
    expect(fixture.queried).toEqual([]);
    expect(await resolve('a.example', 1_000)).toEqual(['1.1.1.1']);
    expect(await resolve('8.8.8.8', 1_000)).toEqual(['1.1.1.1']);
  });

  it('knows localhost without any file', async () => {
    const { resolve } = createResolver({ nowMs: () => 0, readHosts: none, nameServer: { ipv4: none, ipv6: none } });
    expect(await resolve('localhost', 1_000)).toEqual(['127.0.0.1', '::1']);
  });
});
